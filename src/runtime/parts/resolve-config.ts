import {
  type AgentDescription,
  type AgentSpec,
  type AgentTrust,
  type ApprovalPolicy,
  defaultLimits,
  type InputContract,
  type OutputContract,
  type SessionToolSource,
  type SkillCard,
  type Tool,
  type ToolSource,
} from '../../contracts/index.ts'
import { matches } from '../../policy/tool-name-patterns.ts'
import type { QueueLimits } from '../../steps/index.ts'
import { plainJson } from '../../util/json-values.ts'
import type { AgentDefinition, AgentLoopConfig, AgentSelection, ContextText } from '../options/agent-config.ts'
import { candidateNames, selectionOf } from '../selection/select-agent.ts'
import { withFormat } from '../validation/check-agent.ts'
import { isSessionSource, isSource, isTool } from '../validation/check-config.ts'
import { isSkillFolders } from './config-skills.ts'
import { type ServerSources, serverQueues } from './server-sources.ts'

/** A valid configuration with its defaults. */
export interface ResolvedConfig {
  /** Sorted by name. */
  readonly agents: readonly AgentSpec[]
  /** By agent name, for agents that have fewer tools without trust. */
  readonly trust: ReadonlyMap<string, AgentTrust>
  /** By agent name: what is only shown to people. */
  readonly shown: ReadonlyMap<string, Pick<AgentDescription, 'template' | 'examples'>>
  readonly selection: AgentSelection
  /** Agents that can be selected by the request. */
  readonly candidates: readonly AgentSpec[]
  readonly tools: readonly Tool[]
  readonly sources: readonly ToolSource[]
  /** Sources that are opened for each session, and by agent those that it alone has. */
  readonly sessionSources: readonly SessionToolSource[]
  readonly agentSources: ReadonlyMap<string, readonly SessionToolSource[]>
  readonly flags: readonly string[]
  readonly overlay: { readonly [name: string]: string }
  /** Models without a price that may be used under a cost budget. */
  readonly unpriced: readonly string[]
  readonly childrenOffered?: 'each' | 'directory'
  readonly toolsOffered?: 'each' | 'search'
  readonly approvals: readonly ApprovalPolicy[]
  /** Texts at the beginning of every session. */
  readonly context: readonly ContextText[]
  /** Names of all skills. */
  readonly skills: readonly string[]
  readonly queues?: { readonly [name: string]: QueueLimits }
}

/** The configuration must have been checked. `servers` of an earlier configuration keeps the connections of unchanged servers. */
export function resolveConfig(config: AgentLoopConfig, servers: ServerSources): ResolvedConfig {
  const given = config.tools ?? []
  const queues = { ...serverQueues(config), ...config.queues }
  const agents = config.agents.map((agent) => specOf(agent, config)).toSorted((a, b) => (a.name < b.name ? -1 : 1))
  const names = candidateNames(config.agents)
  return {
    agents,
    trust: new Map(config.agents.flatMap(({ name, trust }) => (trust ? [[name, structuredClone(trust)]] : []))),
    shown: new Map(
      config.agents.map(({ name, template, examples }) => [
        name,
        { ...(examples && { examples: [...examples] }), ...(template !== undefined && { template }) },
      ]),
    ),
    selection: selectionOf(config),
    candidates: agents.filter(({ name }) => names.has(name)),
    tools: given.filter(isTool),
    sources: given.filter(isSource),
    sessionSources: [...given.filter(isSessionSource), ...servers.all(config.mcpServers)],
    agentSources: new Map(config.agents.flatMap(({ name, mcpServers }) => (mcpServers ? [[name, servers.all(mcpServers)]] : []))),
    flags: Object.entries(config.features ?? {})
      .flatMap(([flag, on]) => (on ? [flag] : []))
      .toSorted(),
    overlay: Object.freeze({ ...config.overlay }),
    unpriced: config.unpriced ?? [],
    approvals: policiesOf(config.approvals),
    context: structuredClone(config.context ?? []),
    skills: listedSkills(config).map(({ name }) => name),
    ...(config.childrenOffered !== undefined && { childrenOffered: config.childrenOffered }),
    ...(config.toolsOffered !== undefined && { toolsOffered: config.toolsOffered }),
    ...(Object.keys(queues).length > 0 && { queues: structuredClone(queues) }),
  }
}

/** None while folders have not been searched. */
const listedSkills = ({ skills = [] }: AgentLoopConfig): readonly SkillCard[] => (isSkillFolders(skills) ? [] : skills)

/** A copy, so that later changes by the caller have no effect. */
function policiesOf(approvals: AgentLoopConfig['approvals'] = []): readonly ApprovalPolicy[] {
  return structuredClone('rules' in approvals ? [approvals] : approvals)
}

/** An agent with all defaults, as a copy that the caller cannot change later. */
function specOf(agent: AgentDefinition, config: AgentLoopConfig): AgentSpec {
  const { limits } = config
  const { skills: wanted = ['*'], disabledSkills = [] } = agent
  const fits = (patterns: readonly string[], name: string): boolean => patterns.some((pattern) => matches(pattern, name))
  const usable = listedSkills(config).filter(({ name }) => fits(wanted, name) && !fits(disabledSkills, name))
  return {
    name: agent.name,
    ...(agent.displayName !== undefined && { displayName: agent.displayName }),
    description: agent.description,
    prompt: agent.prompt,
    models: agent.models ?? (agent.model === undefined ? [] : [agent.model]),
    tools: agent.tools ?? ['*'],
    limits: { ...defaultLimits, ...limits, ...agent.limits },
    ...((agent.limits?.toolTimeout ?? limits?.toolTimeout) !== undefined && { saysToolTimeout: true }),
    parameters: { ...agent.parameters, ...(agent.reasoningEffort !== undefined && { reasoning: agent.reasoningEffort }) },
    ...(agent.overrides && agent.overrides.length > 0 && { overrides: [...new Set(agent.overrides)] }),
    output: outputOf(agent.output),
    ...(agent.usage !== undefined && { usage: agent.usage }),
    toolName: agent.toolName ?? agent.name,
    input: inputOf(agent.input),
    agents: agent.agents ?? [],
    ...(agent.childControl === true && { childControl: true }),
    ...(agent.clientTools !== undefined && { clientTools: structuredClone(agent.clientTools) }),
    ...(agent.keepSessions === true && { keepSessions: true }),
    ...(usable.length > 0 && { skills: structuredClone(usable).toSorted((a, b) => (a.name < b.name ? -1 : 1)) }),
    ...(agent.approvals && agent.approvals.length > 0 && { approvals: structuredClone(agent.approvals) }),
    ...(agent.sandbox && { sandbox: structuredClone(agent.sandbox) }),
  }
}

/** Copies the schema: it becomes part of the journal. */
function outputOf(given: AgentDefinition['output'] = { format: 'markdown' }): OutputContract {
  const output = withFormat(given)
  return output.format === 'json' && output.schema ? { format: 'json', schema: plainJson(output.schema) ?? {} } : output
}

function inputOf(given: AgentDefinition['input'] = { format: 'text' }): InputContract {
  const input = withFormat(given)
  return input.format === 'json' ? { format: 'json', schema: plainJson(input.schema) ?? {} } : input
}
