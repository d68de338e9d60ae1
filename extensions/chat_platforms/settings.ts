import type { JsonObject } from 'troupe/extension'
import { isObject } from './is-object.ts'
import { type PlatformName, platformNames } from './platform.ts'
import { type Rule, readRules, rulesForAnybody } from './rules.ts'

export interface Settings {
  readonly platforms: ReadonlyMap<PlatformName, JsonObject>
  readonly rules: readonly Rule[]
  /** Such as `slack:U1`. */
  readonly approvers: ReadonlySet<string>
}

/** Where people find the settings. */
export const section = 'extensions.chat_platforms'

const platformKeys: { readonly [name in PlatformName]: readonly string[] } = {
  slack: ['mode', 'apiUrl'],
  telegram: ['mode', 'apiUrl', 'publicUrl'],
  discord: ['applicationId', 'apiUrl'],
}

/** What `setup` stored is a `config` of its own: see `setup.ts`. @throws with everything that is wrong. */
export function readSettings({ platforms, rules, approvers, ...others }: JsonObject): Settings {
  const problems: string[] = []
  const problem = (place: string, text: string): void => void problems.push(`\`${section}.${place}\` ${text}`)
  const onlyKnown = (place: string, keys: readonly string[], known: readonly string[]): void => {
    for (const key of keys) if (!known.includes(key)) problem(`${place}${key}`, `is not known. Known are ${known.join(', ')}.`)
  }
  onlyKnown('', Object.keys(others), ['platforms', 'rules', 'approvers'])
  const configured = new Map<PlatformName, JsonObject>()
  if (!isObject(platforms ?? {})) problem('platforms', 'must be an object, such as { "slack": { "mode": "socket" } }.')
  else {
    for (const [name, settings] of Object.entries(isObject(platforms) ? platforms : {})) {
      if (!isPlatform(name)) onlyKnown('platforms.', [name], platformNames)
      else if (!isObject(settings)) problem(`platforms.${name}`, 'must be an object.')
      else {
        onlyKnown(`platforms.${name}.`, Object.keys(settings), platformKeys[name])
        configured.set(name, settings)
      }
    }
  }
  const readable = readRules(rules, problem)
  if (configured.has('telegram')) {
    for (const index of rulesForAnybody(readable, 'telegram'))
      problem(
        `rules[${index}]`,
        'lets everybody in the world write, because bots of Telegram are public. Add `person`, the `channel` of a group, or "person": "*".',
      )
  }
  const people = approvers === undefined ? [] : Array.isArray(approvers) ? approvers : undefined
  const isPerson = (each: unknown): each is string => typeof each === 'string' && platformNames.some((name) => each.startsWith(`${name}:`))
  if (!people?.every(isPerson)) problem('approvers', 'must be a list of people, such as ["slack:U012AB3CD"].')
  if (problems.length > 0) throw new Error(problems.join('\n'))
  return { platforms: configured, rules: readable, approvers: new Set(people?.filter(isPerson)) }
}

const isPlatform = (name: string): name is PlatformName => (platformNames as readonly string[]).includes(name)
