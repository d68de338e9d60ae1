import { afterAll, expect, test } from 'vitest'
import { systemClock } from '../../src/runtime/index.ts'
import { utcDay } from '../../src/util/utc-day.ts'
import { openBrowser } from '../browser.ts'
import { violations } from './axe.ts'
import { type Chat, openChat } from './chat-page.ts'
import { startSession } from './journal.ts'
import { tripStories, webScene } from './web-scene.ts'

// Figures of ended turns by day, agent, model and person, and what is left of a budget.

const dayMs = 86_400_000
let shift = 0
const { trip = [], ...children } = tripStories(0)
const scene = await webScene({
  config: { unpriced: ['test/story'] },
  clock: { ...systemClock, now: () => Date.now() + shift },
  stories: {
    ...children,
    trip: [
      { when: /broken/, steps: [{ fault: { class: 'quota', message: 'The account is empty.' } }] },
      { when: /cheap/, steps: [{ text: 'Walk.', costUsd: 0.02, usage: { input: 22_936, output: 933, cacheRead: 11_468 } }] },
      ...trip,
    ],
  },
})
const browser = await openBrowser()
afterAll(async () => {
  await browser.close()
  await scene.close()
})

const open = (options: Parameters<typeof openChat>[2] = {}): Promise<Chat> =>
  openChat(browser, scene, { at: '#/usage', bypassCSP: true, ...options })
const ended = async (input: string): Promise<void> => void (await scene.runtime.sessions.outcome(await startSession(scene, input)))
const table = ({ page }: Chat) => page.getByRole('table')
const rows = async (chat: Chat): Promise<readonly string[]> =>
  (await table(chat).getByRole('row').allInnerTexts()).map((row) => row.replaceAll(/\s+/g, ' ').trim())

test('without a turn it says what will be counted, and how to begin', async () => {
  const chat = await openChat(browser, scene, { bypassCSP: true })
  await chat.sessions.getByRole('link', { name: 'Usage' }).click()
  await chat.page.getByText('No turn has ended in the last 30 days.').waitFor()
  await chat.page.getByText('You have no daily budget.').waitFor()
  expect(await violations(chat.page)).toEqual([])
  await chat.button('Show the last 90 days').click()
  await chat.page.getByText('No turn has ended in the last 90 days.').waitFor()
  await chat.page.getByRole('link', { name: 'Start a session' }).click()
  await chat.page.waitForURL(/#\/new/)
  expect(chat.problems).toEqual([])
  await chat.close()
})

test('cost, tokens, failures and p95 by day, agent, model and person', async () => {
  shift = -2 * dayMs
  await ended('a cheap trip')
  shift = 0
  await ended('a cheap trip')
  await ended('a broken trip')
  const chat = await open()
  const { page } = chat
  await page.getByRole('figure', { name: 'Cost by day' }).waitFor()
  const [today, before] = [utcDay(Date.now()), utcDay(Date.now() - 2 * dayMs)]
  await expect.poll(() => rows(chat)).toHaveLength(4)
  const [head, first, second, all] = await rows(chat)
  expect(head).toBe('Day (UTC) Cost Tokens Turns p95')
  expect(first).toMatch(new RegExp(`^${today} \\$0\\.02 22\\.9k in · 933 out 2 1 failed [\\d.]+ m?s$`))
  expect(second).toMatch(new RegExp(`^${before} \\$0\\.02 22\\.9k in · 933 out 1 [\\d.]+ m?s$`))
  expect(all).toMatch(/^All \$0\.04 45\.9k in · 1866 out 3 1 failed/)
  const columns = page.locator('.usage-day')
  expect(await columns.count()).toBe(30)
  await columns.last().hover()
  await page.getByText(/22\.9k in · 933 out · 2 turns, 1 failed/).waitFor()
  await page.getByRole('button', { name: /^Failures/ }).click()
  await page.getByRole('figure', { name: 'Failures by day' }).waitFor()
  expect(await page.getByRole('button', { name: /^Tokens/ }).innerText()).toContain('50 % of the input from cache')
  expect(await violations(page)).toEqual([])

  await page.getByRole('tab', { name: 'Agent' }).click()
  await page.waitForURL(/#\/usage\/agent$/)
  await expect.poll(() => rows(chat)).toContainEqual(expect.stringMatching(/^trip \$0\.04 .* 3 1 failed/))
  await page.getByRole('tab', { name: 'Model' }).click()
  await expect.poll(() => rows(chat)).toContainEqual(expect.stringMatching(/^test\/story \$0\.04 .* 3 1 failed/))
  await page.getByRole('tab', { name: 'Person' }).click()
  await expect.poll(() => rows(chat)).toContainEqual(expect.stringMatching(/^local \$0\.04/))
  await page.getByRole('combobox', { name: 'Time' }).selectOption('7')
  await page.goBack()
  await expect.poll(() => rows(chat)).toContainEqual(expect.stringMatching(/^test\/story/))
  expect(chat.problems).toEqual([])
  await chat.close()
})

test('a turn that ends is counted without a reload', async () => {
  const chat = await open()
  await expect.poll(() => rows(chat)).toContainEqual(expect.stringMatching(/^All \$0\.04/))
  await ended('a cheap trip')
  await expect.poll(() => rows(chat), { timeout: 5_000 }).toContainEqual(expect.stringMatching(/^All \$0\.06/))
  await chat.close()
})

test('another person sees the own turns, and what is left of the budget of today', async () => {
  const token = await scene.token({ name: 'ann', scopes: ['read', 'run'], budget: { tokensPerDay: 100_000, costUsdPerDay: 0.02 } })
  const started = await scene.fetch('/v1/sessions', { token, json: { agent: 'trip', input: 'a cheap trip' } })
  await scene.runtime.sessions.outcome(((await started.json()) as { readonly sessionId: string }).sessionId)
  const chat = await open({ token, viewport: { width: 390, height: 844 } })
  const { page } = chat
  const budget = page.getByRole('region', { name: 'Your budget of today' })
  await budget.getByText('76,131 left').waitFor()
  expect(await budget.getByText('23,869 of 100,000 used').count()).toBe(1)
  expect(await budget.getByText('Used up').count()).toBe(1)
  await expect.poll(() => rows(chat)).toContainEqual(expect.stringMatching(/^All \$0\.02/))
  expect(await page.getByRole('tab', { name: 'Person' }).count()).toBe(0)
  await page.getByText('These are your own sessions.').waitFor()
  expect(await page.evaluate('document.querySelector(".page").scrollWidth <= document.querySelector(".page").clientWidth')).toBe(true)
  expect(await violations(page)).toEqual([])
  await chat.close()
})
