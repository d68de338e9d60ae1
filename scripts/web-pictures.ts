// Writes docs/images/web-NAME-WIDTH-THEME.png: the web chat of a real server, in a real browser, with a scripted model.
// `npm run pictures:web`, or `node scripts/web-pictures.ts FOLDER [NAME…]` for some of them elsewhere. `npm run build` comes first.
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import type { Page } from 'playwright-core'
import type { Tool } from '../src/contracts/index.ts'
import { systemClock } from '../src/runtime/index.ts'
import { gate } from '../src/testing/index.ts'
import { askUserTool } from '../src/tools/builtin/ask-user.ts'
import { updatePlanTool } from '../src/tools/builtin/update-plan.ts'
import { openBrowser } from '../test/browser.ts'
import { type Chat, openChat } from '../test/web/chat-page.ts'
import { approve, startSession } from '../test/web/journal.ts'
import type { Stories } from '../test/web/story-model.ts'
import { tripAgents, tripStories, tripTools, webScene } from '../test/web/web-scene.ts'

const [folder = join(import.meta.dirname, '../docs/images'), ...wanted] = process.argv.slice(2)
mkdirSync(folder, { recursive: true })

const model = 'example/large'
const hotels = gate()

// The same day in every picture. The clock does not move while they are taken.
const started = Date.now()
let from = Date.parse('2026-05-12T17:40:00Z')
let frozen: number | undefined
const now = (): number => frozen ?? from + Date.now() - started
const trip = 'A weekend in Oslo by train, not expensive'
const plan = (done: number): { readonly tool: string; readonly input: object } => ({
  tool: 'update_plan',
  input: {
    plan: ['Ask about weather and trains', 'Find a room', 'Write the itinerary'].map((step, index) => ({
      step,
      status: index < done ? 'completed' : index === done ? 'in_progress' : 'pending',
    })),
  },
})

const hotel = (where: string): { readonly tool: string; readonly input: object } => ({
  tool: 'agent__hotels',
  input: { prompt: `Oslo, Friday to Sunday, ${where}`, reason: 'As an alternative' },
})

const itinerary = `diff --git a/itinerary.md b/itinerary.md
--- a/itinerary.md
+++ b/itinerary.md
@@ -1,5 +1,7 @@
 # Oslo
 
-Friday: leave at 13:05
+Friday: leave at 17:05, arrive at 20:40
+Saturday: dry, 14 °C. Walk along the fjord
 
 Sunday: back at 16:00
`

const writeFile: Tool = {
  name: 'write_file',
  description: 'Writes a file.',
  inputSchema: { type: 'object', properties: { path: { type: 'string' }, content: { type: 'string' } }, required: ['path', 'content'] },
  approval: ({ path }) => ({
    summary: `Write ${path}`,
    keys: [{ key: `path:${path}`, label: String(path) }],
    diff: itinerary,
  }),
  execute: ({ path }) => `${path} was written`,
}

