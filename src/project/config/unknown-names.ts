import type { ApprovalRule, HookDefinition, Problem } from '../../contracts/index.ts'
import { automaticTools, builtinToolNames } from '../../policy/builtin-tool-names.ts'
import { type KnownTools, patternsOf, rulePatternProblem, type ToolNameProblem, toolNameProblem } from '../../policy/tool-name-problems.ts'
import { didYouMean } from '../../yaml/messages.ts'
import { type Config, type ConfigDiagnostic, isTrustedFile, sectionByLayer, settingsOf } from './config.ts'
import { openApisOf, restToolsOf } from './section-values.ts'
import { type FileOrigin, keysOf, placeOf, type Sourced, sourcedAt } from './sourced.ts'
import { variablesOf } from './variables/overlay.ts'
import type { VariableSources } from './variables/resolve-placeholders.ts'

/** Names in the configuration that do not exist. */
interface UnknownNames {
  /** In trusted files. */
  readonly problems: readonly Problem[]
  readonly diagnostics: readonly ConfigDiagnostic[]
}

/** MCP servers, also those that wait for trust, and OpenAPI documents can offer any tool. */
export const configuredSources = (config: Config): readonly string[] => [
  ...[settingsOf(config, 'mcpServers'), ...(config.withheldServers ?? [])].flatMap(keysOf),
  ...openApiNames(config),
]
export const openApiNames = (config: Config): readonly string[] => openApisOf(config).map(({ name }) => name)
export const restToolNames = (config: Config): readonly string[] => restToolsOf(config).map(({ name }) => name)

interface OtherTools {
  /** Modules with tools were not imported. */
  readonly areIncomplete?: boolean
  /** Ids, whether the extensions run or not. */
  readonly extensions?: readonly string[]
}

/** Tools in rules and hooks. `tools`: besides the built-in ones. */
export function unknownTools(
  config: Config,
  tools: readonly string[],
  { areIncomplete = false, extensions = [] }: OtherTools = {},
): UnknownNames {
  const known: KnownTools = { tools: [...tools, ...restToolNames(config)], sources: configuredSources(config), extensions }
  const named = [...sectionByLayer(config, 'approvals').flatMap(rulesIn), ...sectionByLayer(config, 'hooks').flatMap(filtersIn)]
  const isWaiting = config.pending.some(({ withheld }) => withheld.includes('openapi'))
  const unknown = named.flatMap(({ pattern, what, origin }): readonly UnknownName[] => {
    const problem = what === 'rule' ? rulePatternProblem(pattern, known) : toolNameProblem(pattern, known)
    if (!problem || (problem.kind === 'no source' && isWaiting) || (problem.kind === 'nothing' && areIncomplete)) return []
    const message = `${what === 'rule' ? 'a rule has no effect' : `\`tools\` of the hook "${what.hook}" is wrong`}: ${problem.message}`
    return [{ origin, kind: problem.kind, message, remedy: problem.remedy }]
  })
  return splitBySeverity(config, unknown)
}

/** Disabled skills that do not exist. */
export function unknownSkills(config: Config, skills: readonly string[]): UnknownNames {
  const unknown = sectionByLayer(config, 'skills').flatMap((section) => {
    const disabled = sourcedAt(section, ['disabled'])
    if (disabled?.kind !== 'value') return []
    const { origin, value } = disabled
    return (value as readonly string[]).flatMap((name): readonly UnknownName[] => {
      if (skills.includes(name.trim())) return []
      const message = `\`skills.disabled\` has no effect: there is no skill \`${name}\``
      return [{ origin, kind: 'no source', message, remedy: didYouMean(name, skills) ?? 'Remove it.' }]
    })
  })
  return splitBySeverity(config, unknown)
}

/** Sections of extensions that do not exist. `ids`: of those that do, whether they run or not. */
export function unknownExtensions(config: Config, ids: readonly string[]): UnknownNames {
  const unknown = sectionByLayer(config, 'extensions').flatMap((section) =>
    keysOf(section).flatMap((id): readonly UnknownName[] => {
      const origin = sourcedAt(section, [id])?.origin
      if (!origin || ids.includes(id)) return []
      const message = `\`extensions.${id}\` has no effect: there is no extension \`${id}\``
      return [{ origin, kind: 'no source', message, remedy: didYouMean(id, ids) ?? 'Remove it, or see: troupe extensions list' }]
    }),
  )
  return splitBySeverity(config, unknown)
}

