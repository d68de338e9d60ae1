import { type AgentSpec, defaultLimits, type Tool } from '../../contracts/index.ts'

/** The time limit of a call. `by`: who set it. */
export interface CallLimit {
  readonly ms: number
  readonly by: 'agent' | 'tool' | 'budget'
}

/** How long a call has to end after an interrupt of its turn, which ends within two seconds. `child`: one that has started children. */
export const interruptGraceMs = { call: 1_000, child: 1_250 } as const

export const noLimit: CallLimit = { ms: Number.POSITIVE_INFINITY, by: 'tool' }

/** `usable`: what is left of the time budget. */
export function callLimit({ timeoutMs }: Pick<Tool, 'timeoutMs'>, agent: AgentSpec, usable: number): CallLimit {
  const limit = limitOf(timeoutMs, agent)
  return usable < limit.ms ? { ms: usable, by: 'budget' } : limit
}

/** The tool's own timeout, or the agent's `toolTimeout` if it is set and shorter. Children have an infinite one. */
function limitOf(own: number | undefined, agent: AgentSpec): CallLimit {
  if (own === undefined) return { ms: agent.limits.toolTimeout, by: 'agent' }
  const said = Number.isFinite(own) ? configuredTimeout(agent) : undefined
  return said !== undefined && said < own ? { ms: said, by: 'agent' } : { ms: own, by: 'tool' }
}

/** Journals of earlier versions lack `saysToolTimeout`: there, any value but the default was set. */
export function configuredTimeout({ saysToolTimeout, limits: { toolTimeout } }: AgentSpec): number | undefined {
  return saysToolTimeout || toolTimeout !== defaultLimits.toolTimeout ? toolTimeout : undefined
}

export function timeoutRemedy({ ms, by }: CallLimit): string {
  const limit = `${ms / 1000} s`
  return by === 'agent'
    ? `Ask for less in one call: the time limit is ${limit} (limits.toolTimeout).`
    : `Ask for less in one call: the time limit of this tool is ${limit}.`
}
