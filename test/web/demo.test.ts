import type { Locator } from 'playwright-core'
import { afterAll, expect, test } from 'vitest'
import { openBrowser } from '../browser.ts'
import { provider, rightKey } from '../server/model-scene.ts'
import { violations } from './axe.ts'
import { type Chat, openChat } from './chat-page.ts'
import { demoScene, isAlive } from './demo-scene.ts'
import { picture } from './pictures.ts'

// The flows of the demonstration, as people click them, in one browser on one server.

const there = await provider()
const [browser, scene] = await Promise.all([openBrowser(), demoScene({ config: { providers: { openrouter: { baseURL: there.url } } } })])
afterAll(async () => {
  await browser.close()
  await scene.end()
})

const start = (): Promise<Chat> => openChat(browser, scene, { bypassCSP: true })
const card = ({ page }: Chat, title: string): Locator => page.getByRole('button', { name: title }).first()
const strip = ({ page }: Chat): Locator => page.getByRole('region', { name: 'Demonstration' })
const allow = ({ page }: Chat): Locator => page.getByRole('button', { name: /^(?:Approve|Allow once)$/ })
const seconds = 1_000
interface Usage {
  readonly session: { readonly cost: number; readonly status: string }
}

test('the first page has the headline, the team, three cards and finished sessions', async () => {
  const chat = await start()
  const { page } = chat
  await page.getByRole('heading', { name: 'A team of agents that asks before it acts.' }).waitFor()
  const team = page.getByRole('region', { name: 'Agents that lead calls' })
  expect(await team.locator('.graph-name').allInnerTexts()).toEqual(['lead', 'researcher', 'engineer', 'reviewer'])
  expect(await team.getByText('Reviews a change').count()).toBe(1)
  for (const title of ['Fix the failing checkout test', 'Pull the plug', 'Spend no more than 5 cents']) await card(chat, title).waitFor()
  await page.getByRole('note', { name: 'Model' }).getByText('Demo · recorded replies').waitFor()
  await expect.poll(() => chat.sessions.getByText(/Which discount codes|Do the cart tests/).count()).toBe(2)
  expect(await violations(page)).toEqual([])
  await picture(chat, 'demo-start')
  await page.getByRole('link', { name: 'Connect a model' }).click()
  await page.getByLabel('Key', { exact: true }).waitFor()
  await page.getByText('Ollama', { exact: true }).waitFor()
  expect(await violations(page)).toEqual([])
  expect(chat.problems).toEqual([])
  await chat.close()
})

test('a team fixes the failing test: red, a diff that a person allows, green', async () => {
  const chat = await start()
  const began = performance.now()
  // With the keyboard only.
  await card(chat, 'Fix the failing checkout test').focus()
  await chat.page.keyboard.press('Enter')
  await allow(chat).waitFor({ timeout: 30 * seconds })
  await chat.page.getByText('const discount = Math.round(subtotal(items) * rate)').first().waitFor()
  expect(await scene.file('shop-1/src/checkout.js')).toContain('Math.ceil')
  await allow(chat).focus()
  await chat.page.keyboard.press('Enter')
  await strip(chat)
    .getByText(/^4 agents, 16 calls, \$0\.04, [\d.]+ s work/)
    .waitFor({ timeout: 30 * seconds })
  expect(performance.now() - began).toBeLessThan(30 * seconds)
  expect(await scene.file('shop-1/src/checkout.js')).toContain('Math.round(subtotal(items) * rate)')
  await chat.says(/checkout test passes/)
  await strip(chat).getByText('Click any bar').waitFor()
  await strip(chat).getByText('npx troupe init').waitFor()
  expect(await violations(chat.page)).toEqual([])
  await chat.button('See what the model saw').click()
  await chat.rows.and(chat.page.locator('[aria-selected="true"]')).waitFor()
  const { session } = await scene.read<Usage>(`/v1/sessions/${await chat.id()}`)
  expect(session).toMatchObject({ status: 'completed', cost: expect.closeTo(0.04, 2) })
  // Another message gets no recorded answer.
  await chat.send('Now make it faster, please. What does it cost?')
  await chat.says(/Demo mode cannot answer that\. Connect a model/)
  await strip(chat).getByText('try one of these').waitFor()
  expect(await strip(chat).getByRole('button').first().innerText()).toBe('Spend no more than 5 cents')
  await chat.close()
})