interface UnknownName {
  readonly origin: FileOrigin
  readonly kind: ToolNameProblem['kind']
  readonly message: string
  readonly remedy: string
}

function splitBySeverity(config: Config, unknown: readonly UnknownName[]): UnknownNames {
  const isError = ({ kind, origin }: UnknownName): boolean => isTrustedFile(config, origin.file) && isMistake(kind, origin)
  const toProblem = ({ origin, message, remedy }: UnknownName) => ({ place: placeOf(origin), message, remedy })
  return {
    problems: unknown.filter(isError).map(toProblem),
    diagnostics: unknown
      .filter((each) => !isError(each))
      .map((each) => ({ code: 'config_rule_idle', severity: 'warning', ...toProblem(each) })),
  }
}

/** Settings of the user or the machine may be about servers and skills of another project; agents differ from run to run. */
function isMistake(kind: ToolNameProblem['kind'], { layer }: FileOrigin): boolean {
  return kind === 'no source' ? layer !== 'user' && layer !== 'system' : kind === 'nothing'
}

interface Named {
  readonly pattern: string
  readonly what: 'rule' | { readonly hook: string }
  readonly origin: FileOrigin
}

function rulesIn(section: Sourced): readonly Named[] {
  const rules = sourcedAt(section, ['rules'])
  if (rules?.kind !== 'value') return []
  return (rules.value as readonly ApprovalRule[]).flatMap((rule, index) =>
    patternsOf(rule).map((pattern): Named => ({ pattern, what: 'rule', origin: rules.entries?.[index] ?? rules.origin })),
  )
}

function filtersIn(hooks: Sourced): readonly Named[] {
  if (hooks.kind !== 'value') return []
  return (hooks.value as unknown as readonly HookDefinition[]).flatMap(({ name, tools = [] }, index) =>
    tools.map((pattern): Named => ({ pattern, what: { hook: name }, origin: hooks.entries?.[index] ?? hooks.origin })),
  )
}

/** The queue of all children; each also has a queue by its own tool name. */
const childNamespace = 'agent'
const childPrefix = 'agent__'

/** Queues of no provider, tool or namespace. `providers`: built-in or named by agents. Names that wait for trust are not known. */
export function unusedQueues(sources: VariableSources, providers: readonly string[]): readonly ConfigDiagnostic[] {
  const { config } = sources
  const queues = settingsOf(config, 'queues')
  const isWaiting = config.pending.some(({ withheld }) => withheld.some((name) => name === 'providers' || name.startsWith('variables ')))
  if (!queues || isWaiting) return []
  const variables = variablesOf(sources)
  const configured = keysOf(settingsOf(config, 'providers'))
  const http = [...restToolsOf(config), ...openApisOf(config)].flatMap(({ name, definition: { queue } }) => [
    name,
    ...(queue === undefined ? [] : [queue]),
  ])
  const known = [
    ...providers,
    ...configured,
    ...http,
    ...configuredSources(config),
    ...builtinToolNames,
    ...Object.keys(automaticTools),
    childNamespace,
  ]
  return keysOf(queues).flatMap((name): readonly ConfigDiagnostic[] => {
    const origin = sourcedAt(queues, [name])?.origin
    if (!origin || known.includes(name) || name.startsWith(childPrefix) || addressVariable(name) in variables) return []
    const message = `the queue \`${name}\` has no effect: no provider, tool or namespace has this name`
    const remedy = didYouMean(name, known) ?? 'Name a provider such as `openai`, a tool such as `shell`, or `agent` for all children.'
    return [{ code: 'config_rule_idle', severity: 'warning', place: placeOf(origin), message, remedy }]
  })
}

/** This variable defines a provider without configuration. */
const addressVariable = (provider: string): string => `${provider.toUpperCase().replace(/[^A-Z0-9]+/g, '_')}_BASE_URL`
