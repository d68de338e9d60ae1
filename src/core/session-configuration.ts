import { type AgentSpec, defaultLimits, type InteractionEvent } from '../contracts/index.ts'

type Configured = InteractionEvent<'interaction.session.configured'>

/** What a change of a session puts in the place of what held before. */
export const configuredFields = ({ agent, tools, promptChars, prices = {}, windows = {}, maxOutputs = {} }: Configured) => ({
  agent: withAllLimits(agent),
  tools,
  promptChars,
  prices,
  windows,
  maxOutputs,
})

/** Journals of earlier versions lack the limits that were added since. */
export const withAllLimits = (agent: AgentSpec): AgentSpec =>
  agent.limits.replyTimeout === undefined ? { ...agent, limits: { ...defaultLimits, ...agent.limits } } : agent
