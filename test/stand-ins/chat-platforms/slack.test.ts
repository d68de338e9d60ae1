// Whether the real adapter accepts the stand-in: what it sends arrives, and what it gets is understood.
import { createSlackAdapter } from '@chat-adapter/slack'
import { type Adapter, Chat, ConsoleLogger } from 'chat'
import { expect, it, onTestFinished } from 'vitest'
import { memoryState } from './memory-state.ts'
import { SlackStandIn, slackTokens } from './slack.ts'

async function openBot(slack: SlackStandIn) {
  const tokens = { appToken: slackTokens.app, botToken: slackTokens.bot }
  const logger = new ConsoleLogger('silent')
  const adapter = createSlackAdapter({ mode: 'socket', agentView: true, ...tokens, apiUrl: slack.apiUrl, logger })
  const bot = new Chat({
    userName: 'troupe',
    adapters: { slack: adapter as Adapter },
    state: memoryState(),
    logger: 'silent',
    concurrency: 'concurrent',
  })
  await bot.initialize()
  onTestFinished(() => bot.shutdown())
  return { bot, adapter }
}

async function openSlack(): Promise<SlackStandIn> {
  const slack = await SlackStandIn.open()
  onTestFinished(() => slack.close())
  return slack
}

it('brings a mention to the bot, and shows a streamed answer, a card and a notice for one person', async () => {
  const slack = await openSlack()
  const { bot, adapter } = await openBot(slack)
  const heard: string[] = []
  bot.onNewMention(async (thread, message) => {
    heard.push(message.text)
    const file = await fetch(message.attachments[0]?.url ?? '', { headers: { authorization: `Bearer ${slackTokens.bot}` } })
    const text = await file.text()
    const pieces = (async function* () {
      yield 'Hello\n'.repeat(60)
      yield text
    })()
    await adapter.stream(thread.id, pieces, { recipientUserId: 'U1', recipientTeamId: 'T1' })
    await thread.post({
      type: 'card',
      title: 'Run it?',
      children: [{ type: 'actions', children: [{ type: 'button', id: 'allow', label: 'Allow', value: 'r1' }] }],
    })
  })
  bot.onAction(async (event) => {
    heard.push(`${event.actionId} ${event.value}`)
    await event.thread?.postEphemeral(event.user, 'You may not.', { fallbackToDM: false })
    await event.thread?.post({ markdown: 'See the file', files: [{ data: Buffer.from('12345'), filename: 'a.txt' }] })
  })
  const file = { name: 'in.txt', mediaType: 'text/plain', content: Buffer.from('from a file') }
  const written = slack.write({ person: 'U1', text: 'Hi', files: [file] })
  await written.deliver()
  const card = await slack.posts.untilOne(written.place, ({ buttons }) => buttons.length > 0, 'card')
  const [answer] = slack.posts.in(written.place)
  expect(answer?.text).toBe(`${'Hello\n'.repeat(60)}from a file`)
  expect(answer?.states.length).toBeGreaterThan(1)
  await slack.press('U2', card, 'Allow').deliver()
  await slack.posts.untilOne(written.place, ({ files }) => files[0]?.bytes === 5, 'file')
  const notice = await slack.posts.untilOne(written.place, ({ onlyFor }) => onlyFor === 'U2', 'notice')
  expect(notice.text).toBe('You may not.')
  expect(heard).toEqual([expect.stringContaining('Hi'), 'allow r1'])
})

it('sends again what was not acknowledged, limits rates, and opens views', async () => {
  const slack = await openSlack()
  const first = await openBot(slack)
  Object.assign(first.adapter, { routeSocketEvent: async () => undefined })
  const written = slack.write({ person: 'U1', text: 'Hi', direct: true })
  const delivered = written.deliver()
  slack.socket.cut()
  await first.bot.shutdown()
  const { bot } = await openBot(slack)
  bot.onDirectMessage(async (thread) => void (await thread.post('Hello')))
  bot.onSlashCommand(async (event) => {
    await event.openModal({
      type: 'modal',
      callbackId: 'reason',
      title: 'Why?',
      children: [{ type: 'text_input', id: 'why', label: 'Why' }],
    })
  })
  const submitted = Promise.withResolvers<unknown>()
  bot.onModalSubmit(async (event) => submitted.resolve(event.values))
  slack.api.limit(/^chat\.postMessage$/, { seconds: 0 })
  await delivered
  await slack.posts.untilOne(written.place, ({ text }) => text === 'Hello', 'answer')
  expect(slack.api.calls.value.filter(({ method }) => method === 'chat.postMessage').map(({ status }) => status)).toEqual([429, 200])
  await slack.command('U1', '/troupe', 'helper hello').deliver()
  await slack.api.calls.until((calls) => calls.find(({ method }) => method === 'views.open'), 'view')
  await slack.submit('U1', 'V1', { why: 'Too early' }).deliver()
  expect(await submitted.promise).toEqual({ why: 'Too early' })
})
