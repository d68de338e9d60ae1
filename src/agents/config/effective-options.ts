import { type AgentOption, type AgentOptionKey, agentOptionKeys, agentOptions } from '../agent-file/agent-options.ts'
import type { AgentOverrides } from '../agent-file/overrides.ts'
import { type Config, settingsOf } from './config.ts'
import { defaultKeys } from './sections.ts'
import { type Origin, sourcedAt } from './sourced.ts'

export interface EffectiveOption {
  /** `undefined` where nobody says anything: then it is as `option.default` tells. */
  readonly value: unknown
  readonly origin: Origin
  readonly option: AgentOption
}

/** Who may set options, strongest first. The layers of the configuration come last. */
export interface OptionSources {
  readonly flags?: AgentOverrides
  readonly variables?: AgentOverrides
  /** What the agent file says, each with its place. */
  readonly frontmatter?: AgentOverrides
  readonly config: Config
}

/** What the configuration says for agents that do not say it themselves. */
export function optionDefaults(
  config: Config,
): ReadonlyMap<AgentOptionKey, { readonly value: unknown; readonly place: string; readonly origin: Origin }> {
  const tree = settingsOf(config, 'defaults')
  return new Map(
    defaultKeys.flatMap((key) => {
      const found = sourcedAt(tree, key.split('.'))
      if (found?.kind !== 'value') return []
      const { value, origin } = found
      return [[key as AgentOptionKey, { value, origin, place: `${origin.file}:${origin.line}:${origin.column}` }] as const]
    }),
  )
}

/** Every option with who has the last word: flag, variable, agent file, project, user, system, or nobody. */
export function effectiveOptions({ flags, variables, frontmatter, config }: OptionSources): ReadonlyMap<AgentOptionKey, EffectiveOption> {
  const defaults = optionDefaults(config)
  const oneNameEach = agentOptionKeys.filter((key) => (agentOptions[key] satisfies AgentOption as AgentOption).sameAs === undefined)
  return new Map(
    oneNameEach.map((key) => {
      const option: AgentOption = agentOptions[key]
      const flag = flags?.get(key)
      if (flag) return [key, { value: flag.value, origin: { kind: 'flag', name: flag.place }, option }]
      const variable = variables?.get(key)
      if (variable) return [key, { value: variable.value, origin: { kind: 'variable', name: variable.place }, option }]
      const own = frontmatter?.get(key)
      if (own) return [key, { value: own.value, origin: { kind: 'frontmatter', place: own.place }, option }]
      const configured = defaults.get(key)
      if (configured) return [key, { value: configured.value, origin: configured.origin, option }]
      return [key, { value: undefined, origin: { kind: 'default' }, option }]
    }),
  )
}
