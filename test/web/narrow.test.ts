import type { Locator } from 'playwright-core'
import { afterAll, expect, test } from 'vitest'
import { openBrowser } from '../browser.ts'
import { openChat } from './chat-page.ts'
import { approve, startSession } from './journal.ts'
import { tripStories, webScene } from './web-scene.ts'

// A window of 900 pixels, with all three panes: nothing that people read or use is cut.

const { trip = [], ...children } = tripStories(0)
const usage = { input: 22_936, output: 933 }
const scene = await webScene({
  stories: {
    ...children,
    trip: [
      { when: /Narvik/, steps: [{ fault: { class: 'quota', message: 'The account has no credit left.' } }] },
      ...trip.map((story) => ({ ...story, steps: story.steps.map((step) => ({ ...step, usage, costUsd: 0.0042 })) })),
    ],
  },
})
const browser = await openBrowser()
afterAll(async () => {
  await browser.close()
  await scene.close()
})

const viewport = { width: 900, height: 900 }
const isWhole = (locator: Locator): Promise<boolean> =>
  locator.evaluate((element) => {
    const { scrollWidth, clientWidth } = element as unknown as { readonly scrollWidth: number; readonly clientWidth: number }
    return scrollWidth <= clientWidth
  })

test('approvals, the foot of a turn, jumps, columns and totals', async () => {
  const id = await startSession(scene, 'A weekend in Oslo')
  const chat = await openChat(browser, scene, { at: id, viewport })
  const { page, timeline } = chat
  const reason = page.getByRole('textbox', { name: 'Feedback' })
  await reason.waitFor()
  await reason.fill('Reason (optional)')
  expect(await isWhole(reason)).toBe(true)
  await reason.fill('')
  await approve(scene, id)
  const foot = page.locator('.turn-figures').filter({ hasText: /70\.5k in · 3055 out · .*test\/story$/ })
  await foot.waitFor()
  expect(await isWhole(foot)).toBe(true)
  await timeline.getByRole('button', { name: 'Failed 1' }).waitFor()
  expect(await isWhole(page.locator('.timeline-jump-list'))).toBe(true)
  await timeline.getByRole('combobox', { name: 'Column' }).selectOption('Tokens')
  const figure = chat.rows.locator('.timeline-time').first()
  await figure.getByText('70.5k in').waitFor()
  expect(await isWhole(figure)).toBe(true)
  await timeline.getByRole('tab', { name: 'Summary' }).click()
  expect(await isWhole(page.getByRole('group', { name: 'Summary' }))).toBe(true)
  expect(chat.problems).toEqual([])
  await chat.close()
})

test('an empty account is said with the name of the provider', async () => {
  const chat = await openChat(browser, scene, { at: await startSession(scene, 'To Narvik'), viewport })
  await chat.says('Quota used up at test')
  await chat.says('The account has no credit left.')
  await chat.close()
})
