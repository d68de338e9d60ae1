import { execFileSync } from 'node:child_process'
import { cpSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { describe, expect, it, vi } from 'vitest'
import { DurableSlackAdapter } from '../../../extensions/chat_platforms/slack/slack-adapter.ts'
import { slackFile } from '../../../extensions/chat_platforms/slack/slack-file.ts'
import { slackTokens } from '../../stand-ins/chat-platforms/slack.ts'
import { temporaryFolder } from '../extension-context.ts'
import { answer, everybody, firstMessage, slackStage } from './slack-stage.ts'

describe.each(['socket', 'webhooks'] as const)('over %s', (mode) => {
  it('a mention begins a thread, which is a conversation', async () => {
    const stage = await slackStage({ mode })
    const { slack, extension, messages } = stage
    const asked = slack.write({ person: 'U1', text: 'What is new?' })
    await asked.deliver()
    const message = await firstMessage(stage)
    expect(message).toEqual({
      userId: `slack:${asked.place}`,
      text: 'What is new?',
      messageId: `slack:${asked.place}/${asked.id}`,
      personId: 'slack:U1',
      userName: 'Person U1',
      mayApprove: false,
    })
    await extension.sendToUser(message.userId, answer('m1', 'Nothing.'))
    expect(slack.posts.in(asked.place).map(({ text }) => text)).toEqual(['Nothing.'])
    // The same thread, without a mention.
    await slack.write({ person: 'U2', text: 'Are you sure?', place: asked.place }).deliver()
    expect(await firstMessage(stage, ({ text }) => text === 'Are you sure?')).toMatchObject({
      userId: message.userId,
      personId: 'slack:U2',
    })
    // The event of the mention and that of the message are one.
    expect(new Set(messages.value.map(({ messageId }) => messageId)).size).toBe(2)
  })

  it('an event that was not stored is delivered again', async () => {
    let failures = 1
    const stage = await slackStage({
      mode,
      store: async () => {
        if (failures-- > 0) throw new Error('The store is busy')
      },
    })
    const delivered = stage.slack.write({ person: 'U1', text: 'Hi', direct: true }).deliver()
    if (mode === 'socket') {
      await vi.waitUntil(() => failures === 0)
      stage.slack.socket.cut()
    }
    await delivered
    expect((await firstMessage(stage)).text).toBe('Hi')
  })
})

it('each direct message begins a thread, and its answer is in that thread', async () => {
  const stage = await slackStage()
  const written = stage.slack.write({ person: 'U1', text: 'Hi', direct: true })
  await written.deliver()
  expect((await firstMessage(stage)).userId).toBe(`slack:${written.place}`)
})

it('the text of a message is what was typed', async () => {
  const stage = await slackStage()
  const markup = 'see <https://a.example/x?b=1&amp;c=2|the page>, <https://b.example> and <@U2>:\n1. `if (a &lt; b)`\n    - # indented'
  await stage.slack.write({ person: 'U1', text: markup, direct: true }).deliver()
  expect((await firstMessage(stage)).text).toBe(
    'see the page (https://a.example/x?b=1&c=2), https://b.example and @Person U2:\n1. `if (a < b)`\n    - # indented',
  )
})

it('bots, edits, deletions and messages to nobody are ignored', async () => {
  const stage = await slackStage()
  const { slack, messages } = stage
  const first = slack.write({ person: 'U1', text: 'One', direct: true })
  await first.deliver()
  for (const kind of ['bot', 'edit', 'delete'] as const)
    await slack.write({ person: 'U1', text: kind, place: first.place, kind, of: first.id }).deliver()
  await slack.write({ person: 'U1', text: 'To a colleague', place: 'C1:1.1' }).deliver()
  await slack.write({ person: 'U1', text: 'Two', place: first.place }).deliver()
  expect(messages.value.map(({ text }) => text)).toEqual(['One', 'Two'])
})

it('the same event has the same id in the next process', async () => {
  const stage = await slackStage({ mode: 'webhooks' })
  const event = stage.slack.write({ person: 'U1', text: 'Hi', direct: true })
  await event.deliver()
  await stage.restart()
  await event.deliver()
  const [one, two] = stage.messages.value
  expect(two).toEqual(one)
})

it.each(['signature', 'timestamp'] as const)('a webhook with a wrong %s is refused', async (how) => {
  const { slack, messages } = await slackStage({ mode: 'webhooks' })
  expect(await slack.write({ person: 'U1', text: 'Hi', direct: true }).forge(how)).toBe(401)
  expect(messages.value).toEqual([])
})

it('files of a message are references, whose bytes are read later, also after a restart', async () => {
  const stage = await slackStage()
  const file = { name: 'plan.txt', mediaType: 'text/plain', content: Buffer.from('The plan') }
  await stage.slack
    .write({ person: 'U1', text: '', direct: true, files: [file, { ...file, name: 'film.mp4', bytes: 1_000_000_000 }] })
    .deliver()
  const [plan, film] = (await firstMessage(stage)).files ?? []
  expect([plan, film]).toMatchObject([
    { name: 'plan.txt', mediaType: 'text/plain', bytes: 8 },
    { name: 'film.mp4', bytes: 1_000_000_000 },
  ])
  const next = await stage.restart()
  expect(Buffer.from(await next.readFile(plan!, AbortSignal.timeout(5_000))).toString()).toBe('The plan')
})

it('a file from Slack is read with the token of the bot, and a longer one than it said is not kept', async () => {
  const asked: unknown[] = []
  const adapter = new DurableSlackAdapter({
    ...{ mode: 'webhook', botToken: slackTokens.bot, signingSecret: 'x' },
    fileTransport: async (url, _signal, headers) => {
      asked.push([url.href, headers?.authorization])
      return Object.assign(Readable.from([Buffer.from('The plan')]), { statusCode: 200, headers: {} }) as never
    },
  })
  // As the adapter describes a file of an app that is installed in one workspace.
  const url = 'https://files.slack.com/files-pri/T1-F1/plan.txt'
  const signal = AbortSignal.timeout(5_000)
  const read = await slackFile(adapter, { ref: { type: 'file', url, fetchMetadata: { url, teamId: 'T1' } }, signal, apiUrl: undefined })
  expect([Buffer.from(read).toString(), asked]).toEqual(['The plan', [[url, `Bearer ${slackTokens.bot}`]]])

  const stage = await slackStage()
  const liar = { name: 'film.mp4', mediaType: 'video/mp4', content: Buffer.alloc(26 * 1024 ** 2), bytes: 10 }
  await stage.slack.write({ person: 'U1', text: '', direct: true, files: [liar] }).deliver()
  const [film] = (await firstMessage(stage)).files ?? []
  await expect(stage.extension.readFile(film!, signal)).rejects.toThrow('Slack sent more than')
})

describe('the slash command', () => {
  it('begins a thread with an agent', async () => {
    const stage = await slackStage()
    await stage.slack.command('U1', '/troupe', 'researcher Find a hotel').deliver()
    const message = await firstMessage(stage)
    expect(message).toMatchObject({ text: 'Find a hotel', agent: 'researcher', personId: 'slack:U1' })
    const [post] = stage.slack.posts.value
    expect(post?.text).toBe('<@U1> asks researcher: Find a hotel')
    expect(message.userId).toBe(`slack:${post?.place}`)
    await stage.extension.sendToUser(message.userId, answer('m1', 'Found'))
    expect(stage.slack.posts.in(post?.place ?? '')).toHaveLength(2)
  })

  it('that Slack sends again, also after a restart, begins one thread', async () => {
    const stage = await slackStage()
    const command = stage.slack.command('U1', '/troupe', 'researcher Find a hotel')
    await command.deliver()
    await stage.extension.stop()
    await stage.restart()
    await command.deliver()
    expect(stage.slack.posts.value).toHaveLength(1)
    expect(new Set(stage.messages.value.map(({ userId, messageId }) => `${userId} ${messageId}`)).size).toBe(1)
  })

  it('without a text says what to write', async () => {
    const { slack, messages } = await slackStage()
    await slack.command('U1', '/troupe', 'researcher').deliver()
    expect(slack.posts.value.map(({ text }) => text)).toEqual(['Write /troupe AGENT TEXT.'])
    expect(messages.value).toEqual([])
  })
})

describe('rules', () => {
  it('deny people, who are told once', async () => {
    const { slack, messages } = await slackStage({ config: { rules: [{ platform: 'slack', person: 'U1' }] } })
    for (const text of ['One', 'Two']) await slack.write({ person: 'U2', text }).deliver()
    expect(slack.posts.value.map(({ text, onlyFor }) => [text, onlyFor])).toEqual([[expect.stringContaining('You may not use'), 'U2']])
    expect(messages.value).toEqual([])
  })

  it('choose the agent, and say what a person may spend', async () => {
    const budget = { tokensPerDay: 1_000 }
    const rules = [
      { channel: 'slack:C9', deny: true },
      { command: '/troupe', agent: 'planner' },
      { channel: 'C1', agent: 'support', budget, messagesPerMinute: 5 },
      { channel: 'dm', person: 'U1' },
    ]
    const stage = await slackStage({ config: { rules } })
    const { slack, extension } = stage
    await slack.write({ person: 'U1', text: 'Help' }).deliver()
    expect((await firstMessage(stage)).agent).toBe('support')
    expect(await extension.limitsOf('slack:U1')).toEqual({ budget, messagesPerMinute: 5 })
    // Their sessions continue before they write again.
    expect(await (await stage.restart()).limitsOf('slack:U1')).toEqual({ budget, messagesPerMinute: 5 })
    await slack.write({ person: 'U1', text: 'Hi', direct: true }).deliver()
    const direct = await firstMessage(stage, ({ text }) => text === 'Hi')
    expect(direct).not.toHaveProperty('agent')
    // The budget is of the person, wherever they write.
    expect(await extension.limitsOf('slack:U1')).toEqual({ budget })
    // The rule of the command leaves no choice.
    await slack.command('U1', '/troupe', 'researcher Find it').deliver()
    expect(await firstMessage(stage, ({ agent }) => agent === 'planner')).toMatchObject({ text: 'researcher Find it' })
  })

  it('that are wrong are reported together, with their places', async () => {
    const config = { rules: [{ budget: { tokens: 1 } }, { chanel: 'C1' }, { deny: 'yes' }], approvers: ['U1'] }
    const failure = slackStage({ config })
    for (const place of ['rules[0].budget', 'rules[1].chanel', 'rules[2].deny', 'approvers'])
      await expect(failure).rejects.toThrow(`\`extensions.chat_platforms.${place}\``)
  })
})

describe('tokens', () => {
  const { bot, app } = slackTokens
  it.each([
    ['bot', { SLACK_BOT_TOKEN: 'xoxb-wrong', SLACK_APP_TOKEN: app }, 'Slack refuses the bot token (invalid_auth).'],
    ['app', { SLACK_BOT_TOKEN: bot, SLACK_APP_TOKEN: 'xapp-wrong' }, 'Slack refuses the app token (invalid_auth).'],
    ['missing app', { SLACK_BOT_TOKEN: bot }, 'Slack needs SLACK_APP_TOKEN.'],
    ['misplaced', { SLACK_BOT_TOKEN: app, SLACK_APP_TOKEN: app }, 'SLACK_BOT_TOKEN must begin with xoxb-.'],
  ])('a %s token is reported with a remedy, and the extension lives', async (_, secrets, said) => {
    const { extension, log } = await slackStage({ secrets })
    expect(extension.healthCheck()).toEqual({ healthy: false, message: expect.stringContaining(said) })
    expect(log.filter(({ level }) => level === 'error')).toEqual([
      { level: 'error', message: expect.stringMatching(/troupe extensions setup/) },
    ])
    await expect(extension.sendToUser('slack:C1:1.1', answer('m1', 'Hi'))).rejects.toThrow(said)
  })
})

it('a token that is revoked while it runs is reported by the next call, until one works', async () => {
  const stage = await slackStage()
  const { slack, extension, log } = stage
  await slack.write({ person: 'U1', text: 'Hi' }).deliver()
  const { userId } = await firstMessage(stage)
  slack.botToken = 'xoxb-another'
  await expect(extension.sendToUser(userId, answer('m1', 'Hello'))).rejects.toThrow()
  expect(extension.healthCheck()).toEqual({
    healthy: false,
    message: expect.stringContaining('Slack refuses the bot token (invalid_auth).'),
  })
  await expect(extension.sendToUser(userId, answer('m1', 'Hello'))).rejects.toThrow()
  expect(log.filter(({ level }) => level === 'error')).toHaveLength(1)
  slack.botToken = slackTokens.bot
  await extension.sendToUser(userId, answer('m1', 'Hello'))
  expect(extension.healthCheck()).toEqual({ healthy: true })
})

it('Socket Mode connects again after its connection was lost', async () => {
  const stage = await slackStage()
  stage.slack.socket.cut()
  await stage.slack.write({ person: 'U1', text: 'Hi', direct: true }).deliver()
  expect((await firstMessage(stage)).text).toBe('Hi')
  stage.slack.socket.askToReconnect()
  await stage.slack.write({ person: 'U1', text: 'There', direct: true }).deliver()
  expect((await firstMessage(stage, ({ text }) => text === 'There')).text).toBe('There')
  expect(stage.extension.healthCheck()).toEqual({ healthy: true })
})

it('setup prints the manifest of the app', async () => {
  const { extension } = await slackStage({ config: everybody })
  const names = extension.getSetupSchema().map(({ name }) => name)
  expect(names).toEqual(
    expect.arrayContaining(['slack', 'SLACK_BOT_TOKEN', 'SLACK_APP_TOKEN', 'SLACK_SIGNING_SECRET', 'people', 'approvers']),
  )
  extension.applyConfig({ slack: 'webhooks', people: 'slack:U1 slack:U2', approvers: 'slack:U1', public_url: 'https://t.example' })
  const printed = extension.onSetupComplete()
  const manifest = JSON.parse(printed.slice(printed.indexOf('{'), printed.lastIndexOf('}') + 1))
  expect(manifest.settings).toMatchObject({
    event_subscriptions: { request_url: 'https://t.example/channels/chat_platforms/slack' },
    socket_mode_enabled: false,
  })
  expect(() => extension.applyConfig({ slack: 'socket', approvers: 'U1' })).toThrow('approvers')
})

it('without the packages of Chat SDK, the extension names the command that installs them', () => {
  const folder = join(temporaryFolder(), 'chat_platforms')
  cpSync(join(import.meta.dirname, '../../../dist/extensions/chat_platforms'), folder, { recursive: true })
  writeFileSync(join(folder, 'package.json'), '{ "type": "module" }')
  // Node itself looks for packages: tests find those of this folder.
  const code = `
    import { ChatPlatforms } from './main.js'
    const context = { config: { platforms: { slack: {} } }, logger: { warn() {} } }
    await new ChatPlatforms().initialize(context).catch((error) => console.log(error.message))`
  const said = execFileSync(process.execPath, ['--input-type=module', '--eval', code], { cwd: folder, encoding: 'utf8' })
  expect(said).toContain('npm install chat@4.41.0 @chat-adapter/slack@4.41.0')
})
