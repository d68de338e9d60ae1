import type { Problem, SessionToolSource, Tool, ToolSource } from '../../contracts/index.ts'
import { checkShape } from '../../policy/check-shape.ts'
import { queuesShape } from '../../policy/queue-shape.ts'
import { isRecord } from '../../util/is-record.ts'
import {
  aBoolean,
  aString,
  checkField,
  checkKeys,
  expectList,
  expectObject,
  type FieldType,
  isListOfStrings,
  oneOf,
  optional,
  stringList,
} from '../../util/option-problems.ts'
import { showValue } from '../../util/show-value.ts'
import type { AgentDefinition, AgentLoopConfig } from '../options/agent-config.ts'
import { checkAgent, checkAllowlist } from './check-agent.ts'
import { checkChildren } from './check-children.ts'
import { checkLimits } from './check-limits.ts'
import { checkPolicies } from './check-policies.ts'
import { checkSelection } from './check-selection.ts'
import { checkServers } from './check-servers.ts'
import { checkTools } from './check-tools.ts'

const configKeys = [
  'agents',
  'agentSelection',
  'tools',
  'mcpServers',
  'extensions',
  'features',
  'overlay',
  'limits',
  'unpriced',
  'childrenOffered',
  'toolsOffered',
  'queues',
  'approvals',
  'skills',
  'context',
] satisfies (keyof AgentLoopConfig)[]

/** Everything that is wrong with a configuration. Accepts any value. */
export function configProblems(config: AgentLoopConfig): readonly Problem[] {
  if (!isRecord(config)) return [{ place: 'config', message: `expected an object with agents, found ${showValue(config)}` }]
  const problems: Problem[] = []
  const { limits, overlay, features, extensions, unpriced, childrenOffered, toolsOffered, queues } = config
  checkKeys(problems, config, { known: configKeys, place: 'config' })
  const given = expectList(problems, config.tools, 'config.tools') as readonly ConfiguredTool[]
  const tools = given.filter(isTool)
  problems.push(...checkTools(tools, 'config.tools'))
  checkSources(problems, given)
  checkServers(problems, config.mcpServers, { place: 'config.mcpServers', taken: given.filter(isSessionSource).map(({ name }) => name) })
  if (expectObject(problems, limits, 'config.limits')) checkLimits(problems, limits, 'config.limits')
  if (expectObject(problems, overlay, 'config.overlay')) checkValues(problems, overlay, { type: aString, place: 'config.overlay' })
  if (expectObject(problems, features, 'config.features')) checkValues(problems, features, { type: aBoolean, place: 'config.features' })
  checkField(problems, extensions, { type: optional(stringList('a list of ids')), place: 'config.extensions' })
  checkField(problems, unpriced, { type: optional(stringList('a list of model names')), place: 'config.unpriced' })
  checkField(problems, childrenOffered, { type: optional(oneOf(['each', 'directory'])), place: 'config.childrenOffered' })
  checkField(problems, toolsOffered, { type: optional(oneOf(['each', 'search'])), place: 'config.toolsOffered' })
  if (queues !== undefined) checkShape(problems, queues, { shape: queuesShape, place: 'config.queues' })
  problems.push(...checkPolicies(config))
  checkAgents(problems, config, given)
  if (problems.length === 0) problems.push(...checkChildren(config.agents, tools))
  checkSelection(problems, config)
  return problems
}

function checkAgents(problems: Problem[], config: AgentLoopConfig, given: readonly ConfiguredTool[]): void {
  // Some tools may only be known once a source has listed them.
  const tools = given.some(isSource) ? undefined : given.filter(isTool)
  const shared = [...given.filter(isSessionSource).map(({ name }) => name), ...namesIn(config.mcpServers)]
  if (!Array.isArray(config.agents) || config.agents.length === 0) {
    const message = `expected at least one agent, found ${showValue(config.agents)}`
    problems.push({ place: 'config.agents', message, remedy: 'Set name, description, prompt and model.' })
    return
  }
  const names = new Map<unknown, number>()
  for (const [index, agent] of (config.agents as readonly AgentDefinition[]).entries()) {
    const place = `config.agents[${index}]`
    if (!isRecord(agent)) {
      problems.push({ place, message: `expected an object with name, description, prompt and model, found ${showValue(agent)}` })
      continue
    }
    checkAgent(problems, agent, place)
    const other = names.get(agent.name)
    if (other !== undefined) {
      const message = `${showValue(agent.name)} is already the name of config.agents[${other}]`
      problems.push({ place: `${place}.name`, message, remedy: 'Agent names are unique.' })
    }
    names.set(agent.name, index)
    checkServers(problems, agent.mcpServers, { place: `${place}.mcpServers` })
    const sources = [...shared, ...namesIn(agent.mcpServers)]
    if (tools && isListOfStrings(agent.tools)) problems.push(...checkAllowlist(agent, tools, { place, sources }))
  }
}

const namesIn = (servers: unknown): readonly string[] => (isRecord(servers) ? Object.keys(servers) : [])

function checkValues(problems: Problem[], map: object, { type, place }: { readonly type: FieldType; readonly place: string }): void {
  for (const [key, value] of Object.entries(map)) checkField(problems, value, { type, place: `${place}.${key}` })
}

export const isTool = (value: ConfiguredTool): value is Tool => !isSource(value) && !isSessionSource(value)
export const isSource = (value: ConfiguredTool): value is ToolSource => hasFunction(value, 'list')
export const isSessionSource = (value: ConfiguredTool): value is SessionToolSource => hasFunction(value, 'open')

type ConfiguredTool = Tool | ToolSource | SessionToolSource

const hasFunction = (value: unknown, name: string): boolean =>
  typeof value === 'object' && value !== null && typeof Reflect.get(value, name) === 'function'

/** Names of sources become prefixes of tool names. */
function checkSources(problems: Problem[], given: readonly ConfiguredTool[]): void {
  const names = new Set<string>()
  for (const [index, source] of given.entries()) {
    if (!isSessionSource(source)) continue
    const place = `config.tools[${index}].name`
    if (!sourceName.test(source.name))
      problems.push({
        place,
        message: `expected a name for the source, found ${showValue(source.name)}`,
        remedy: 'Use letters, digits, "-" and "_", and not "__".',
      })
    else if (names.has(source.name))
      problems.push({ place, message: `"${source.name}" is the name of another source`, remedy: 'Names of sources are unique.' })
    names.add(source.name)
  }
}

const sourceName = /^(?!.*__)[A-Za-z0-9][A-Za-z0-9_-]*$/
