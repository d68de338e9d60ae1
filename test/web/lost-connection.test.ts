import fc from 'fast-check'
import { afterAll, expect, test } from 'vitest'
import { gate } from '../../src/testing/index.ts'
import { openBrowser } from '../browser.ts'
import { type Chat, openChat } from './chat-page.ts'
import { cuttingProxy } from './cutting-proxy.ts'
import { answersIn, approve, journalOf, startSession } from './journal.ts'
import { tripStories, webScene } from './web-scene.ts'

// Connections break after any number of bytes, in the middle of events and of characters. In the end the page shows the journal.

const isFull = Boolean(process.env.TROUPE_FULL)
const rounds = isFull ? 40 : 4
const cutsInRound = isFull ? 25 : 5

const browser = await openBrowser()
afterAll(() => browser.close())

/** Bytes of a response until its connection breaks. Its head has about 300: without it the page waits longer before it tries again. */
const bytesOfOne = fc.oneof({ arbitrary: fc.integer({ min: 300, max: 3_000 }), weight: 3 }, fc.integer({ min: 1, max: 30_000 }))
const breaks = fc.array(bytesOfOne, { minLength: cutsInRound, maxLength: cutsInRound })

test('a page whose connection breaks again and again shows exactly what another page shows', async () => {
  const seed = Number(process.env.TROUPE_SEED ?? 1)
  for (const parallel of chunked(fc.sample(breaks, { numRuns: rounds, seed }), 4)) await Promise.all(parallel.map(survives))
})

async function survives(bytes: readonly number[]): Promise<void> {
  const answered = gate()
  const { trip = [], ...children } = tripStories(1)
  const words = { pieces: ['Während wir warten: größer, “schöner”, 日本語, 🚆. ', answered.promise, 'The end.'] }
  const scene = await webScene({ stories: { ...children, trip: [{ when: /window/, steps: [words] }, ...trip] } })
  const proxy = await cuttingProxy(scene.url)
  try {
    const chat = await openChat(browser, scene, { url: proxy.url })
    await chat.message.waitFor()
    const id = await startSession(scene, 'A weekend in Oslo by train')
    await chat.page.goto(`${proxy.url}/#/sessions/${id}`)
    proxy.cut(bytes)
    await approve(scene, id)
    await scene.fetch(`/v1/sessions/${id}/messages`, { json: { input: 'A window seat, please' } })
    await chat.conversation.getByText('Während wir warten').first().waitFor({ timeout: 40_000 })
    answered.open()
    await expect.poll(async () => answersIn(await journalOf(scene, id), id), { timeout: 20_000 }).toHaveLength(2)
    const other = await openChat(browser, scene, { at: id })
    await other.says('The end.')
    proxy.cut([])
    await other.button('Stop').waitFor({ state: 'detached' })
    await expect.poll(() => differences(chat, other), { timeout: 20_000 }).toEqual([])
    for (const answer of answersIn(await journalOf(scene, id), id).slice(-1))
      expect(await chat.conversation.getByText(answer, { exact: true }).count()).toBe(1)
    await Promise.all([chat, other].map((each) => each.close()))
  } finally {
    await proxy.close()
    await scene.close()
  }
}

/** What a person reads. Durations of what runs differ: everything has ended. */
async function shown({ page, rows }: Chat): Promise<{ readonly texts: readonly string[]; readonly rows: readonly string[] }> {
  return { texts: (await page.evaluate(texts)) as readonly string[], rows: await rows.allInnerTexts() }
}

/** Without buttons (other than cards) and announcements: they depend on what the person did and saw before. */
const texts = `(() => {
  const walker = document.createTreeWalker(document.querySelector('[aria-label="Conversation"]'), NodeFilter.SHOW_TEXT)
  const other = 'button:not([aria-expanded]), [aria-live], [role=status], .visually-hidden'
  const found = []
  while (walker.nextNode()) if (!walker.currentNode.parentElement.closest(other)) found.push(walker.currentNode.data)
  return found
})()`

/** Lines that only one of two pages shows. */
async function differences(one: Chat, other: Chat): Promise<readonly string[]> {
  const [first, second] = await Promise.all([shown(one), shown(other)])
  if (first.rows.length < 5 || first.texts.length < 20) return ['nothing is shown']
  const lines = [first, second].map(({ texts, rows }) => [...texts, ...rows])
  return lines.flatMap((own, index) => own.filter((line, at) => line !== lines[1 - index]?.[at]).slice(0, 5))
}

function chunked<Item>(items: readonly Item[], size: number): readonly (readonly Item[])[] {
  return items.length === 0 ? [] : [items.slice(0, size), ...chunked(items.slice(size), size)]
}
