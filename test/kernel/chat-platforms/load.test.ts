// The figures of Slack. That of many conversations while the assistant is killed again and again takes two minutes, and is measured with
// `TROUPE_FULL`, on Linux.
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { afterAll, expect, it, onTestFinished } from 'vitest'
import { SlackStandIn, slackTokens } from '../../stand-ins/chat-platforms/slack.ts'
import { binary, endAssistants, openPlace, type Place } from '../acceptance/assistant.ts'

afterAll(endAssistants)

const [conversations, kills] = [200, 20]
const questions = 2
const pieceMs = 60

const wait = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms))

/** Ends the supervisor first: it would start another kernel. */
function kill(supervisor: ChildProcess): void {
  const { pid = 0 } = supervisor
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim().split(' ').filter(Boolean).map(Number)
  for (const each of [pid, ...children]) process.kill(each, 'SIGKILL')
}

async function start({ project, env }: Place, slack: SlackStandIn): Promise<ChildProcess> {
  const supervisor = spawn(process.execPath, [binary, 'up', '--port', '0'], { cwd: project, env, stdio: 'ignore' })
  await slack.socket.connected()
  return supervisor
}

/** Of each answer, when its first piece was written. */
const writtenAt = new Map<string, number>()
async function* pieces(answer: string): AsyncIterable<string> {
  writtenAt.set(answer, performance.now())
  for (const piece of [answer, '\n\nand more', '\n\nand the', ' end.']) {
    yield piece
    await wait(pieceMs)
  }
}

async function setUp(): Promise<{ readonly place: Place; readonly slack: SlackStandIn }> {
  const slack = await SlackStandIn.open()
  onTestFinished(() => slack.close())
  const platforms = { slack: { mode: 'socket', apiUrl: slack.apiUrl } }
  const place = await openPlace({
    script: ({ users }) => ({ pieces: pieces(`Answer to ${users.at(-1)?.match(/question \d+ of \d+/)?.[0]}`) }),
    config: { extensions: { chat_platforms: { platforms, rules: [{ person: '*' }] } } },
  })
  const secrets = `SLACK_BOT_TOKEN=${slackTokens.bot}\nSLACK_APP_TOKEN=${slackTokens.app}\n`
  const { code, stderr } = await place.troupe(['extensions', 'setup', 'chat_platforms', '--set', 'slack=socket', '--secrets'], secrets)
  if (code !== 0) throw new Error(stderr)
  return { place, slack }
}

it.runIf(process.env.TROUPE_FULL && process.platform === 'linux')('nothing is lost or answered twice', { timeout: 280_000 }, async () => {
  const { place, slack } = await setUp()
  let supervisor = await start(place, slack)
  onTestFinished(async () => {
    kill(supervisor)
    await once(supervisor, 'exit')
  })
  /** However long it takes: the test has a limit. */
  const answered = (thread: string, text: string): Promise<unknown> =>
    slack.posts
      .until((posts) => posts.find((post) => post.place === thread && post.text.includes(`${text}\n\nand more\n\nand the end.`)), text)
      .catch(() => answered(thread, text))
  const talk = async (index: number): Promise<string> => {
    let thread: string | undefined
    for (let at = 1; at <= questions; at++) {
      const text = `question ${at} of ${index}`
      const event = slack.write({ person: `U${index}`, text, ...(thread !== undefined && { place: thread }) })
      thread = event.place
      // As a platform does that got no acknowledgement in time.
      await Promise.all([event.deliver(), event.deliver()])
      await answered(thread, `Answer to ${text}`)
    }
    return thread ?? ''
  }
  const talks = Promise.all(Array.from({ length: conversations }, (_, index) => talk(index)))
  for (let killed = 0; killed < kills; killed++) {
    const before = slack.api.calls.value.length
    await slack.api.calls.until((calls) => calls.length > before + 40 || undefined, 'work between kills')
    kill(supervisor)
    await once(supervisor, 'exit')
    supervisor = await start(place, slack)
  }
  const threads = await talks
  const lines = threads.map((thread) => slack.posts.in(thread).filter(({ text }) => text.includes('Answer to')).length)
  expect(lines).toEqual(threads.map(() => questions))
})

it('the first text of an answer is shown within a second', async () => {
  const { place, slack } = await setUp()
  const supervisor = await start(place, slack)
  onTestFinished(async () => {
    supervisor.kill()
    await once(supervisor, 'exit')
  })
  const delays = await Promise.all(
    Array.from({ length: 10 }, async (_, index) => {
      const event = slack.write({ person: `U${index}`, text: `question 1 of ${1_000 + index}` })
      await event.deliver()
      const answer = `Answer to question 1 of ${1_000 + index}`
      const post = await slack.posts.untilOne(event.place, ({ text }) => text.includes(answer), answer)
      return (post.firstTextAt ?? 0) - (writtenAt.get(answer) ?? 0)
    }),
  )
  console.log(
    `first text after ${delays
      .map(Math.round)
      .toSorted((one, other) => one - other)
      .join(' ')} ms`,
  )
  expect(Math.max(...delays)).toBeLessThan(1_000)
})
