import type { Locator } from 'playwright-core'
import { afterAll, expect, test } from 'vitest'
import { gate } from '../../src/testing/index.ts'
import { openBrowser } from '../browser.ts'
import { openChat } from './chat-page.ts'
import { journalOf } from './journal.ts'
import { tripStories, webScene } from './web-scene.ts'

// Nothing but keys.

const held = gate()
const stories = tripStories(0)
const scene = await webScene({
  stories: { ...stories, trip: [{ when: /everything/, steps: [{ pieces: ['First of all, ', held.promise] }] }, ...(stories.trip ?? [])] },
})
const browser = await openBrowser()
const chat = await openChat(browser, scene)
const { page } = chat
afterAll(async () => {
  await browser.close()
  await scene.close()
})

const isFocused = (target: Locator): Promise<boolean> => target.evaluate((element) => element.contains(element.ownerDocument.activeElement))
const press = (key: string): Promise<void> => page.keyboard.press(key)

/** Moves the focus there, as a person would. */
async function tabTo(target: Locator, key = 'Tab'): Promise<void> {
  await target.waitFor()
  for (let steps = 0; steps < 150; steps++) {
    if (await isFocused(target)) return
    await press(key)
  }
  throw new Error(`${target} is not reached by ${key}`)
}

test('a new session, and a message', async () => {
  await tabTo(chat.sessions.getByRole('link', { name: 'New session' }))
  await press('Enter')
  await tabTo(chat.message)
  await page.keyboard.type('A weekend in Oslo')
  await press('Shift+Enter')
  await page.keyboard.type('by train')
  await press('Enter')
  await chat.id()
  await chat.says(/A weekend in Oslo\s+by train/)
})

test('approve', async () => {
  await tabTo(chat.button('Allow once'))
  await press('Enter')
  await chat.says('Take the')
  const { length } = (await journalOf(scene, await chat.id())).filter(({ type }) => type === 'interaction.approval.resolved')
  expect(length).toBe(1)
})

test('the timeline: move, collapse, expand, details', async () => {
  const tree = chat.timeline.getByRole('tree', { name: 'Operations' })
  const selected = tree.locator('[aria-selected="true"]')
  await tabTo(tree)
  await press('Home')
  const first = await selected.textContent()
  await press('ArrowDown')
  await expect.poll(() => selected.textContent()).not.toBe(first)
  await press('Home')
  await expect.poll(() => selected.textContent()).toBe(first)
  const all = await chat.rows.count()
  await press('ArrowLeft')
  await expect.poll(() => chat.rows.count()).toBeLessThan(all)
  await press('ArrowRight')
  await expect.poll(() => chat.rows.count()).toBe(all)
  for (const key of ['+', '+', '-', '0']) await press(key)
  await press('End')
  await press('Enter')
  await chat.timeline
    .getByText(/Copy|Raw/i)
    .first()
    .waitFor()
  expect(chat.problems).toEqual([])
})

test('the palette: opens, finds, runs, and returns the focus', async () => {
  await tabTo(chat.message)
  const palette = page.getByRole('dialog', { name: 'Commands' })
  await press('Control+k')
  await palette.waitFor()
  expect(await isFocused(palette)).toBe(true)
  await press('Escape')
  await palette.waitFor({ state: 'detached' })
  expect(await isFocused(chat.message)).toBe(true)
  await press('Control+k')
  await page.keyboard.type('agents')
  await press('Enter')
  await page.waitForURL(/#\/agents/)
  await press('Control+k')
  await page.keyboard.type('Oslo')
  await palette.getByText(/Oslo/).first().waitFor()
  await press('Enter')
  await page.waitForURL(/#\/sessions\//)
})

test('stop', async () => {
  await tabTo(chat.message)
  await page.keyboard.type('Tell me everything')
  await press('Enter')
  await chat.says('First of all,')
  await tabTo(chat.button('Stop'))
  await press('Enter')
  await expect
    .poll(async () => (await journalOf(scene, await chat.id())).some(({ type }) => type === 'interaction.cancel.requested'))
    .toBe(true)
  held.open()
  await chat.button('Stop').waitFor({ state: 'detached' })
  expect(chat.problems).toEqual([])
})
