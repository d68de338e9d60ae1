import { expect, it, onTestFinished } from 'vitest'
import { ThreadOutput } from '../../../extensions/chat_platforms/outgoing/thread-output.ts'
import type { Platform } from '../../../extensions/chat_platforms/platform.ts'
import { openDatabase } from '../../../extensions/chat_platforms/state/open-database.ts'
import { Posts } from '../../../extensions/chat_platforms/state/posts.ts'
import { Requests } from '../../../extensions/chat_platforms/state/requests.ts'
import { answer, firstMessage, slackStage } from '../chat-platforms/slack-stage.ts'
import { temporaryFolder } from '../extension-context.ts'

/** The output to a platform that records its posts. */
function output(given: Partial<Platform>) {
  const database = openDatabase(temporaryFolder(), 0)
  onTestFinished(() => database.close())
  const posts: (string | undefined)[] = []
  const platform = {
    ...{ name: 'slack', title: 'Slack', adapter: {}, limits: { text: 1_000, upload: 1_000, pieceMs: 10 } },
    post: async (_: string, { text }: { readonly text?: string }) => String(posts.push(text)),
    retryAfterMs: () => undefined,
    isRefusal: () => false,
    ...given,
  } as unknown as Platform
  const [link, report] = [() => undefined, () => undefined]
  const stores = { posts: new Posts(database), requests: new Requests(database) }
  return { posts, output: new ThreadOutput({ platform, ...stores, now: () => 0, link, report, learn: report }) }
}

it('a file that the platform refuses is a line of text, and holds up nothing', async () => {
  let uploads = 0
  const postMessage = async () => {
    uploads++
    throw new Error('missing_scope')
  }
  const file = { name: 'a.png', mediaType: 'image/png', bytes: 1, read: async () => new Uint8Array(1) }
  const message = { ...answer('m1', 'See'), files: [file] }
  const refusing = output({ adapter: { postMessage } as never, isRefusal: () => true })
  for (let again = 0; again < 2; again++) await refusing.output.send('t', message)
  expect(refusing.posts).toEqual(['See', '📎 a.png was refused by Slack: missing_scope. The session in the web chat has it.'])
  expect(uploads).toBe(1)
  // Nobody knows what has happened.
  const failing = output({ adapter: { postMessage } as never })
  await expect(failing.output.send('t', message)).rejects.toThrow('missing_scope')
})

it('the extension ends while a state of a turn waits for its time', async () => {
  const timers = () => process.getActiveResourcesInfo().filter((each) => each === 'Timeout').length
  const before = timers()
  const { output: ended, posts } = output({ limits: { text: 1_000, upload: 1_000, pieceMs: 60_000 } })
  for (const title of ['One', 'Two'])
    void ended.showProgress('t', { id: 't1', state: 'working', tasks: [{ id: 'c', title, state: 'running' }] })
  await expect.poll(() => posts).toHaveLength(1)
  await ended.settled()
  expect(timers()).toBe(before)
})

it('a mention of everybody that begins in one piece and ends in the next one stays text', async () => {
  const { slack, extension, messages, ...stage } = await slackStage()
  const asked = slack.write({ person: 'U1', text: 'Hi' })
  await asked.deliver()
  const { userId } = await firstMessage({ slack, extension, messages, ...stage })
  const piece = (text: string) => extension.streamToUser(userId, { id: 'm1', text, speaker: 'orchestrator' })
  piece('Hello <')
  await slack.posts.untilOne(asked.place, ({ text }) => text.startsWith('Hello <'), 'first piece')
  piece('!channel>')
  const post = await slack.posts.untilOne(asked.place, ({ text }) => text.endsWith('channel>'), 'second piece')
  expect(post.text).not.toContain('<!channel>')
})

it('a slash command that comes again begins no second thread', async () => {
  const { slack, messages } = await slackStage()
  const command = slack.command('U1', '/troupe', 'researcher Find it')
  await command.deliver()
  await command.deliver()
  const [first, second] = messages.value
  expect(messages.value).toHaveLength(2)
  expect(second).toEqual(first)
})

it('while the platform cannot be reached, its health says so, and answers wait without counting as failures', async () => {
  const stage = await slackStage()
  const { slack, extension } = stage
  const asked = slack.write({ person: 'U1', text: 'Hi' })
  await asked.deliver()
  const { userId } = await firstMessage(stage)
  const send = () => extension.sendToUser(userId, answer('m1', 'Here'))
  slack.api.goDown()
  await expect(send()).rejects.toThrow()
  await expect.poll(() => extension.healthCheck()).toMatchObject({ healthy: false, message: expect.stringContaining('cannot be reached') })
  await expect(send()).rejects.toMatchObject({ isTemporary: true })
  slack.api.comeBack()
  await send()
  expect(slack.posts.in(asked.place).map(({ text }) => text)).toEqual(['Here'])
  await expect.poll(() => extension.healthCheck().healthy, { timeout: 10_000 }).toBe(true)
})

it('an answer whose conversation was left ends where it is, and the next one is a message of its own', async () => {
  const stage = await slackStage()
  const { slack, extension } = stage
  const asked = slack.write({ person: 'U1', text: 'Hi' })
  await asked.deliver()
  const { userId } = await firstMessage(stage)
  const turn = (state: 'working' | 'stopped') => extension.showProgress(userId, { id: 't1', state, tasks: [] })
  void turn('working')
  extension.streamToUser(userId, { id: 'm1', turnId: 't1', text: 'Half', speaker: 'orchestrator' })
  await slack.posts.untilOne(asked.place, ({ text }) => text === 'Half', 'half of an answer')
  // After `/new`, nothing of the session is delivered but the end of its turn.
  void turn('stopped')
  await slack.posts.untilOne(
    asked.place,
    ({ text, raw }) => text === 'Half' && !(raw as { streaming?: boolean }).streaming,
    'end of the stream',
  )
  await slack.write({ person: 'U1', text: 'Again', place: asked.place }).deliver()
  await firstMessage(stage, ({ text }) => text === 'Again')
  await extension.sendToUser(userId, { ...answer('m2', 'Whole'), turnId: 't2' })
  expect(slack.posts.in(asked.place).map(({ text }) => text)).toEqual(['Half', 'Whole'])
})
