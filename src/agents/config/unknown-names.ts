import type { ApprovalRule, HookDefinition, Problem } from '../../contracts/index.ts'
import { automaticTools, builtinToolNames } from '../../policy/builtin-tool-names.ts'
import { type KnownTools, patternsOf, rulePatternProblem, type ToolNameProblem, toolNameProblem } from '../../policy/tool-name-problems.ts'
import { didYouMean } from '../values/messages.ts'
import { type Config, type ConfigDiagnostic, isTrustedFile, sectionByLayer, settingsOf } from './config.ts'
import { type FileOrigin, keysOf, type Sourced, sourcedAt } from './sourced.ts'
import { variablesOf } from './variables/overlay.ts'
import type { VariableSources } from './variables/resolve-placeholders.ts'

/** Parts of the configuration that name nothing. */
export interface UnknownNames {
  /** In files that are a person's own, or trusted. */
  readonly problems: readonly Problem[]
  readonly diagnostics: readonly ConfigDiagnostic[]
}

/** Servers that the configuration names; they may offer any tool. */
export const configuredSources = (config: Config): readonly string[] => keysOf(settingsOf(config, 'mcpServers'))

/** Rules and hooks that are about no tool. `agents` are those of the run, as `agent__name`. */
export function unknownTools(config: Config, agents: readonly string[]): UnknownNames {
  const known: KnownTools = { tools: agents, sources: configuredSources(config) }
  const named = [...sectionByLayer(config, 'approvals').flatMap(rulesIn), ...sectionByLayer(config, 'hooks').flatMap(filtersIn)]
  const isWaiting = config.pending.some(({ withheld }) => withheld.includes('mcpServers'))
  const faults = named.flatMap(({ pattern, what, origin }): readonly NameFault[] => {
    const fault = what === 'rule' ? rulePatternProblem(pattern, known) : toolNameProblem(pattern, known)
    if (!fault || (fault.kind === 'no source' && isWaiting)) return []
    const message = `${what === 'rule' ? 'a rule has no effect' : `\`tools\` of the hook "${what.hook}" is wrong`}: ${fault.message}`
    return [{ origin, kind: fault.kind, problem: { place: placeOf(origin), message, remedy: fault.remedy } }]
  })
  return told(config, faults)
}

/** Skills that are switched off and that there are not. */
export function unknownSkills(config: Config, skills: readonly string[]): UnknownNames {
  const faults = sectionByLayer(config, 'skills').flatMap((section) => {
    const disabled = sourcedAt(section, ['disabled'])
    if (disabled?.kind !== 'value') return []
    const { origin, value } = disabled
    return (value as readonly string[]).flatMap((name): readonly NameFault[] => {
      if (skills.includes(name.trim())) return []
      const problem = { message: `\`skills.disabled\` has no effect: there is no skill \`${name}\``, remedy: remedyFor(name, skills) }
      return [{ origin, kind: 'no source', problem: { place: placeOf(origin), ...problem } }]
    })
  })
  return told(config, faults)
}

const remedyFor = (name: string, skills: readonly string[]): string => didYouMean(name, skills) ?? 'Remove it.'

interface NameFault {
  readonly origin: FileOrigin
  readonly kind: ToolNameProblem['kind']
  readonly problem: Problem & { readonly remedy: string }
}

function told(config: Config, faults: readonly NameFault[]): UnknownNames {
  const isError = ({ kind, origin }: NameFault): boolean => isTrustedFile(config, origin.file) && isMistake(kind, origin)
  return {
    problems: faults.filter(isError).map(({ problem }) => problem),
    diagnostics: faults
      .filter((fault) => !isError(fault))
      .map(({ problem }) => ({ code: 'config_rule_idle', severity: 'warning', ...problem })),
  }
}

const placeOf = ({ file, line, column }: FileOrigin): string => `${file}:${line}:${column}`

/** What a person says for every project may be about servers and skills of another one; agents differ from run to run. */
function isMistake(kind: ToolNameProblem['kind'], { layer }: FileOrigin): boolean {
  if (kind === 'no source') return layer !== 'user' && layer !== 'system'
  return kind === 'nothing'
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

/** What all children are together, beside their own names. */
const childNamespace = 'agent'
const childPrefix = 'agent__'

/**
 * Queues that nothing bears the name of: a limit that never bites. `providers` are those that there are without being
 * configured, and those that agents name. While providers wait for trust, nobody knows what they are called.
 */
export function unusedQueues(sources: VariableSources, providers: readonly string[]): readonly ConfigDiagnostic[] {
  const { config } = sources
  const queues = settingsOf(config, 'queues')
  const isWaiting = config.pending.some(({ withheld }) => withheld.some((name) => name === 'providers' || name.startsWith('variables ')))
  if (!queues || isWaiting) return []
  const variables = variablesOf(sources)
  const bearers = new Set([
    ...providers,
    ...keysOf(settingsOf(config, 'providers')),
    ...builtinToolNames,
    ...Object.keys(automaticTools),
    childNamespace,
  ])
  return keysOf(queues).flatMap((name): readonly ConfigDiagnostic[] => {
    const at = sourcedAt(queues, [name])?.origin
    if (!at || bearers.has(name) || name.startsWith(childPrefix) || addressVariable(name) in variables) return []
    return [
      {
        code: 'config_rule_idle',
        severity: 'warning',
        place: `${at.file}:${at.line}:${at.column}`,
        message: `the queue \`${name}\` has no effect: no provider, tool or namespace has this name`,
        remedy: didYouMean(name, [...bearers]) ?? 'Name a provider such as `openai`, a tool such as `shell`, or `agent` for all children.',
      },
    ]
  })
}

/** A variable alone may bring a provider. */
const addressVariable = (provider: string): string => `${provider.toUpperCase().replace(/[^A-Z0-9]+/g, '_')}_BASE_URL`