function stories(): Stories {
  const { trip: steps = [], ...children } = tripStories(6)
  const [, , main] = steps
  const [ask, book, answer] = main?.steps ?? []
  return {
    ...children,
    hotels: [
      {
        when: /last time/,
        steps: [
          { calls: [{ tool: 'look_up_rooms', input: { city: 'Oslo, two nights' } }], costUsd: 0.002 },
          { text: 'The one by the station costs 89 € a night.', pauseMs: 20, costUsd: 0.002 },
        ],
      },
      {
        steps: [
          { text: 'Let me look for something near the station.', calls: [{ tool: 'look_up_rooms', input: { city: 'Oslo, two nights' } }] },
          { pieces: ['Three hotels are near the station. The cheapest one ', hotels.promise, 'costs 89 € a night.'] },
        ],
      },
    ],
    trip: [
      {
        when: /itinerary/,
        steps: [
          {
            text: 'I add what we decided.',
            calls: [
              { tool: 'write_file', input: { path: 'itinerary.md', content: '# Oslo\n…', reason: 'The train and the weather are new' } },
            ],
          },
        ],
      },
      {
        when: /anniversary/,
        steps: [
          {
            calls: [
              {
                tool: 'ask_user',
                input: { question: 'Do you want to stay in the city or by the sea?', options: ['In the city', 'By the sea'] },
              },
            ],
          },
        ],
      },
      { when: /Bergen/, steps: [{ text: 'The night train leaves Oslo at 23:03 and is in **Bergen** at 06:51.', costUsd: 0.004 }] },
      { when: /Copenhagen/, steps: [{ text: 'Direct trains take **3 h 20 min**, every two hours.', costUsd: 0.003 }] },
      {
        when: /Narvik/,
        steps: [{ fault: { class: 'quota', message: 'The account has no credit left.', remedy: 'Add credit, or choose another model.' } }],
      },
      {
        when: /with a room/,
        steps: [
          { ...ask, calls: [plan(0), ...(ask?.calls ?? [])], costUsd: 0.006 },
          { text: 'The 17:05 fits. Now a room.', calls: [plan(1), hotel('last time'), ...(book?.calls ?? [])], costUsd: 0.008 },
          { calls: [plan(3)], costUsd: 0.004 },
          { ...answer, costUsd: 0.011 },
        ],
      },
      {
        steps: [
          { ...ask, calls: [plan(0), ...(ask?.calls ?? [])], costUsd: 0.006 },
          {
            ...book,
            text: 'The 17:05 fits, and Saturday stays dry. I look for hotels, and ask for the room by the station that you had last time.',
            calls: [plan(1), hotel('near the station'), ...(book?.calls ?? [])],
            costUsd: 0.008,
          },
          { ...answer, costUsd: 0.011 },
        ],
      },
    ],
  }
}

/** As a provider reports them. */
const withCosts = (all: Stories): Stories =>
  Object.fromEntries(
    Object.entries(all).map(([agent, those]) => [
      agent,
      those.map((story) => ({ ...story, steps: story.steps.map((step) => ({ costUsd: 0.0021, ...step })) })),
    ]),
  )

const [orchestrator, ...others] = tripAgents
if (!orchestrator) throw new Error('There is no agent.')
const scene = await webScene({
  stories: withCosts(stories()),
  id: model,
  clock: { ...systemClock, now },
  agents: [
    {
      ...orchestrator,
      model,
      agents: ['weather', 'trains', 'hotels'],
      template: '---\ndescription: Plans a weekend by rail\nmodels: [example/large]\nagents: [./weather.ai, ./trains.ai, ./hotels.ai]\n---',
      examples: [trip, 'A day in Copenhagen, back before midnight', 'Where can I be in six hours from Gothenburg?'],
      limits: { maxToolTurns: 12, maxTokens: 200_000, timeBudget: 600_000 },
    },
    ...others.map((agent) => ({ ...agent, model })),
    {
      name: 'hotels',
      description: 'Finds rooms',
      usage: 'a city and the nights',
      prompt: 'You are hotels. Find a room.',
      model,
      tools: ['look_up_rooms'],
      output: { format: 'markdown' },
    },
  ],
  tools: [
    ...tripTools,
    { ...(tripTools[0] as Tool), name: 'look_up_rooms', description: 'Free rooms in a city.' },
    updatePlanTool(),
    askUserTool(),
    writeFile,
  ],
})

// Pages take their time from the answers of the server.
scene.http.prependListener('request', (_, response) => response.setHeader('date', new Date(now()).toUTCString()))

/** Sessions, oldest first. Weekdays differ. */
const today = from
for (const day of [24, 23, 20, 19, 18, 17, 13, 12, 11, 9, 6, 5, 4, 2]) {
  from = today - day * 86_400_000
  for (let count = (day * 7) % 5; count >= 0; count--)
    await scene.runtime.sessions.outcome(
      await startSession(scene, count === 3 ? 'To Narvik in winter' : count % 2 === 0 ? 'By night train to Bergen' : 'A day in Copenhagen'),
    )
}
from = today
for (const input of ['A day in Copenhagen, back before midnight', 'To Narvik in winter', 'By night train to Bergen'])
  await scene.runtime.sessions.outcome(await startSession(scene, input))
