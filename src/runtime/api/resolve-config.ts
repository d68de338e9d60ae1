import type { AgentSpec, AgentTrust, ApprovalPolicy, Problem, Tool, ToolSource } from '../../contracts/index.ts'
import type { QueueLimits } from '../../steps/index.ts'
import { checkKeys, configError, expectList, expectObject, isListOfTexts, isRecord, show } from '../../util/option-problems.ts'
import { candidateNames } from '../selection/candidate-agents.ts'
import { checkSelection, selectionOf } from '../selection/check-selection.ts'
import type { AgentSelection } from '../selection/select-agent.ts'
import { checkAgent } from '../validation/check-agent.ts'
import { checkAllowlist } from '../validation/check-allowlist.ts'
import { checkChildren } from '../validation/check-children.ts'
import { checkLimits } from '../validation/check-limits.ts'
import { checkPolicies } from '../validation/check-policies.ts'
import { checkQueues } from '../validation/check-queues.ts'
import { checkTools } from '../validation/check-tools.ts'
import type { AgentDefinition, AgentLoopConfig, ContextText } from './agent-config.ts'
import { specOf } from './agent-spec.ts'

/** A configuration that was found to be right. */
export interface ResolvedConfig {
  /** Sorted by name. */
  readonly agents: readonly AgentSpec[]
  /** By the names of agents, where something depends on it. */
  readonly trust: ReadonlyMap<string, AgentTrust>
  readonly selection: AgentSelection
  /** Those that may be chosen by what is asked. */
  readonly candidates: readonly AgentSpec[]
  readonly tools: readonly Tool[]
  readonly sources: readonly ToolSource[]
  readonly flags: readonly string[]
  readonly overlay: { readonly [name: string]: string }
  /** Models without a price that may be asked under a cost budget. */
  readonly unpriced: readonly string[]
  readonly childrenOffered?: 'each' | 'directory'
  readonly approvals: readonly ApprovalPolicy[]
  /** What every session is told at its beginning. */
  readonly context: readonly ContextText[]
  /** Names of the skills that there are. */
  readonly skills: readonly string[]
  /** Absent where there is none. */
  readonly queues?: { readonly [name: string]: QueueLimits }
}

const configKeys = [
  'agents',
  'agentSelection',
  'tools',
  'features',
  'overlay',
  'limits',
  'unpriced',
  'childrenOffered',
  'queues',
  'approvals',
  'skills',
  'context',
] satisfies (keyof AgentLoopConfig)[]

/** @throws TroupeError `config_invalid` with every problem at once. */
export function resolveConfig(config: AgentLoopConfig): ResolvedConfig {
  const problems = configProblems(config)
  if (problems.length > 0) throw configError(problems)
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

/** Everything that is wrong with a configuration, whatever was given for it. */
export function configProblems(config: AgentLoopConfig): readonly Problem[] {
  if (!isRecord(config)) return [{ place: 'config', message: `expected an object with agents, found ${show(config)}` }]
  const problems: Problem[] = []
  checkKeys(problems, config, { known: configKeys, place: 'config' })
  const given = expectList(problems, config.tools, 'config.tools') as readonly (Tool | ToolSource)[]
  const tools = given.filter(isTool)
  problems.push(...checkTools(tools, 'config.tools'))
  if (expectObject(problems, config.limits, 'config.limits')) checkLimits(problems, config.limits, 'config.limits')
  if (expectObject(problems, config.overlay, 'config.overlay')) checkStrings(problems, config.overlay, 'config.overlay')
  if (expectObject(problems, config.features, 'config.features')) {
    for (const [flag, on] of Object.entries(config.features)) {
      if (typeof on !== 'boolean') problems.push({ place: `config.features.${flag}`, message: `expected true or false, found ${show(on)}` })
    }
  }
  if (config.unpriced !== undefined && !isListOfTexts(config.unpriced))
    problems.push({ place: 'config.unpriced', message: `expected a list of names of models, found ${show(config.unpriced)}` })
  if (config.childrenOffered !== undefined && config.childrenOffered !== 'each' && config.childrenOffered !== 'directory')
    problems.push({ place: 'config.childrenOffered', message: `expected each or directory, found ${show(config.childrenOffered)}` })
  if (expectObject(problems, config.queues, 'config.queues')) checkQueues(problems, config.queues)
  problems.push(...checkPolicies(config))
  checkAgents(problems, config, tools.length === given.length ? tools : undefined)
  if (problems.length === 0) problems.push(...checkChildren(config.agents, tools))
  checkSelection(problems, config)
  return problems
}

/** A copy: rules that somebody changes later are not the ones that were checked. */
function policiesOf(approvals: AgentLoopConfig['approvals'] = []): readonly ApprovalPolicy[] {
  return structuredClone('rules' in approvals ? [approvals] : approvals)
}

/** `tools`: absent where some are only known once a source has listed them. */
function checkAgents(problems: Problem[], config: AgentLoopConfig, tools: readonly Tool[] | undefined): void {
  if (!Array.isArray(config.agents) || config.agents.length === 0) {
    const message = `expected at least one agent, found ${show(config.agents)}`
    problems.push({ place: 'config.agents', message, remedy: 'Give name, description, prompt and model.' })
    return
  }
  const names = new Map<unknown, number>()
  for (const [index, agent] of (config.agents as readonly AgentDefinition[]).entries()) {
    const place = `config.agents[${index}]`
    if (!isRecord(agent)) {
      problems.push({ place, message: `expected an object with name, description, prompt and model, found ${show(agent)}` })
      continue
    }
    checkAgent(problems, agent, place)
    const other = names.get(agent.name)
    if (other !== undefined)
      problems.push({
        place: `${place}.name`,
        message: `${show(agent.name)} is already the name of config.agents[${other}]`,
        remedy: 'Agent names are unique.',
      })
    names.set(agent.name, index)
    if (tools && isListOfTexts(agent.tools)) problems.push(...checkAllowlist(agent, tools, place))
  }
}

function checkStrings(problems: Problem[], map: object, place: string): void {
  for (const [key, value] of Object.entries(map)) {
    if (typeof value !== 'string') problems.push({ place: `${place}.${key}`, message: `expected a text, found ${show(value)}` })
  }
}

const isTool = (value: Tool | ToolSource): value is Tool => !isSource(value)
const isSource = (value: Tool | ToolSource): value is ToolSource =>
  typeof value === 'object' && value !== null && 'list' in value && typeof value.list === 'function'
