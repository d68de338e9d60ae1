import type { Json, JsonObject, SetupField } from 'troupe/extension'
import { discordSetup } from './discord/discord-setup.ts'
import { isObject } from './is-object.ts'
import type { PlatformName, PlatformSetup } from './platform.ts'
import { readSettings } from './settings.ts'
import { slackSetup } from './slack/slack-setup.ts'
import { telegramSetup } from './telegram/telegram-setup.ts'

const setups: { readonly [name in PlatformName]: PlatformSetup } = { slack: slackSetup, telegram: telegramSetup, discord: discordSetup }

const common: readonly SetupField[] = [
  { name: 'people', label: 'Who may write: ids such as slack:U012AB3CD, with spaces between them, or * for everybody', type: 'text' },
  { name: 'approvers', label: 'Who may approve: ids with spaces between them', type: 'text' },
  { name: 'public_url', label: 'For webhooks: the public address of this server, such as https://troupe.example.com', type: 'text' },
]

export const setupFields = (): readonly SetupField[] => [...Object.values(setups).flatMap(({ fields }) => fields), ...common]

/**
 * The settings of the configuration and those of `setup` together. `setup` stores texts; what the configuration says of a platform, the
 * rules or the approvers replaces them. @throws if a value is wrong.
 */
export function wholeConfig(config: JsonObject): JsonObject {
  const { platforms, rules, approvers, people } = config
  const ofSetup = Object.entries(setups).flatMap(([name, setup]) => {
    const settings = setup.settingsOf(config)
    return settings ? [[name, settings] as const] : []
  })
  const asked = new Set(setupFields().flatMap(({ name, type }) => (type === 'secret' ? [] : [name])))
  return {
    ...Object.fromEntries(Object.entries(config).filter(([key]) => !asked.has(key))),
    platforms: isObject(platforms ?? {})
      ? { ...Object.fromEntries(ofSetup), ...(platforms as JsonObject | undefined) }
      : (platforms as Json),
    rules: rules ?? words(people).map((person) => ({ person })),
    approvers: typeof approvers === 'string' || approvers === undefined ? [...words(approvers)] : approvers,
  }
}

/** @throws if it would fail at the start. */
export const checkSetup = (config: JsonObject): void => void readSettings(wholeConfig(config))

export function nextSteps(config: JsonObject): string {
  const url = typeof config.public_url === 'string' && config.public_url !== '' ? config.public_url : 'https://YOUR-SERVER'
  const steps = Object.entries(setups).map(([name, setup]) =>
    setup.nextSteps(config, `${url.replace(/\/$/, '')}/channels/chat_platforms/${name}`),
  )
  return steps.filter((text) => text !== '').join('\n\n')
}

const words = (text: unknown): readonly string[] => (typeof text === 'string' ? text.split(/[\s,]+/).filter((word) => word !== '') : [])