from = Date.parse('2026-05-14T09:30:00Z')
await startSession(scene, 'A trip for our anniversary')
await startSession(scene, 'Update the itinerary')
const ended = await startSession(scene, 'Another weekend in Oslo, with a room')
await approve(scene, ended)
await scene.runtime.sessions.outcome(ended)
const running = await startSession(scene, trip)

const browser = await openBrowser()

const budgeted = await scene.token({ name: 'ann', scopes: ['admin'], budget: { tokensPerDay: 100_000, costUsdPerDay: 2 } })

interface Picture {
  readonly name: string
  readonly at: string
  /** Default: the local one. */
  readonly token?: string
  readonly widths?: readonly number[]
  /** Until everything is there. */
  ready(chat: Chat, width: number): Promise<unknown>
}

const showTimeline = async ({ page }: Chat, width: number): Promise<void> => {
  if (width < 900) await page.getByRole('tab', { name: 'Timeline' }).click()
}

const pictures: readonly Picture[] = [
  { name: 'new', at: '#/new/trip', ready: ({ message }) => message.waitFor() },
  {
    name: 'session',
    at: running,
    async ready({ button, page }) {
      await button('Allow once').waitFor()
      await page.getByText('The cheapest one').first().waitFor()
    },
  },
  {
    name: 'timeline',
    at: running,
    widths: [390],
    async ready(chat, width) {
      await chat.button('Allow once').waitFor()
      await showTimeline(chat, width)
      await chat.rows.nth(5).waitFor()
    },
  },
  { name: 'approvals', at: '#/approvals', ready: ({ button }) => button('Allow once').nth(1).waitFor() },
  { name: 'usage', at: '#/usage', token: budgeted, ready: ({ page }) => page.getByRole('figure').waitFor() },
  { name: 'usage-model', at: '#/usage/agent', token: budgeted, ready: ({ page }) => page.getByRole('table').waitFor() },
  { name: 'agents', at: '#/agents/trip', ready: ({ page }) => page.getByRole('main').getByText('hotels').first().waitFor() },
  {
    name: 'finished',
    at: ended,
    async ready(chat, width) {
      await chat.says('Take the')
      if (width >= 900) await chat.timeline.getByRole('tab', { name: 'Summary' }).click()
    },
  },
]

async function take({ name, at, token, widths = [1440, 900, 390], ready }: Picture): Promise<void> {
  if (wanted.length > 0 && !wanted.includes(name)) return
  for (const width of widths)
    for (const colorScheme of ['light', 'dark'] as const) {
      const isPhone = width === 390
      const chat = await openChat(browser, scene, {
        at,
        ...(token !== undefined && { token }),
        prepare,
        viewport: { width, height: isPhone ? 844 : 900 },
        isMobile: isPhone,
        hasTouch: isPhone,
        colorScheme,
        reducedMotion: 'reduce',
        timezoneId: 'UTC',
      })
      await ready(chat, width)
      await still(chat.page)
      await chat.page.screenshot({ path: join(folder, `web-${name}-${width}-${colorScheme}.png`), animations: 'disabled', caret: 'hide' })
      if (chat.problems.length > 0) throw new Error(`${name}: ${chat.problems.join('\n')}`)
      await chat.close()
    }
}

/** The time of the server. */
const prepare = async (page: Page): Promise<void> => {
  if (frozen !== undefined) await page.clock.setFixedTime(frozen)
}

/** Fonts are there, and what was last changed is painted. */
const still = (page: Page): Promise<unknown> =>
  page.evaluate('document.fonts.ready.then(() => new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve))))')

// Everything that the pictures show of the run has happened.
const began = now()
for await (const event of scene.runtime.sessions.events(running, { until: 'closed' }))
  if (event.type === 'interaction.item.delta' && event.text.includes('cheapest')) break
frozen = Math.max(now(), began + 2_400)

for (const picture of pictures) await take(picture)
hotels.open()
await browser.close()
await scene.close()
