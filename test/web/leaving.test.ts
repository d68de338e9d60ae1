import { afterAll, expect, test } from 'vitest'
import { revokeToken } from '../../src/server/http/index.ts'
import { gate } from '../../src/testing/index.ts'
import { openBrowser } from '../browser.ts'
import { openChat, openTab } from './chat-page.ts'
import { startSession } from './journal.ts'
import { tripStories, webScene } from './web-scene.ts'

// Tokens that are no longer accepted, sessions that are deleted elsewhere, browsers without JavaScript.

const { trip = [], ...children } = tripStories(0)
const rest = gate()
const scene = await webScene({
  stories: {
    ...children,
    trip: [{ when: /halves/, steps: [{ pieces: ['The first half, ', rest.promise, 'the second half.'] }] }, ...trip],
  },
})
const browser = await openBrowser()
afterAll(async () => {
  await browser.close()
  await scene.close()
})

test('a token that is no longer accepted: the page asks for another one, and continues where it was, as do other tabs', async () => {
  const token = await scene.token({ name: 'old', scopes: ['admin'] })
  const id = await startSession(scene, 'In two halves')
  const chat = await openChat(browser, scene, { at: id, token })
  await chat.says('The first half,')
  await chat.message.fill('What I was about to say')
  await revokeToken(scene.store.records, 'old')
  await chat.message.press('Enter')
  const dialog = chat.page.getByRole('dialog', { name: 'Access token' })
  await dialog.waitFor()
  const other = await openTab(chat, scene, id)
  await other.page.getByRole('dialog', { name: 'Access token' }).waitFor()
  await dialog.getByLabel('Token').fill(`${scene.url}/#token=wrong`)
  await dialog.getByRole('button').click()
  await dialog.waitFor()
  await dialog.getByLabel('Token').fill(scene.address)
  await dialog.getByRole('button').click()
  await dialog.waitFor({ state: 'detached' })
  await other.says('The first half,')
  expect(await chat.id()).toBe(id)
  await chat.says('What I was about to say')
  await chat.button('Send again').click()
  rest.open()
  await chat.says('The first half, the second half.')
  await chat.button('Send again').waitFor({ state: 'detached' })
  await chat.close()
})

test('a token that is revoked while nobody does anything: the page says so, and asks for another one', async () => {
  const token = await scene.token({ name: 'quiet', scopes: ['admin'] })
  const chat = await openChat(browser, scene, { token })
  await chat.message.waitFor()
  await revokeToken(scene.store.records, 'quiet')
  const dialog = chat.page.getByRole('dialog', { name: 'Access token' })
  await dialog.getByText('The token was revoked or has expired.').waitFor()
  await dialog.getByLabel('Token').fill(scene.address)
  await dialog.getByRole('button').click()
  await dialog.waitFor({ state: 'detached' })
  await chat.close()
})

test('a page for whose stream there is no place says so, and continues when there is one', async () => {
  const small = await webScene({ server: { streams: { perToken: 1 } } })
  const chat = await openChat(browser, small)
  await chat.message.waitFor()
  const other = await openTab(chat, small)
  const banner = other.page.getByText('This token has 1 open stream, which is the limit.')
  await banner.waitFor()
  await chat.page.close()
  await banner.waitFor({ state: 'detached' })
  await chat.close()
  await small.close()
})

test('without a token the page asks for one, and shows nothing else', async () => {
  const chat = await openChat(browser, scene, { token: 'none' })
  await chat.page.getByRole('dialog', { name: 'Access token' }).waitFor()
  expect(await chat.page.content()).not.toContain('Plans a weekend')
  await chat.close()
})

test('a session that is deleted in another tab says so', async () => {
  const id = await startSession(scene, 'Hello')
  const chat = await openChat(browser, scene, { at: id })
  await chat.says('Where do you want to go?')
  const other = await openTab(chat, scene)
  const item = other.sessions.getByRole('listitem').filter({ hasText: /^Hello$/ })
  await item.hover()
  await item.getByRole('button', { name: /^Actions for/ }).click()
  await other.page.getByRole('menuitem', { name: 'Delete' }).click()
  await other.page
    .getByRole('dialog')
    .getByRole('button', { name: /^Delete/ })
    .click()
  await chat.page
    .getByRole('main')
    .getByText(/deleted/i)
    .first()
    .waitFor()
  expect(await chat.sessions.getByText('Hello').count()).toBe(0)
  expect(chat.problems).toEqual([])
  await chat.page.reload()
  await chat.page
    .getByRole('main')
    .getByText(/deleted|does not exist/i)
    .first()
    .waitFor()
  await chat.context.close()
})

test('a browser without JavaScript gets a sentence', async () => {
  const context = await browser.newContext({ javaScriptEnabled: false })
  const page = await context.newPage()
  const problems: string[] = []
  page.on('console', (message) => problems.push(message.text()))
  await page.goto(scene.url)
  expect(await page.locator('body').innerText()).toMatch(/needs JavaScript/)
  expect(problems).toEqual([])
  await context.close()
})
