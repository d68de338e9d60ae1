import { readFile } from 'node:fs/promises'
import { afterAll, expect, test } from 'vitest'
import type { ExtensionStatus } from '../../src/contracts/index.ts'
import { openBrowser } from '../browser.ts'
import { violations } from './axe.ts'
import { openChat } from './chat-page.ts'
import { tripAgents, webScene } from './web-scene.ts'

// What an agent is told to be, what it may do and when it asks, whom it calls, and a new agent from it.

const notes: ExtensionStatus = {
  id: 'notes',
  name: 'Notes',
  version: '1.0.0',
  description: 'Keeps notes.',
  state: 'untrusted',
  source: 'project',
  runs: 'nowhere',
  trusted: false,
  capabilities: [],
  problems: [],
}
const template = '---\ndescription: Plans a weekend by rail\ntoolName: plan\nmodels: [test/story]\n---'
const scene = await webScene({
  agents: tripAgents.map((agent) =>
    agent.name === 'trip' ? { ...agent, template, prompt: 'You are trip. Plan short journeys by rail.\n\nSay {{ price }}.' } : agent,
  ),
  rest: { extensions: () => [notes] },
  config: { approvals: { rules: [{ deny: 'look_up_trains' }] } },
})
const browser = await openBrowser()
afterAll(async () => {
  await browser.close()
  await scene.close()
})

test('the prompt comes first, then tools with descriptions and approvals, then the team', async () => {
  const chat = await openChat(browser, scene, { at: '#/agents/trip', bypassCSP: true })
  const { page } = chat
  await page.getByText('You are trip. Plan short journeys by rail.').waitFor()
  const titles = await page.locator('.section-title').allInnerTexts()
  expect(titles.slice(0, 3)).toEqual(['Prompt', 'Tools', 'Agents that it calls'])
  const tools = page.getByRole('region', { name: 'Tools' }).getByRole('listitem')
  const texts = (await tools.allInnerTexts()).map((text) => text.replaceAll(/\s+/g, ' ').trim())
  expect(texts).toEqual([
    'book_room asks first Books a room.',
    'look_up_trains forbidden by a rule Trains between two cities on the next Friday.',
    'look_up_weather The forecast for a city.',
  ])
  const graph = page.getByRole('region', { name: 'Agents that trip calls' })
  const [box, child] = await Promise.all([graph.boundingBox(), graph.getByRole('link', { name: /weather/ }).boundingBox()])
  expect(box && child && (child.x + child.width - box.x) / box.width).toBeGreaterThan(0.8)
  expect(await violations(page)).toEqual([])
  await graph.getByRole('link', { name: /weather/ }).click()
  await page.getByText('You are weather.').waitFor()
  await page.getByText('1 tool. None needs approval.').waitFor()
  expect(await page.getByText('You are trip.').count()).toBe(0)
  expect(chat.problems).toEqual([])
  await chat.close()
})

test('a new agent from this one: its file, to copy and to download', async () => {
  const chat = await openChat(browser, scene, { at: '#/agents/trip', bypassCSP: true, viewport: { width: 390, height: 844 } })
  const { page } = chat
  await chat.page.getByText('You are trip.').waitFor()
  await chat.button('Start a new agent from this one').click()
  const dialog = page.getByRole('dialog', { name: 'Start a new agent from this one' })
  const name = dialog.getByLabel('Name')
  expect(await name.inputValue()).toBe('trip-copy')
  await name.fill('weather')
  await dialog.getByText('There is an agent weather already.').waitFor()
  expect(await dialog.getByRole('button', { name: /^Download/ }).isDisabled()).toBe(true)
  await name.fill('../x')
  await dialog.getByText('Use letters, digits, - and _.').waitFor()
  await name.fill('sea-trip')
  expect(await violations(page)).toEqual([])
  const download = page.waitForEvent('download')
  await dialog.getByRole('button', { name: 'Download sea-trip.ai' }).click()
  expect((await download).suggestedFilename()).toBe('sea-trip.ai')
  expect(await readFile(await (await download).path(), 'utf8')).toBe(
    '---\ndescription: Plans a weekend by rail\nmodels: [test/story]\n---\n{% raw %}You are trip. Plan short journeys by rail.\n\nSay {{ price }}.{% endraw %}\n',
  )
  await dialog.getByRole('button', { name: 'Close' }).click()
  await page.getByRole('link', { name: 'Try it' }).click()
  await page.waitForURL(/#\/new\/trip/)
  await chat.close()
})

test('without admin: the names of tools, and a sentence instead of the prompt', async () => {
  const token = await scene.token({ name: 'reader', scopes: ['read'] })
  const chat = await openChat(browser, scene, { at: '#/agents/weather', token })
  await chat.page.getByText('Your token cannot read prompts: it lacks the scope “admin”.').waitFor()
  await chat.page.getByRole('region', { name: 'Tools' }).getByText('look_up_weather').waitFor()
  expect(await chat.page.getByText('You are weather.').count()).toBe(0)
  expect(chat.problems).toEqual([])
  await chat.close()
})

test('an extension that nobody has trusted is off, and the page leads to it', async () => {
  const chat = await openChat(browser, scene, { bypassCSP: true })
  const { page } = chat
  const text = 'Notes is off: you haven’t trusted it yet.'
  await page.getByText(text).waitFor()
  expect(await violations(page)).toEqual([])
  await page.getByRole('link', { name: 'Review' }).click()
  const row = page.getByRole('listitem', { name: 'Notes' })
  await row.getByText(text).waitFor()
  await row.getByText('troupe extensions trust notes').waitFor()
  await page.goto(`${scene.url}/#/agents`)
  await chat.button('Close').click()
  expect(await page.getByText(text).count()).toBe(0)
  const token = await scene.token({ name: 'guest', scopes: ['read'] })
  const guest = await openChat(browser, scene, { token, at: '#/agents' })
  await guest.page.getByRole('main').getByText('trip', { exact: true }).waitFor()
  expect(await guest.page.getByText(text).count()).toBe(0)
  await guest.close()
  await chat.close()
})
