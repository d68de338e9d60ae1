import type { AgentSpec, AgentTrust, ApprovalPolicy, Tool, ToolSource } from '../../contracts/index.ts'
import type { QueueLimits } from '../../steps/index.ts'
import type { AgentSelection } from '../selection/select-agent.ts'
import { candidateNames, selectionOf } from '../selection/select-agent.ts'
import { isSource, isTool } from '../validation/check-config.ts'
import type { AgentLoopConfig, ContextText } from './agent-config.ts'
import { specOf } from './agent-spec.ts'

/** A valid configuration with its defaults. */
export interface ResolvedConfig {
  /** Sorted by name. */
  readonly agents: readonly AgentSpec[]
  /** By agent name, for agents that have fewer tools without trust. */
  readonly trust: ReadonlyMap<string, AgentTrust>
  readonly selection: AgentSelection
  /** Agents that can be selected by the request. */
  readonly candidates: readonly AgentSpec[]
  readonly tools: readonly Tool[]
  readonly sources: readonly ToolSource[]
  readonly flags: readonly string[]
  readonly overlay: { readonly [name: string]: string }
  /** Models without a price that may be used under a cost budget. */
  readonly unpriced: readonly string[]
  readonly childrenOffered?: 'each' | 'directory'
  readonly approvals: readonly ApprovalPolicy[]
  /** Texts at the beginning of every session. */
  readonly context: readonly ContextText[]
  /** Names of all skills. */
  readonly skills: readonly string[]
  readonly queues?: { readonly [name: string]: QueueLimits }
}

/** The configuration must have been checked. */
export function resolveConfig(config: AgentLoopConfig): ResolvedConfig {
  const given = config.tools ?? []
  const agents = config.agents.map((agent) => specOf(agent, config)).toSorted((a, b) => (a.name < b.name ? -1 : 1))
  const names = candidateNames(config.agents)
  return {
    agents,
    trust: new Map(config.agents.flatMap(({ name, trust }) => (trust ? [[name, structuredClone(trust)]] : []))),
    selection: selectionOf(config),
    candidates: agents.filter(({ name }) => names.has(name)),
    tools: given.filter(isTool),
    sources: given.filter(isSource),
    flags: Object.entries(config.features ?? {})
      .flatMap(([flag, on]) => (on ? [flag] : []))
      .toSorted(),
    overlay: Object.freeze({ ...config.overlay }),
    unpriced: config.unpriced ?? [],
    approvals: policiesOf(config.approvals),
    context: structuredClone(config.context ?? []),
    skills: (config.skills ?? []).map(({ name }) => name),
    ...(config.childrenOffered !== undefined && { childrenOffered: config.childrenOffered }),
    ...(Object.keys(config.queues ?? {}).length > 0 && { queues: structuredClone(config.queues) }),
  }
}

/** A copy, so that later changes by the caller have no effect. */
function policiesOf(approvals: AgentLoopConfig['approvals'] = []): readonly ApprovalPolicy[] {
  return structuredClone('rules' in approvals ? [approvals] : approvals)
}
