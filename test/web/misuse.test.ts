import { afterAll, expect, test } from 'vitest'
import { openBrowser } from '../browser.ts'
import { openChat } from './chat-page.ts'
import { startSession } from './journal.ts'
import { tripStories, webScene } from './web-scene.ts'

// Addresses that somebody else wrote, double clicks, keys that are held, reloads at the wrong time, clocks that are wrong.

const scene = await webScene({ stories: tripStories(0) })
const browser = await openBrowser()
const id = await startSession(scene, 'Hello')
afterAll(async () => {
  await browser.close()
  await scene.close()
})

test('an address replaces no token that works, leaves none in the address bar, and names no other route', async () => {
  const chat = await openChat(browser, scene, { at: id })
  await chat.says('Where do you want to go?')
  const requested: string[] = []
  chat.page.on('request', (request) => requested.push(request.url()))
  const dialog = chat.page.getByRole('dialog', { name: 'Another access token' })
  const stored = (): Promise<unknown> => chat.page.evaluate(() => localStorage.getItem('troupe.token'))
  const own = await stored()

  await chat.page.goto(`${scene.url}/#token=forged`)
  await dialog.getByRole('button', { name: 'Keep yours' }).click()
  expect([await chat.id(), await stored()]).toEqual([id, own])

  await chat.page.goto(`${scene.url}/#/sessions/..%2F..%2Fv1%2Fforged`)
  await chat.page.getByRole('heading', { name: 'New session' }).waitFor()
  expect(requested.filter((address) => address.includes('forged') && !address.includes('#'))).toEqual([])

  await chat.page.goto('about:blank')
  await chat.page.goto(`${scene.url}/#token=other-token`)
  await dialog.getByRole('button', { name: 'Use the other token' }).click()
  await chat.page.getByRole('dialog', { name: 'Access token' }).waitFor()
  // The stored one is refused now: the next address is taken without a question.
  await chat.page.goto(scene.address)
  await chat.message.waitFor()
  expect([await stored(), chat.page.url()]).toEqual([own, `${scene.url}/#/new`])
  await chat.close()
})

test('a second click or a key that is held does nothing twice, and answers no other request', async () => {
  const chat = await openChat(browser, scene)
  const posted: string[] = []
  chat.page.on('request', (request) => {
    if (request.method() === 'POST') posted.push(request.url().replace(/^.*\//, ''))
  })
  await chat.message.fill('Hello')
  // Faster than the page is rendered.
  await chat.page.evaluate(`for (let times = 0; times < 5; times++)
    document.activeElement.dispatchEvent(new KeyboardEvent('keydown', { key: 'Enter', bubbles: true, cancelable: true, repeat: times > 0 }))`)
  await chat.says('Where do you want to go?')
  const first = await chat.id()
  await chat.button('Retry').first().dblclick({ force: true })
  await chat.page.waitForURL((address) => address.hash.startsWith('#/sessions/') && !address.hash.includes(first))
  expect(posted).toEqual(['sessions', 'fork', 'messages'])

  await Promise.all(['Weekend in Oslo', 'Weekend in Rome'].map((text) => startSession(scene, text)))
  await chat.page.goto(`${scene.url}/#/approvals`)
  await chat.button('Allow once').nth(1).waitFor()
  const { x = 0, y = 0 } = (await chat.button('Allow once').first().boundingBox()) ?? {}
  await chat.page.mouse.click(x + 5, y + 5)
  await expect.poll(() => chat.button('Allow once').count()).toBe(1)
  await chat.page.mouse.click(x + 5, y + 5)
  expect(posted.slice(3)).toEqual(['call'])
  await chat.button('Allow once').click()
  await expect.poll(() => posted.slice(3)).toEqual(['call', 'call'])

  await Promise.all(['Weekend in Paris', 'Weekend in Vienna'].map((text) => startSession(scene, text)))
  await chat.button('Allow once').nth(1).waitFor()
  await chat.page.locator('.approval:not([data-moved])').first().waitFor()
  await chat.page.evaluate(`for (let times = 0; times < 40; times++) setTimeout(() =>
    document.body.dispatchEvent(new KeyboardEvent('keydown', { key: 'y', bubbles: true, cancelable: true, repeat: times > 0 })), 30 * times)`)
  await expect.poll(() => chat.button('Allow once').count()).toBe(1)
  await chat.page.waitForTimeout(1_300)
  expect(posted.slice(5)).toEqual(['call'])
  await chat.close()
})

test('of two tabs that answer one request together, the second says which answer applies and who gave it', async () => {
  const chat = await openChat(browser, scene, { at: await startSession(scene, 'Weekend in Oslo') })
  const answered: number[] = []
  chat.page.on('response', (response) => {
    if (response.request().method() === 'POST') answered.push(response.status())
  })
  // The other tab is faster by one request.
  await chat.page.route('**/approvals/**', async (route) => {
    await scene.fetch(new URL(route.request().url()).pathname, { json: { kind: 'deny' } })
    await route.continue()
  })
  await chat.button('Allow once').click()
  await chat.page.getByText('Already answered: denied by local.').waitFor()
  await chat.button('Allow once').waitFor({ state: 'detached' })
  expect(answered).toEqual([409])
  await chat.close()
})

test('a message that was not accepted survives a reload; the skip link stays in the session; a wrong clock changes no duration', async () => {
  const chat = await openChat(browser, scene)
  await chat.page.addInitScript(() => {
    const { now } = Date
    Date.now = () => now() + 3_600_000
  })
  await chat.page.route('**/messages', (route) => route.abort())
  await chat.show(id)
  await chat.send('slow words')
  await chat.button('Send again').waitFor()
  await chat.page.unroute('**/messages')
  await chat.page.reload()
  await chat.says('slow words')
  await chat.button('Send again').click()
  await chat.says('This answer takes')
  expect(await chat.conversation.getByText(/^Working · /).innerText()).toMatch(/· [\d.]+ (?:ms|s)$/)
  await chat.button('Skip to content').press('Enter')
  expect(await chat.id()).toBe(id)
  expect(await chat.page.evaluate('document.activeElement.id')).toBe('main')
  await scene.fetch(`/v1/sessions/${id}/interrupt`, { method: 'POST' })
  await chat.close()
})

test('a token whose budget is exhausted sees why, starts no session and keeps its text', async () => {
  const poor = await scene.token({ name: 'poor', budget: { tokensPerDay: 0 } })
  const chat = await openChat(browser, { ...scene, address: `${scene.url}/#token=${poor}` })
  await chat.message.fill('A weekend in Oslo')
  await chat.message.press('Enter')
  await chat.page.getByText('The budget of today is exhausted: the budget of token:poor is 0 tokens a day.').first().waitFor()
  await chat.page.getByText('Raise tokensPerDay of token:poor.').first().waitFor()
  expect(await chat.message.inputValue()).toBe('A weekend in Oslo')
  expect(await (await scene.fetch('/v1/sessions', { token: poor })).json()).toEqual({ sessions: [] })
  await chat.close()
})
