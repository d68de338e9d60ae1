import { type AgentOption, type AgentOptionKey, agentOptionKeys, agentOptions } from '../options/agent-options.ts'
import type { AgentOverrides } from '../options/option-values.ts'
import { type Config, settingsOf } from './config.ts'
import { defaultKeys } from './sections.ts'
import { type FileOrigin, type Origin, placeOf, sourcedAt } from './sourced.ts'

export interface EffectiveOption {
  /** `undefined` if nothing sets it; then `option.default` applies. */
  readonly value: unknown
  readonly origin: Origin
  readonly option: AgentOption
}

/** The sources of options, strongest first. */
export interface OptionSources {
  readonly variables?: AgentOverrides
  readonly frontmatter?: AgentOverrides
  readonly config: Config
}

/** The values of `defaults` in the configuration. */
export function optionDefaults(
  config: Config,
): ReadonlyMap<AgentOptionKey, { readonly value: unknown; readonly place: string; readonly origin: FileOrigin }> {
  const tree = settingsOf(config, 'defaults')
  return new Map(
    defaultKeys.flatMap((key) => {
      const found = sourcedAt(tree, key.split('.'))
      if (found?.kind !== 'value') return []
      const { value, origin } = found
      return [[key as AgentOptionKey, { value, origin, place: placeOf(origin) }] as const]
    }),
  )
}

/** Every option with its effective value and origin. */
export function effectiveOptions({ variables, frontmatter, config }: OptionSources): ReadonlyMap<AgentOptionKey, EffectiveOption> {
  const defaults = optionDefaults(config)
  const keys = agentOptionKeys.filter((key) => agentOptions[key].sameAs === undefined)
  return new Map(
    keys.map((key): [AgentOptionKey, EffectiveOption] => {
      const option = agentOptions[key]
      const variable = variables?.get(key)
      if (variable) return [key, { value: variable.value, origin: { kind: 'variable', name: variable.place }, option }]
      const own = frontmatter?.get(key)
      if (own) return [key, { value: own.value, origin: { kind: 'frontmatter', place: own.place }, option }]
      const { value, origin } = defaults.get(key) ?? { value: undefined, origin: { kind: 'default' } as const }
      return [key, { value, origin, option }]
    }),
  )
}
