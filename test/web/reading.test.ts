import { afterAll, expect, test } from 'vitest'
import { openBrowser } from '../browser.ts'
import { openChat } from './chat-page.ts'
import { approve, journalOf, startSession } from './journal.ts'
import { tripAgents, tripStories, webScene } from './web-scene.ts'

// Reading long runs: what scrolls, what folds, and what a copy shows.

const { trip = [], ...children } = tripStories(0)
const look = (city: string) => ({ tool: 'look_up_weather', input: { city } })
const browser = await openBrowser()
const scene = await webScene({
  agents: tripAgents.map((agent) => ({ ...agent, limits: { maxToolTurns: 100 } })),
  stories: {
    ...children,
    trip: [
      { when: /tall/, steps: [{ text: 'A paragraph of the long text.\n\n'.repeat(120), calls: [look('Oslo')] }, { text: 'Read it all.' }] },
      {
        when: /all cities/,
        steps: [
          { text: 'I look at all of them.', calls: ['A', 'B', 'C', 'D', 'E'].map(look) },
          ...Array.from({ length: 12 }, (_, index) => ({ reasoning: 'One more.', calls: [look(`City ${index}`)] })),
          { text: 'It is dry everywhere.' },
        ],
      },
      ...trip,
    ],
  },
})
afterAll(async () => {
  await browser.close()
  await scene.close()
})

/** Elements that were scrolled, besides those that are meant to. */
const moved = `[...document.querySelectorAll('*')].filter((each) => each.scrollTop > 0 && !each.matches('.conv, .timeline-scroll'))
  .map((each) => each.className || each.tagName)`

test('selecting a tall step scrolls the conversation, and nothing else', async () => {
  const id = await startSession(scene, 'Something tall')
  await scene.runtime.sessions.outcome(id)
  for (const viewport of [
    { width: 1440, height: 500 },
    { width: 1000, height: 400 },
  ]) {
    const chat = await openChat(browser, scene, { at: id, viewport })
    await chat.says('Read it all.')
    await chat.rows.and(chat.page.locator('[data-kind="step"]')).first().click()
    await expect.poll(() => chat.page.locator('.conv').evaluate(({ scrollTop }) => scrollTop)).toBeLessThan(200)
    expect(await chat.page.evaluate(moved)).toEqual([])
    await chat.page.evaluate('document.body.scrollTop = 50; document.documentElement.scrollTop = 50')
    expect(await chat.page.evaluate(moved)).toEqual([])
    await chat.button('Jump to latest').click()
    await chat.button('Jump to latest').waitFor({ state: 'detached' })
    expect(chat.problems).toEqual([])
    await chat.close()
  }
})

test('many calls in a row are one line, which opens for what is selected in it', async () => {
  const id = await startSession(scene, 'Look at all cities')
  await scene.runtime.sessions.outcome(id)
  const chat = await openChat(browser, scene, { at: id })
  await chat.says('It is dry everywhere.')
  await chat.says('I look at all of them.')
  expect(await chat.conversation.locator('.call-card').count()).toBe(2)
  const [few, many] = ['5 × look_up_weather', '12 × look_up_weather'].map((name) =>
    chat.conversation.getByRole('button', { name: new RegExp(name) }),
  )
  await few?.click()
  await chat.conversation.getByRole('button', { name: /look_up_weather A/ }).waitFor()
  expect(await many?.getAttribute('aria-expanded')).toBe('false')
  await chat.rows.and(chat.page.locator('[data-kind="call"]')).filter({ hasText: 'City 3' }).first().click()
  await chat.conversation.locator('.call-card[data-selected]').filter({ hasText: 'City 3' }).waitFor()
  await many?.click()
  expect(await chat.conversation.locator('.call-card').filter({ hasText: 'City 3' }).count()).toBe(0)
  expect(chat.problems).toEqual([])
  await chat.close()
})

test('a copy from before the first message has no turn in which nothing happened', async () => {
  const id = await startSession(scene, 'hello')
  await scene.runtime.sessions.outcome(id)
  const chat = await openChat(browser, scene, { at: id })
  await chat.says('Hello. Where do you want to go?')
  await chat.page.getByRole('group', { name: 'Messages' }).getByText('hello', { exact: true }).hover()
  await chat.button('Retry').first().click()
  await chat.page.waitForURL((url) => !url.href.includes(id))
  await chat.says('Hello. Where do you want to go?')
  expect((await journalOf(scene, await chat.id())).some(({ type }) => type === 'interaction.turn.interrupted')).toBe(true)
  expect(await chat.rows.and(chat.page.locator('[data-kind="turn"]')).count()).toBe(1)
  await chat.rows.getByText('turn 1').waitFor()
  expect(chat.problems).toEqual([])
  await chat.close()
})

test('the timeline leads to the slowest and to each that failed, and shows tokens', async () => {
  const id = await startSession(scene, 'A weekend in Oslo')
  await approve(scene, id)
  await scene.runtime.sessions.outcome(id)
  const chat = await openChat(browser, scene, { at: id })
  await chat.says('Take the')
  const selected = chat.rows.and(chat.page.locator('[aria-selected="true"]'))
  await chat.timeline.getByRole('button', { name: 'Failed 1' }).click()
  await selected.filter({ hasText: 'book_room' }).waitFor()
  await chat.timeline.getByRole('button', { name: /^Slowest \d/ }).click()
  await selected.filter({ hasNotText: 'book_room' }).waitFor()
  await chat.rows.getByText('story · asks weather, trains').waitFor()
  await chat.timeline.getByRole('combobox', { name: 'Column' }).selectOption('Tokens')
  await chat.rows.locator('.timeline-time').getByText('420 in').first().waitFor()
  expect(chat.problems).toEqual([])
  await chat.close()
})
