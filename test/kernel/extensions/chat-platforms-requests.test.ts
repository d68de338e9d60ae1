import { expect, it, onTestFinished } from 'vitest'
import { openDatabase } from '../../../extensions/chat_platforms/state/open-database.ts'
import { Requests } from '../../../extensions/chat_platforms/state/requests.ts'
import type { ChannelRequest } from '../../../src/contracts/index.ts'
import { answer, firstMessage, slackStage } from '../chat-platforms/slack-stage.ts'
import { temporaryFolder } from '../extension-context.ts'

const approval: ChannelRequest = { id: 'r1', kind: 'approval', title: 'Run shell?', tool: 'shell', breadths: ['once', 'session'] }

/** A request as it is shown in a thread. */
async function card(request: ChannelRequest) {
  const stage = await slackStage()
  const written = stage.slack.write({ person: 'U1', text: 'Go' })
  await written.deliver()
  const { userId } = await firstMessage(stage)
  const { id, title: text } = request
  await stage.extension.sendToUser(userId, { id, kind: 'question', text, speaker: 'orchestrator', request })
  const shown = await stage.slack.posts.untilOne(written.place, ({ buttons }) => buttons.length > 0, 'card')
  return { stage, userId, shown }
}

it('an approval shows why the call has failed in the sandbox, and what an approval for more than this call covers', async () => {
  const { shown } = await card({ ...approval, failure: 'no network\nno route', covers: ['shell npm *'] })
  for (const text of ['```\nno network\nno route\n```', '`shell npm *`']) expect(shown.text).toContain(text)
})

it('the name of an argument cannot pass for another part of the card', async () => {
  const { shown } = await card({ ...approval, input: [{ name: 'x**\n\n**path', value: '/etc' }] })
  expect(shown.text).toContain('`x**  **path`: `/etc`')
})

it('an address to open is shown', async () => {
  const { shown } = await card({ id: 'q1', kind: 'question', title: 'Sign in', url: 'https://login.example.com/x' })
  expect(shown.text).toContain('`https://login.example.com/x`')
})

it('a request that has ended without an answer says no more than that', async () => {
  const { stage, userId, shown } = await card(approval)
  await stage.extension.closeRequest(userId, { id: 'r1', outcome: 'ended' })
  expect(stage.slack.posts.value.find(({ id }) => id === shown.id)?.text).toContain('Ended without an answer.')
})

it('the button of a request that is not stored any more answers no later request', async () => {
  const folder = temporaryFolder()
  const [first, second] = [0, 60 * 24 * 60 * 60_000].map((now) => {
    const database = openDatabase(folder, now)
    onTestFinished(() => database.close())
    return new Requests(database).add('slack:C1:1', { ...approval, id: `r${now}` }, now)
  })
  expect(second?.key).not.toBe(first?.key)
})

it('the button of a request that is not known says so', async () => {
  const { stage, shown } = await card(approval)
  const unknown = { ...shown, buttons: shown.buttons.map((button) => ({ ...button, value: 'zz' })) }
  await stage.slack.press('UBOSS', unknown, 'Approve').deliver()
  await stage.slack.posts.until((posts) => posts.find(({ text }) => text.includes('This request is too old')), 'notice')
  expect(stage.messages.value.filter(({ answer }) => answer !== undefined)).toEqual([])
})

it('a session is not exported for somebody else, who is told', async () => {
  const stage = await slackStage({ conversations: { export: async () => undefined } })
  const written = stage.slack.write({ person: 'U1', text: 'Go' })
  await written.deliver()
  const { userId } = await firstMessage(stage)
  await stage.extension.sendToUser(userId, answer('m1', 'Done'))
  const shown = await stage.slack.posts.untilOne(written.place, ({ buttons }) => buttons.length > 0, 'answer')
  await stage.slack.press('U2', shown, 'JSON').deliver()
  await stage.slack.posts.until(
    (posts) => posts.find(({ onlyFor, text }) => onlyFor !== undefined && text.includes('Only the person')),
    'notice',
  )
  expect(stage.slack.posts.in(written.place).flatMap(({ files }) => files)).toEqual([])
})
