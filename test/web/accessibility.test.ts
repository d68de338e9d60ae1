import { afterAll, expect, test } from 'vitest'
import { gate } from '../../src/testing/index.ts'
import { openBrowser } from '../browser.ts'
import { violations } from './axe.ts'
import { type Chat, openChat } from './chat-page.ts'
import { approve, startSession } from './journal.ts'
import { tripStories, webScene } from './web-scene.ts'

// axe finds nothing, in light and dark. Focus is visible. Nothing moves for those who asked for it.

const held = gate()
const { trip = [], ...children } = tripStories(0)
const scene = await webScene({
  stories: { ...children, trip: [{ when: /held/, steps: [{ pieces: ['It begins, ', held.promise, 'it ends.'] }] }, ...trip] },
})
const browser = await openBrowser()
afterAll(async () => {
  await browser.close()
  await scene.close()
})

const session = await startSession(scene, 'A weekend in Oslo by train, not expensive')
/** The policy of the page does not allow axe to add its styles. */
const open = (at?: string, width = 1440): Promise<Chat> =>
  openChat(browser, scene, { bypassCSP: true, viewport: { width, height: 900 }, ...(at !== undefined && { at }) })

test('pages', async () => {
  const chat = await open()
  await chat.message.waitFor()
  expect(await violations(chat.page), 'new session').toEqual([])
  for (const place of ['agents', 'agents/trip', 'extensions', 'approvals', 'settings']) {
    await chat.page.goto(`${scene.url}/#/${place}`)
    await chat.page.getByRole('main').getByRole('heading').first().waitFor()
    expect(await violations(chat.page), place).toEqual([])
  }
  await chat.page.keyboard.press('Control+k')
  await chat.page.getByRole('dialog', { name: 'Commands' }).waitFor()
  expect(await violations(chat.page), 'palette').toEqual([])
  await chat.close()
})

test('a session that needs a decision, with its timeline, and on a phone', async () => {
  const chat = await open(session)
  await chat.button('Allow once').waitFor()
  expect(await violations(chat.page), 'approval').toEqual([])
  await chat.rows.nth(2).click()
  expect(await violations(chat.page), 'details').toEqual([])
  await chat.page.setViewportSize({ width: 390, height: 844 })
  expect(await violations(chat.page), 'phone').toEqual([])
  await chat.page.getByRole('tab', { name: 'Timeline' }).click()
  expect(await violations(chat.page), 'phone timeline').toEqual([])
  await chat.button('Show sessions').click()
  expect(await violations(chat.page), 'drawer').toEqual([])
  await chat.close()
})

test('a session that runs, and one that has ended', async () => {
  const running = await open(await startSession(scene, 'held'))
  await running.says('It begins,')
  expect(await violations(running.page), 'running').toEqual([])
  held.open()
  await running.close()
  await approve(scene, session)
  const ended = await open(session)
  await ended.says('Take the')
  expect(await violations(ended.page), 'ended').toEqual([])
  await ended.timeline.getByRole('tab', { name: 'Summary' }).click()
  expect(await violations(ended.page), 'summary').toEqual([])
  await ended.close()
})

test('the dialog for a token', async () => {
  const chat = await openChat(browser, scene, { bypassCSP: true, token: 'wrong' })
  const dialog = chat.page.getByRole('dialog', { name: 'Access token' })
  await dialog.waitFor()
  expect(await violations(chat.page)).toEqual([])
  // The browser closes a dialog at the second Escape.
  for (let i = 0; i < 3; i++) await chat.page.keyboard.press('Escape')
  await dialog.waitFor()
  await chat.page.getByLabel('Token', { exact: true }).fill('other')
  await chat.close()
})

/** The focused element, and whether it looks different from what it looks like without the focus. */
const focused = `(() => {
  const element = document.activeElement
  if (!element || element === document.body) return undefined
  const look = (target) => {
    const { outlineStyle, outlineWidth, outlineColor, boxShadow, borderColor, backgroundColor } = getComputedStyle(target)
    return [outlineStyle === 'none' ? '' : outlineWidth + outlineColor, boxShadow, borderColor, backgroundColor].join()
  }
  const boxes = [element, element.parentElement, element.parentElement?.parentElement].filter(Boolean)
  const active = element.getAttribute('aria-activedescendant')
  if (active) boxes.push(document.getElementById(active))
  const before = boxes.map(look).join('|')
  element.blur()
  const after = boxes.map(look).join('|')
  element.focus()
  return { name: element.outerHTML.slice(0, 120), isVisible: before !== after }
})()`

test('the focus is visible on everything that it reaches', async () => {
  const chat = await open(session)
  await chat.says('Take the')
  const hidden = new Set<string>()
  const reached = new Set<string>()
  for (let presses = 0; presses < 60; presses++) {
    await chat.page.keyboard.press('Tab')
    const at = (await chat.page.evaluate(focused)) as { readonly name: string; readonly isVisible: boolean } | undefined
    if (!at) break
    reached.add(at.name)
    if (!at.isVisible) hidden.add(at.name)
  }
  expect([...hidden]).toEqual([])
  expect(reached.size).toBeGreaterThan(10)
  await chat.close()
})

test('reduced motion: nothing is animated', async () => {
  const id = await startSession(scene, 'A weekend in Oslo by train')
  const chat = await openChat(browser, scene, { at: id, reducedMotion: 'reduce' })
  await chat.button('Allow once').waitFor()
  const moving = `document.getAnimations().length`
  expect(await chat.page.evaluate(moving)).toBe(0)
  await chat.page.emulateMedia({ colorScheme: 'dark' })
  expect(await chat.page.evaluate(moving)).toBe(0)
  await chat.close()
})
