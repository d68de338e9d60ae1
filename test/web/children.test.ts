import { afterAll, expect, test } from 'vitest'
import { openBrowser } from '../browser.ts'
import { openChat } from './chat-page.ts'
import { approve, startSession } from './journal.ts'
import { tripAgents, tripStories, tripTools, webScene } from './web-scene.ts'

// What the page says about children: their task, their result, and what failed inside.

const [trip] = tripStories(0).trip?.slice(-1) ?? []
const booking = { tool: 'book_room', input: { city: 'Oslo', nights: 2, reason: 'Two nights' } }
const browser = await openBrowser()
const scene = await webScene({
  stories: {
    trip: [{ steps: [...(trip?.steps.slice(0, 1) ?? []), { text: 'Take the train.' }] }],
    weather: [{ steps: [{ text: 'Saturday stays dry.' }] }],
    trains: [{ steps: [{ calls: [booking] }, { text: 'The 17:05 fits.' }] }],
  },
  agents: tripAgents.map((agent) => (agent.name === 'trains' ? { ...agent, tools: ['book_room'] } : agent)),
  tools: tripTools,
})
afterAll(async () => {
  await browser.close()
  await scene.close()
})

test('a child is named by its task, and says what failed inside, in its card, in the timeline and in the details', async () => {
  const id = await startSession(scene, 'A weekend in Oslo')
  const chat = await openChat(browser, scene, { at: id })
  const card = chat.conversation.getByRole('button', { name: /trains.*From Gothenburg to Oslo on Friday evening/ })
  await card.waitFor()
  expect(await card.innerText()).not.toContain('failed inside')
  await approve(scene, id)
  await chat.says('Take the train.')
  expect(await card.innerText()).toContain('The 17:05 fits.')
  await chat.button('1 failed inside').click()
  await chat.conversation.locator('.call-card[data-selected]').filter({ hasText: 'book_room' }).waitFor()
  await chat.rows.and(chat.page.locator('[aria-selected="true"]')).filter({ hasText: 'book_room' }).waitFor()
  const row = chat.rows.filter({ hasText: 'trains' }).filter({ hasText: '1 failed' })
  await row.click()
  const details = chat.page.getByRole('region', { name: 'Details' })
  for (const text of ['From Gothenburg to Oslo on Friday evening', 'The 17:05 fits.', 'Failed inside'])
    await details.getByText(text).first().waitFor()
  expect(chat.problems).toEqual([])
})
