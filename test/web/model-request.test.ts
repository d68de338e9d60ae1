import type { Locator } from 'playwright-core'
import { afterAll, expect, test } from 'vitest'
import { openBrowser } from '../browser.ts'
import { type Chat, openChat } from './chat-page.ts'
import { approve, journalOf, startSession } from './journal.ts'
import { tripStories, webScene } from './web-scene.ts'

// What the model saw, in the details of a step.

const { trip = [], ...children } = tripStories(0)
const usage = { input: 12_400, output: 230, cacheRead: 9_300, cacheWrite: 2_100, reasoning: 120 }
const scene = await webScene({
  stories: {
    ...children,
    trip: [
      { when: /long/, steps: [{ text: 'I have read it all.', usage }] },
      { when: /streams/, steps: [{ text: 'One word after the other.', pauseMs: 5 }] },
      ...trip,
    ],
  },
})
const browser = await openBrowser()
afterAll(async () => {
  await browser.close()
  await scene.close()
})

const stepRows = ({ rows }: Chat): Locator => rows.and(rows.page().locator('[data-kind="step"]'))
const details = ({ page }: Chat): Locator => page.getByRole('region', { name: 'Details' })
const tab = (chat: Chat, name: string): Locator => details(chat).getByRole('tab', { name })

test('a step shows its request, what is new in it, and what it used', async () => {
  const id = await startSession(scene, 'A weekend in Oslo')
  await approve(scene, id)
  await scene.runtime.sessions.outcome(id)
  const chat = await openChat(browser, scene, { at: id })
  await stepRows(chat).first().click()
  await tab(chat, 'Request').click()
  await details(chat).getByText('You are trip. Plan short journeys by rail.').waitFor()
  expect(await details(chat).getByText('new', { exact: true }).count()).toBe(0)

  const rows = await stepRows(chat).count()
  await stepRows(chat)
    .nth(rows - 1)
    .click()
  await details(chat).getByText('New since the step before: 2 messages').waitFor()
  const folds = details(chat).locator('.request-message')
  expect(await folds.count()).toBe(5)
  expect(await details(chat).locator('.request-message-new').count()).toBe(2)
  expect(await folds.nth(4).textContent()).toContain('Result of book_room: failed')
  await details(chat).getByRole('button', { name: 'look_up_weather' }).click()
  await details(chat)
    .getByText(/^\{\s+"type": "object"/)
    .waitFor()

  await tab(chat, 'Tokens').click()
  await details(chat).getByText('420 tokens').waitFor()
  await tab(chat, 'Response').click()
  await details(chat).getByText('Take the').first().waitFor()
  await chat.button('Close details').click()
  await chat.button('What the model saw').click()
  await details(chat).getByText('New since the step before: 2 messages').waitFor()
  expect(chat.problems).toEqual([])
  await chat.close()
})

test('a reply that streams has a time to its first token', async () => {
  const id = await startSession(scene, 'It streams')
  await scene.runtime.sessions.outcome(id)
  const chat = await openChat(browser, scene, { at: id })
  await stepRows(chat).first().click()
  await tab(chat, 'Tokens').click()
  await details(chat)
    .getByText(/^after \d+ ms$/)
    .waitFor()
  await chat.timeline.getByRole('tab', { name: 'Summary' }).click()
  await chat.timeline.getByText(/^first token \d+ ms$/).waitFor()
  await chat.close()
})

test('a message is asked again in a branch, with another text', async () => {
  const id = await startSession(scene, 'hello')
  await scene.runtime.sessions.outcome(id)
  const chat = await openChat(browser, scene, { at: id })
  await stepRows(chat).first().click()
  await chat.button('Ask again…').click()
  const dialog = chat.page.getByRole('dialog', { name: 'Ask again' })
  expect(await dialog.getByRole('textbox').inputValue()).toBe('hello')
  await dialog.getByRole('combobox', { name: 'Model' }).selectOption('test/story')
  await dialog.getByRole('textbox').fill('hello again')
  const sent = chat.page.waitForRequest((request) => request.url().endsWith('/messages'))
  await dialog.getByRole('button', { name: 'Send as new branch' }).click()
  expect((await sent).postDataJSON()).toMatchObject({ input: [{ type: 'text', text: 'hello again' }], models: ['test/story'] })
  await chat.page.waitForURL((url) => !url.href.includes(id))
  await chat.conversation.getByText('hello again').last().waitFor()
  await chat.says('Hello. Where do you want to go?')
  expect((await journalOf(scene, id)).filter(({ type }) => type === 'interaction.turn.started').length).toBe(1)
  expect(chat.problems).toEqual([])
  await chat.close()
})

test('a token without admin is told why it sees no request', async () => {
  const token = await scene.token({ name: 'reader', scopes: ['run', 'read'] })
  const chat = await openChat(browser, scene, { token })
  await chat.message.waitFor()
  await chat.send('hello')
  await chat.says('Hello. Where do you want to go?')
  await stepRows(chat).first().click()
  await tab(chat, 'Request').click()
  await details(chat).getByText('it lacks the scope “admin”').waitFor()
  expect(chat.problems).toEqual([])
  await chat.close()
})

const observe = `new PerformanceObserver((list) => {
  for (const { duration } of list.getEntries()) globalThis.longest = Math.max(globalThis.longest ?? 0, duration)
}).observe({ type: 'longtask' })`

test('a request of five megabytes does not stop the page', async () => {
  const line = 'Words of a long text, with **some** markup and `code`.\n'
  const id = await startSession(scene, `This is long.\n${line.repeat(Math.ceil((5 * 2 ** 20) / line.length))}`)
  await scene.runtime.sessions.outcome(id)
  await scene.fetch(`/v1/sessions/${id}/messages`, { json: { input: 'long again' } })
  await scene.runtime.sessions.outcome(id)
  const chat = await openChat(browser, scene, { at: id })
  await stepRows(chat).nth(1).click()
  await tab(chat, 'Tokens').click()
  await details(chat).getByText('9,300 · 75 %').waitFor()
  await chat.page.evaluate(observe)
  await tab(chat, 'Request').click()
  await details(chat).getByText('New since the step before: 2 messages').waitFor()
  await details(chat)
    .getByRole('button', { name: /^User.*This is long/ })
    .click()
  await details(chat)
    .getByRole('button', { name: /Show more/ })
    .click()
  await details(chat).getByRole('button', { name: 'Show less' }).waitFor()
  // Observers hear of a task when it is over.
  await chat.page.evaluate('new Promise((resolve) => requestAnimationFrame(() => setTimeout(resolve)))')
  const longest = Math.round(Number(await chat.page.evaluate('globalThis.longest ?? 0')))
  console.log(`request of 5 MB: longest task ${longest} ms`)
  // A quiet machine needs a fifth of it.
  expect(longest).toBeLessThan(1_000)
  expect(chat.problems).toEqual([])
  await chat.close()
})

test('an older step, a failure, and thousands of messages', async () => {
  const id = await startSession(scene, 'hello')
  await scene.runtime.sessions.outcome(id)
  const messages = Array.from({ length: 5_000 }, (_, index) => ({ role: 'user', parts: [{ type: 'text', text: `Message ${index}` }] }))
  const answers = [
    { status: 404, json: { error: { code: 'request_not_recorded', message: 'The tools of step t1.s1 were not recorded.' } } },
    { status: 500, json: { error: { code: 'internal', message: 'The store failed.', remedy: 'Look at the log.' } } },
    { status: 200, json: { system: 'Plan.', messages, tools: [], toolChoice: 'auto', parameters: {} } },
  ]
  const said = [/^Tools were not recorded/, 'The store failed. Look at the log.', 'Show 200 earlier messages of 4,940']
  for (const [index, answer] of answers.entries()) {
    const chat = await openChat(browser, scene, { at: id })
    await chat.page.route('**/model-request?*', (route) => route.fulfill(answer))
    await stepRows(chat).first().click()
    await tab(chat, 'Request').click()
    await details(chat)
      .getByText(said[index] ?? '')
      .waitFor()
    if (answer.status === 200) {
      expect(await details(chat).locator('.request-message').count()).toBe(60)
      await details(chat)
        .getByText(said[index] ?? '')
        .click()
      await expect.poll(() => details(chat).locator('.request-message').count()).toBe(260)
      expect(chat.problems).toEqual([])
    }
    await chat.close()
  }
})
