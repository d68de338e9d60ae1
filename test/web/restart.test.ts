import { afterAll, expect, test } from 'vitest'
import { gate } from '../../src/testing/index.ts'
import { openBrowser } from '../browser.ts'
import { agentText, type Served, serveScene } from '../cli/serve-scene.ts'
import { openChat } from './chat-page.ts'
import { answersIn, journalOf } from './journal.ts'

// `troupe serve` as it was built, killed while an agent answers.

const scene = await serveScene()
await scene.put('clerk.ai', agentText('You answer.'))
const browser = await openBrowser()
afterAll(() => browser.close())

const portOf = ({ url }: Served): string => new URL(url).port

test('the page says that it reconnects, keeps what was typed, and continues with the next server', async () => {
  const first = await scene.serve()
  const held = gate()
  scene.reply = () => ({ pieces: ['This text is lost with its server. ', held.promise] })
  const chat = await openChat(browser, { ...first, address: `${first.url}/#token=${first.token}` })
  await chat.send('Are you there?')
  await chat.says('This text is lost with its server.')
  first.process.kill('SIGKILL')
  await first.ended
  await chat.page.getByText(/Reconnecting/).waitFor()
  await chat.message.fill('And now?')
  scene.reply = ({ last }) => ({ text: `The answer to: ${last}` })
  const second = await scene.serve(['--port', portOf(first)])
  await chat.says('The answer to: Are you there?')
  await chat.page.getByText(/Reconnecting/).waitFor({ state: 'detached' })
  expect(await chat.conversation.getByText('This text is lost').count()).toBe(0)
  expect(await chat.message.inputValue()).toBe('And now?')
  await chat.message.press('Enter')
  await chat.says('The answer to: And now?')
  const id = await chat.id()
  await expect.poll(async () => answersIn(await journalOf(second, id), id)).toHaveLength(2)
  for (const answer of answersIn(await journalOf(second, id), id))
    expect(await chat.conversation.getByText(answer, { exact: true }).count()).toBe(1)
  held.open()
  second.process.kill('SIGTERM')
  await second.ended
})
