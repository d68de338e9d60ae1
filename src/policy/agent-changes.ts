import { type AgentChanges, type AgentSpec, defaultLimits } from '../contracts/index.ts'

/** What a caller has changed in a session, with further changes. A limit that is set replaces one that was lowered. */
export const addChanges = (before: AgentChanges = {}, added: AgentChanges): AgentChanges => ({
  ...before,
  ...added,
  ...(added.limits && { limits: { ...before.limits, ...added.limits } }),
  ...((before.lowered || added.lowered) && { lowered: { ...without(before.lowered ?? {}, added.limits ?? {}), ...added.lowered } }),
  ...(added.parameters && { parameters: { ...before.parameters, ...added.parameters } }),
})

const without = (from: object, keys: object): object =>
  Object.fromEntries(Object.entries(from).filter(([key]) => !Object.hasOwn(keys, key)))

/** Journals of earlier versions lack the limits that were added later. */
export const withAllLimits = (agent: AgentSpec): AgentSpec =>
  agent.limits.replyTimeout === undefined ? { ...agent, limits: { ...defaultLimits, ...agent.limits } } : agent