test('the plug is pulled three times, and no finished call runs again', async () => {
  const chat = await start()
  await card(chat, 'Pull the plug').click()
  const pull = strip(chat).getByRole('button', { name: /^Pull/ })
  const killed: number[] = []
  for (let times = 0; times < 3; times++) {
    await expect.poll(() => pull.isEnabled().catch(() => false), { timeout: 20 * seconds }).toBe(true)
    // In mid run: something has been finished since.
    if (times === 0) await chat.rows.getByText('run_tests').first().waitFor()
    killed.push(await scene.serverId())
    await pull.click()
    await chat.page
      .getByText(/Reconnecting/)
      .first()
      .waitFor()
  }
  expect(new Set(killed).size).toBe(3)
  await strip(chat)
    .getByText('not run again')
    .first()
    .waitFor({ timeout: 20 * seconds })
  await chat.says(/The shop is fine/)
  await strip(chat)
    .getByText(/continued the session/)
    .waitFor()
  expect(killed.some(isAlive)).toBe(false)
  const { session } = await scene.read<Usage>(`/v1/sessions/${await chat.id()}`)
  expect(session.status).toBe('completed')
  await chat.close()
})

test('six agents share five cents: one falls back to another model, two are refused', async () => {
  const chat = await start()
  await card(chat, 'Spend no more than 5 cents').click()
  await chat.says(/Four of six options are estimated/)
  await chat.says(/gift cards and instalments/)
  await strip(chat)
    .getByText(/^2 agents, 6 calls, \$0\.0[34]/)
    .waitFor()
  await strip(chat).getByText('2 of 6 refused by the budget').waitFor()
  const { session } = await scene.read<Usage>(`/v1/sessions/${await chat.id()}`)
  expect(session.status).toBe('partial')
  expect(session.cost).toBeGreaterThan(0.03)
  expect(session.cost).toBeLessThan(0.05)
  await chat.rows.getByText('rate limit').waitFor()
  await strip(chat)
    .getByRole('link', { name: /11-line file/ })
    .click()
  await chat.page.getByRole('main').getByText('planner').first().waitFor()
  await chat.close()
})

test('a pasted key answers for all agents, until a person goes back to recorded replies', async () => {
  const chat = await start()
  const { page } = chat
  await chat.send('What is the weather?')
  await chat.says(/Demo mode cannot answer that\. Connect a model \(paste a key or use Ollama\)/)
  await strip(chat).getByText('(paste a key or use Ollama), or try one of these').waitFor()
  await picture(chat, 'demo-own-words')
  await strip(chat).getByRole('link', { name: 'Connect a model' }).click()
  await page.getByLabel('Key', { exact: true }).fill(rightKey)
  await chat.button('Test and connect').click()
  await page.getByText('OpenRouter is connected.').waitFor()
  await page.getByRole('button', { name: 'Use openrouter/anthropic/claude-sonnet-5' }).first().click()
  await page.getByText('Demo · openrouter/anthropic/claude-sonnet-5 answers').waitFor()
  await chat.send('What is the weather?')
  await chat.says('Connected.')
  expect(there.requests.filter((request) => request.startsWith('POST'))).not.toEqual([])
  // In the menu of the message, too.
  await page.getByRole('button', { name: 'Model: claude-sonnet-5' }).click()
  await page.getByRole('menuitemradio', { name: 'Recorded replies' }).click()
  await page.getByRole('button', { name: 'Model: Recorded replies' }).waitFor()
  await chat.send('And tomorrow?')
  await chat.says(/Demo mode cannot answer that/)
  expect(await scene.keys()).toBe(`OPENROUTER_API_KEY=${rightKey}\n`)
  await chat.close()
})
