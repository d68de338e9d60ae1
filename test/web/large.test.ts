import { afterAll, expect, test } from 'vitest'
import { openBrowser } from '../browser.ts'
import { type Chat, openChat } from './chat-page.ts'
import { tripStories, webScene } from './web-scene.ts'

// Five megabytes in, five megabytes out: the page stays usable.

const megabytes = 5
const paragraph = `${'Words of a long text, with **some** markup and `code`. '.repeat(18)}\n\n`
const long = paragraph.repeat(Math.ceil((megabytes * 2 ** 20) / paragraph.length))
const { trip = [], ...children } = tripStories(0)
const pieces = Array.from({ length: 80 }, (_, index) => long.slice((index * long.length) / 80, ((index + 1) * long.length) / 80))
const scene = await webScene({
  stories: { ...children, trip: [{ when: /hello/i, steps: trip[0]?.steps ?? [] }, { when: /speak/, steps: [{ pieces }] }, ...trip] },
})
const browser = await openBrowser()
afterAll(async () => {
  await browser.close()
  await scene.close()
})

/** A quiet machine needs a fifth of it. */
const limitMs = 5_000

test('a message of five megabytes, pasted and sent', async () => {
  const chat = await watched()
  await chat.message.focus()
  await chat.page.evaluate(`(() => {
    const data = new DataTransfer()
    data.setData('text/plain', ${JSON.stringify(paragraph)}.repeat(${Math.ceil((megabytes * 2 ** 20) / paragraph.length)}))
    const event = new ClipboardEvent('paste', { clipboardData: data, bubbles: true, cancelable: true })
    if (document.activeElement.dispatchEvent(event)) throw new Error('A text of this size would block the text field.')
  })()`)
  await chat.message.pressSequentially('hello')
  await chat.button('Send').click()
  await chat.says('Hello. Where do you want to go?')
  await isUsable(chat)
})

test('an answer of five megabytes', async () => {
  const chat = await watched()
  await chat.send('Please speak')
  await chat.says('Words of a long text')
  await expect.poll(() => chat.button('Stop').count(), { timeout: 30_000 }).toBe(0)
  await isUsable(chat)
  await chat.page.reload()
  await chat.says('Words of a long text')
  await isUsable(chat)
})

async function watched(): Promise<Chat> {
  const chat = await openChat(browser, scene, { prepare: (page) => page.addInitScript(observe) })
  await chat.message.waitFor()
  return chat
}

const observe = `new PerformanceObserver((list) => {
  for (const { duration } of list.getEntries()) globalThis.longest = Math.max(globalThis.longest ?? 0, duration)
}).observe({ type: 'longtask', buffered: true })`

/** Something typed is shown and answered, and no task took long. */
async function isUsable(chat: Chat): Promise<void> {
  await chat.message.fill('')
  const before = performance.now()
  await chat.message.pressSequentially('hello again')
  expect(await chat.message.inputValue()).toBe('hello again')
  const typedMs = performance.now() - before
  const answers = chat.conversation.getByText('Hello. Where do you want to go?', { exact: true })
  const count = await answers.count()
  await chat.button('Send').click()
  await expect.poll(() => answers.count(), { timeout: 15_000 }).toBe(count + 1)
  await chat.button('Stop').waitFor({ state: 'detached' })
  const longest = Math.round(Number(await chat.page.evaluate('globalThis.longest ?? 0')))
  console.log(`5 MB: longest task ${longest} ms, 11 keys in ${Math.round(typedMs)} ms`)
  expect(longest).toBeLessThan(limitMs)
  expect(chat.problems).toEqual([])
}
