import type { JsonObject } from 'troupe/extension'
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

/** What `setup` stored is a `config` of its own: see `setup.ts`. @throws with everything that is wrong. */
export function readSettings({ platforms, rules, approvers }: JsonObject): Settings {
  const problems: string[] = []
  const problem = (place: string, text: string): void => void problems.push(`\`${section}.${place}\` ${text}`)
  const configured = new Map<PlatformName, JsonObject>()
  if (!isObject(platforms ?? {})) problem('platforms', 'must be an object, such as { "slack": { "mode": "socket" } }.')
  else {
    for (const [name, settings] of Object.entries(isObject(platforms) ? platforms : {})) {
      if (!isPlatform(name)) problem(`platforms.${name}`, `is not known. Known are ${platformNames.join(', ')}.`)
      else if (!isObject(settings)) problem(`platforms.${name}`, 'must be an object.')
      else configured.set(name, settings)
    }
  }
  const readable = readRules(rules, problem)
  if (configured.has('telegram')) {
    for (const index of rulesForAnybody(readable, 'telegram'))
      problem(
        `rules[${index}]`,
        'lets everybody in the world write, because bots of Telegram are public. Add `person`, `channel`, or "person": "*".',
      )
  }
  const people = approvers === undefined ? [] : Array.isArray(approvers) ? approvers : undefined
  const isPerson = (each: unknown): each is string => typeof each === 'string' && platformNames.some((name) => each.startsWith(`${name}:`))
  if (!people?.every(isPerson)) problem('approvers', 'must be a list of people, such as ["slack:U012AB3CD"].')
  if (problems.length > 0) throw new Error(problems.join('\n'))
  return { platforms: configured, rules: readable, approvers: new Set(people?.filter(isPerson)) }
}

export const isObject = (value: unknown): value is JsonObject => typeof value === 'object' && value !== null && !Array.isArray(value)
const isPlatform = (name: string): name is PlatformName => (platformNames as readonly string[]).includes(name)
