import { expect, it } from 'vitest'
import { Access } from '../../../extensions/chat_platforms/incoming/access.ts'
import { readSettings } from '../../../extensions/chat_platforms/settings.ts'
import { wholeConfig } from '../../../extensions/chat_platforms/setup.ts'
import type { JsonObject } from '../../../src/contracts/index.ts'

const read = (config: JsonObject) => readSettings(wholeConfig(config))

it('keys that nobody reads are reported with their places', () => {
  const config = { platforms: { slack: { mod: 'socket' }, irc: {} }, approver: ['slack:U1'], SLACK_BOT_TOKEN: 'xoxb-1' }
  for (const place of ['platforms.slack.mod', 'platforms.irc', 'approver', 'SLACK_BOT_TOKEN'])
    expect(() => read(config)).toThrow(`\`extensions.chat_platforms.${place}\` is not known.`)
  expect(() => read({ slack: 'socket', people: '*', approvers: 'slack:U1', public_url: '', discord_application_id: '' })).not.toThrow()
})

it('a rule is an object: a list would match everybody', () => {
  expect(() => read({ rules: [[]] })).toThrow('rules[0]` must be an object')
  expect(() => read({ rules: [{ person: '*', budget: [] }] })).toThrow('rules[0].budget`')
})

it('direct messages of Telegram are open to everybody in the world only in so many words', () => {
  const rules = (person: JsonObject) => ({ platforms: { telegram: {} }, rules: [{ channel: 'dm', ...person }] })
  expect(() => read(rules({}))).toThrow('rules[0]` lets everybody in the world write')
  for (const person of ['*', '42']) expect(() => read(rules({ person }))).not.toThrow()
})

it('a budget is that of the person, wherever they wrote last and before they have written', async () => {
  const stored = new Map<string, unknown>()
  const state = {
    get: async (key: string) => (stored.get(key) ?? null) as never,
    set: async (key: string, value: unknown) => void stored.set(key, value),
  }
  const [small, large] = [{ costUsdPerDay: 1 }, { costUsdPerDay: 9 }]
  const access = new Access(
    read({
      rules: [
        { person: 'slack:UBOSS' },
        { person: 'UBAD', deny: true, budget: large },
        { channel: 'CFREE', messagesPerMinute: 2 },
        { platform: 'slack', budget: small },
        { person: '*', budget: large },
      ],
    }),
    state,
  )
  expect(await access.limitsOf('slack:U1')).toEqual({ budget: small })
  await access.ruleFor({ platform: 'slack', channel: 'CFREE', isDirect: false, person: 'U1' })
  expect(await access.limitsOf('slack:U1')).toEqual({ budget: small, messagesPerMinute: 2 })
  expect(await access.limitsOf('slack:UBOSS')).toEqual({})
  expect(await access.limitsOf('telegram:7')).toEqual({ budget: large })
})
