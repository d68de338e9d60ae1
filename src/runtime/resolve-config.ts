import type {
  AgentLimits,
  AgentSpec,
  ApprovalPolicy,
  InputContract,
  ModelParameters,
  OutputContract,
  Problem,
  Tool,
  ToolSource,
} from '../contracts/index.ts'
import { defaultLimits, reasoningEfforts, TroupeError } from '../contracts/index.ts'
import { matches, offeredName, type QueueLimits } from '../steps/index.ts'
import { checkSchema } from '../util/check-schema.ts'
import { plainJson } from '../util/copy-json.ts'
import { nearestNames } from '../util/nearest-names.ts'
import { checkChildren } from './check-children.ts'
import { checkPolicies } from './check-policies.ts'
import { checkTools } from './check-tools.ts'
import type { AgentDefinition, AgentLoopConfig, ContextText } from './config.ts'
import { checkKeys, invalid, isMap, isRecord, listOf, show } from './config-problems.ts'
import type { AgentSelection } from './select-agent.ts'

/** A configuration that was found to be right. */
export interface ResolvedConfig {
  /** Sorted by name. */
  readonly agents: readonly AgentSpec[]
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
const agentKeys = [
  'name',
  'displayName',
  'description',
  'prompt',
  'model',
  'models',
  'tools',
  'limits',
  'parameters',
  'output',
  'usage',
  'toolName',
  'input',
  'agents',
  'infer',
  'skills',
  'approvals',
  'sandbox',
] satisfies (keyof AgentDefinition)[]
const limitKeys: { readonly [Key in keyof AgentLimits]-?: 'count' | 'positive' | 'money' } = {
  maxToolTurns: 'positive',
  maxTokens: 'positive',
  maxSessionTokens: 'positive',
  maxCalls: 'count',
  timeBudget: 'positive',
  llmTimeout: 'positive',
  idleTimeout: 'positive',
  toolTimeout: 'positive',
  maxRetries: 'count',
  parallelToolCalls: 'positive',
  maxOutputBytes: 'positive',
  maxCostUsd: 'money',
  maxDepth: 'count',
  maxChildren: 'count',
  parallelChildren: 'positive',
}
const queueKeys = ['concurrent', 'perMinute'] satisfies (keyof QueueLimits)[]
/** Below this, head, tail and the way to the rest do not fit. */
const leastOutputBytes = 512

/** @throws TroupeError `config_invalid` with every problem at once. */
export function resolveConfig(config: AgentLoopConfig): ResolvedConfig {
  const problems: Problem[] = []
  if (!isRecord(config)) throw invalid([{ place: 'config', message: 'expected an object with agents' }])
  checkKeys(problems, config, { known: configKeys, place: 'config' })
  const given = listOf(problems, config.tools, 'config.tools') as readonly (Tool | ToolSource)[]
  const tools = given.filter((each): each is Tool => !isSource(each))
  problems.push(...checkTools(tools, 'config.tools'))
  if (isMap(problems, config.limits, 'config.limits')) checkLimits(problems, config.limits, 'config.limits')
  if (isMap(problems, config.overlay, 'config.overlay')) checkStrings(problems, config.overlay, 'config.overlay')
  if (isMap(problems, config.features, 'config.features')) {
    for (const [flag, on] of Object.entries(config.features)) {
      if (typeof on !== 'boolean') problems.push({ place: `config.features.${flag}`, message: `expected true or false, found ${show(on)}` })
    }
  }
  if (config.unpriced !== undefined && (!Array.isArray(config.unpriced) || config.unpriced.some((name) => typeof name !== 'string')))
    problems.push({ place: 'config.unpriced', message: `expected a list of names of models, found ${show(config.unpriced)}` })
  if (config.childrenOffered !== undefined && config.childrenOffered !== 'each' && config.childrenOffered !== 'directory')
    problems.push({ place: 'config.childrenOffered', message: `expected each or directory, found ${show(config.childrenOffered)}` })
  if (isMap(problems, config.queues, 'config.queues')) checkQueues(problems, config.queues)
  problems.push(...checkPolicies(config))
  const sources = given.filter(isSource)
  const agents = resolveAgents(problems, config, sources.length > 0 ? undefined : tools)
  if (problems.length === 0) problems.push(...checkChildren(config.agents, tools))
  const selection = select(problems, config, agents)
  if (problems.length > 0) throw invalid(problems)
  return {
    agents,
    selection,
    candidates: agents.filter(({ name }) => config.agents.find((agent) => agent.name === name)?.infer !== false),
    tools,
    sources,
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

/** A copy: rules that somebody changes later are not the ones that were checked. */
function policiesOf(approvals: AgentLoopConfig['approvals'] = []): readonly ApprovalPolicy[] {
  return structuredClone('rules' in approvals ? [approvals] : approvals)
}

/** Which tools an allowlist names that are not there. */
export function checkAllowlist(agent: Pick<AgentSpec, 'tools'>, tools: readonly Tool[], place: string): readonly Problem[] {
  const names = tools.map((tool) => tool.name)
  return agent.tools.flatMap((pattern, index) => {
    if (pattern === '*' || names.some((name) => matches(pattern, name) || matches(pattern, offeredName(name)))) return []
    const near = nearestNames(pattern, names)
    const remedy =
      near.length > 0
        ? `Did you mean "${near[0]}"?`
        : names.length > 0
          ? `There are: ${names.toSorted().join(', ')}.`
          : 'There are no tools.'
    return [{ place: `${place}.tools[${index}]`, message: `no tool matches "${pattern}"`, remedy }]
  })
}

/** @throws TroupeError `agent_unknown` that lists what there is. */
export function findAgent(agents: readonly AgentSpec[], name: string): AgentSpec {
  const agent = agents.find((each) => each.name === name)
  if (agent) return agent
  const names = agents.map((each) => each.name)
  const [near] = nearestNames(name, names)
  throw new TroupeError('agent_unknown', `There is no agent "${name}".`, {
    remedy: near ? `Did you mean "${near}"? There are: ${names.join(', ')}.` : `There are: ${names.join(', ')}.`,
  })
}

function resolveAgents(problems: Problem[], config: AgentLoopConfig, tools: readonly Tool[] | undefined): readonly AgentSpec[] {
  if (!Array.isArray(config.agents) || config.agents.length === 0) {
    problems.push({ place: 'config.agents', message: 'expected at least one agent', remedy: 'Give name, description, prompt and model.' })
    return []
  }
  const names = new Map<string, number>()
  const specs = config.agents.flatMap((agent: AgentDefinition, index) => {
    const place = `config.agents[${index}]`
    if (!isRecord(agent)) {
      problems.push({ place, message: 'expected an object with name, description, prompt and model' })
      return []
    }
    checkAgent(problems, agent, place)
    const other = names.get(agent.name)
    if (other !== undefined)
      problems.push({
        place: `${place}.name`,
        message: `"${agent.name}" is already the name of config.agents[${other}]`,
        remedy: 'Agent names are unique.',
      })
    names.set(agent.name, index)
    const spec = specOf(agent, config)
    if (tools && Array.isArray(agent.tools)) problems.push(...checkAllowlist(spec, tools, place))
    return [spec]
  })
  return specs.toSorted((a, b) => (a.name < b.name ? -1 : 1))
}

function specOf(agent: AgentDefinition, { limits, skills = [] }: AgentLoopConfig): AgentSpec {
  const usable = skills.filter(({ name }) => agent.skills?.includes(name) ?? true)
  return {
    name: agent.name,
    ...(agent.displayName !== undefined && { displayName: agent.displayName }),
    description: agent.description,
    prompt: agent.prompt,
    models: agent.models ?? (agent.model === undefined ? [] : [agent.model]),
    tools: agent.tools ?? ['*'],
    limits: { ...defaultLimits, ...limits, ...agent.limits },
    parameters: agent.parameters ?? {},
    output: outputOf(agent.output),
    ...(agent.usage !== undefined && { usage: agent.usage }),
    toolName: agent.toolName ?? agent.name,
    input: inputOf(agent.input),
    agents: agent.agents ?? [],
    ...(usable.length > 0 && { skills: structuredClone(usable).toSorted((a, b) => (a.name < b.name ? -1 : 1)) }),
    ...(agent.approvals && agent.approvals.length > 0 && { approvals: structuredClone(agent.approvals) }),
    ...(agent.sandbox && { sandbox: structuredClone(agent.sandbox) }),
  }
}

/** The schema becomes part of the journal: what its owner does to it later is not meant. */
function outputOf(output: OutputContract = { format: 'text' }): OutputContract {
  return output.format === 'json' && output.schema ? { format: 'json', schema: plainJson(output.schema) ?? {} } : output
}

function inputOf(input: InputContract = { format: 'text' }): InputContract {
  return input.format === 'json' ? { format: 'json', schema: plainJson(input.schema) ?? {} } : input
}

function checkAgent(problems: Problem[], agent: AgentDefinition, place: string): void {
  checkKeys(problems, agent, { known: agentKeys, place })
  for (const key of ['name', 'description', 'prompt'] as const) {
    if (typeof agent[key] !== 'string' || agent[key].trim() === '')
      problems.push({ place: `${place}.${key}`, message: `expected a text, found ${show(agent[key])}` })
  }
  const { model, models } = agent
  if (model !== undefined && models !== undefined)
    problems.push({ place: `${place}.model`, message: 'expected either model or models, found both' })
  const names: readonly unknown[] = Array.isArray(models) ? models : [model]
  if (
    (models !== undefined && !Array.isArray(models)) ||
    names.length === 0 ||
    names.some((name) => typeof name !== 'string' || name === '')
  ) {
    problems.push({
      place: `${place}.model`,
      message: `expected a model name, found ${show(models ?? model)}`,
      remedy: 'Give model: "provider/name", or models: a list in the order of trying.',
    })
  }
  if (agent.tools !== undefined && (!Array.isArray(agent.tools) || agent.tools.some((name) => typeof name !== 'string'))) {
    problems.push({ place: `${place}.tools`, message: `expected a list of tool names, found ${show(agent.tools)}` })
  }
  if (isMap(problems, agent.limits, `${place}.limits`)) checkLimits(problems, agent.limits, `${place}.limits`)
  if (isMap(problems, agent.parameters, `${place}.parameters`)) checkParameters(problems, agent.parameters, `${place}.parameters`)
  if (isMap(problems, agent.output, `${place}.output`)) checkOutputContract(problems, agent.output, `${place}.output`)
  if (isMap(problems, agent.input, `${place}.input`)) checkInputContract(problems, agent.input, `${place}.input`)
  if (agent.infer !== undefined && typeof agent.infer !== 'boolean')
    problems.push({ place: `${place}.infer`, message: `expected true or false, found ${show(agent.infer)}` })
  for (const key of ['usage', 'toolName'] as const) {
    if (agent[key] !== undefined && typeof agent[key] !== 'string')
      problems.push({ place: `${place}.${key}`, message: `expected a text, found ${show(agent[key])}` })
  }
}

const parameterKinds: { readonly [Key in keyof ModelParameters]-?: { readonly expected: string; fits(value: unknown): boolean } } = {
  temperature: { expected: 'a number of at least 0', fits: (value) => isNumber(value) && value >= 0 },
  topP: { expected: 'a number between 0 and 1', fits: (value) => isNumber(value) && value >= 0 && value <= 1 },
  maxOutputTokens: { expected: 'a whole number of at least 1', fits: (value) => Number.isInteger(value) && (value as number) >= 1 },
  seed: { expected: 'a whole number', fits: (value) => Number.isInteger(value) },
  reasoning: {
    expected: `one of ${reasoningEfforts.join(', ')}`,
    fits: (value) => (reasoningEfforts as readonly unknown[]).includes(value),
  },
  cache: { expected: 'true or false', fits: (value) => typeof value === 'boolean' },
}

function checkParameters(problems: Problem[], parameters: ModelParameters, place: string): void {
  checkKeys(problems, parameters, { known: Object.keys(parameterKinds), place })
  for (const [key, value] of Object.entries(parameters)) {
    const kind = parameterKinds[key as keyof ModelParameters]
    if (kind && value !== undefined && !kind.fits(value))
      problems.push({ place: `${place}.${key}`, message: `expected ${kind.expected}, found ${show(value)}` })
  }
}

function checkOutputContract(problems: Problem[], output: OutputContract, place: string): void {
  const formats = ['text', 'markdown', 'json']
  checkKeys(problems, output, { known: ['format', 'schema'], place })
  if (!formats.includes(output.format))
    problems.push({ place: `${place}.format`, message: `expected one of ${formats.join(', ')}, found ${show(output.format)}` })
  if (!('schema' in output) || output.schema === undefined) return
  if (output.format === 'json') problems.push(...checkSchema(output.schema, `${place}.schema`, 'any'))
  else problems.push({ place: `${place}.schema`, message: 'a schema goes with the format json', remedy: 'Say `format: json`.' })
}

function checkInputContract(problems: Problem[], input: InputContract, place: string): void {
  checkKeys(problems, input, { known: ['format', 'schema'], place })
  if (input.format === 'json') problems.push(...checkSchema(input.schema, `${place}.schema`))
  else if (input.format !== 'text')
    problems.push({ place: `${place}.format`, message: `expected text or json, found ${show((input as { format: unknown }).format)}` })
  else if ('schema' in input) problems.push({ place: `${place}.schema`, message: 'a schema goes with the format json' })
}

function checkLimits(problems: Problem[], limits: Partial<AgentLimits>, place: string): void {
  checkKeys(problems, limits, { known: Object.keys(limitKeys), place })
  for (const [key, value] of Object.entries(limits)) {
    if (limitKeys[key as keyof AgentLimits] === 'money') {
      if (!isNumber(value) || value < 0)
        problems.push({ place: `${place}.${key}`, message: `expected an amount of at least 0, found ${show(value)}` })
      continue
    }
    const least = key === 'maxOutputBytes' ? leastOutputBytes : limitKeys[key as keyof AgentLimits] === 'count' ? 0 : 1
    if (!Number.isInteger(value) || (value as number) < least)
      problems.push({ place: `${place}.${key}`, message: `expected a whole number of at least ${least}, found ${show(value)}` })
  }
}

function checkQueues(problems: Problem[], queues: { readonly [name: string]: QueueLimits }): void {
  for (const [name, limits] of Object.entries(queues)) {
    const place = `config.queues.${name}`
    if (name.trim() === '') problems.push({ place, message: 'expected the name of a provider, a tool or a namespace' })
    if (!isMap(problems, limits ?? null, place)) continue
    checkKeys(problems, limits, { known: queueKeys, place })
    for (const key of queueKeys) {
      const value: unknown = limits[key]
      if (value !== undefined && (!Number.isSafeInteger(value) || (value as number) < 1))
        problems.push({ place: `${place}.${key}`, message: `expected a whole number of at least 1, found ${show(value)}` })
    }
    if (Object.keys(limits).length === 0)
      problems.push({ place, message: 'a queue without limits caps nothing', remedy: `Give ${queueKeys.join(' or ')}, or leave it out.` })
  }
}

function checkStrings(problems: Problem[], map: object, place: string): void {
  for (const [key, value] of Object.entries(map)) {
    if (typeof value !== 'string') problems.push({ place: `${place}.${key}`, message: `expected a text, found ${show(value)}` })
  }
}

/** Without a wish the only agent speaks; of several, the one that fits the request best. */
function select(problems: Problem[], config: AgentLoopConfig, agents: readonly AgentSpec[]): AgentSelection {
  const names = agents.map((agent) => String(agent.name))
  const wish: AgentSelection = config.agentSelection ?? (agents.length > 1 ? { infer: 'match' } : { agent: names[0] ?? '' })
  const place = 'config.agentSelection'
  if (!isMap(problems, wish, place)) return wish
  checkKeys(problems, wish, { known: ['agent', 'infer'], place })
  if ('infer' in wish) {
    if (wish.infer !== 'match' && wish.infer !== 'model')
      problems.push({ place: `${place}.infer`, message: `expected match or model, found ${show(wish.infer)}` })
    if (config.agents.every(({ infer }) => infer === false))
      problems.push({
        place,
        message: 'no agent may be chosen: all of them say `infer: false`',
        remedy: `Name one. There are: ${names.join(', ')}.`,
      })
    return wish
  }
  if (names.includes(wish.agent)) return wish
  const [near] = nearestNames(String(wish.agent), names)
  problems.push({
    place: `${place}.agent`,
    message: `there is no agent ${show(wish.agent)}`,
    remedy: near ? `Did you mean "${near}"?` : `There are: ${names.join(', ')}.`,
  })
  return wish
}

const isSource = (value: Tool | ToolSource): value is ToolSource =>
  typeof value === 'object' && value !== null && 'list' in value && typeof value.list === 'function'
const isNumber = (value: unknown): value is number => typeof value === 'number' && Number.isFinite(value)
