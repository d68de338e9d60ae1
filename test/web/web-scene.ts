import { join } from 'node:path'
import type { Page } from 'playwright-core'
import { systemClock } from '../../src/runtime/index.ts'
import { webRoutes } from '../../src/server/web/index.ts'
import { tripToolsOf } from '../fixtures/trip-tools.ts'
import { localToken, type Served, type ServedOptions, serve } from '../server/support.ts'
import { type Stories, storyModel } from './story-model.ts'

// A team on a real server, with the built web chat. `npm run build` comes first.

type SceneOptions = Omit<ServedOptions, 'routes'> & {
  readonly stories?: Stories
  /** The name of the model. */
  readonly id?: string
}

export interface Scene extends Served {
  /** The address with the token, as `troupe serve` prints it. */
  readonly address: string
}

export async function webScene({ stories = tripStories(), id, ...options }: SceneOptions = {}): Promise<Scene> {
  const served = await serve({
    agents: tripAgents,
    tools: tripTools,
    model: storyModel(stories, id),
    ...options,
    routes: () => webRoutes(join(import.meta.dirname, '../../dist/web')),
  })
  return { ...served, address: `${served.url}/#token=${localToken}` }
}

/** Fails the test if the page reports a problem or requests anything from elsewhere. */
export function watchPage(page: Page, url: string): readonly string[] {
  const problems: string[] = []
  page.on('console', (message) => {
    if (message.type() === 'error' || message.type() === 'warning') problems.push(message.text())
  })
  page.on('pageerror', (error) => problems.push(String(error)))
  page.on('request', (request) => {
    const address = request.url()
    if (!address.startsWith(url) && !/^(?:blob|data):/.test(address)) problems.push(`requests ${address}`)
  })
  return problems
}

const model = 'test/story'
export const tripAgents: NonNullable<ServedOptions['agents']> = [
  {
    name: 'trip',
    description: 'Plans a weekend by rail',
    usage: 'A weekend in Oslo by train, not expensive',
    prompt: 'You are trip. Plan short journeys by rail.',
    model,
    tools: ['*'],
    agents: ['weather', 'trains'],
  },
  {
    name: 'weather',
    description: 'Knows the forecast of a city',
    usage: 'a city and a day',
    prompt: 'You are weather. Say what the weather will be.',
    model,
    tools: ['look_up_weather'],
    output: { format: 'markdown' },
  },
  {
    name: 'trains',
    description: 'Knows timetables',
    usage: 'from where to where',
    prompt: 'You are trains. Say which train fits.',
    model,
    tools: ['look_up_trains'],
    output: { format: 'markdown' },
  },
]

/** `look_up_weather`, `look_up_trains`, `book_room`. */
export const tripTools = tripToolsOf(systemClock).slice(0, 3)

/** The trip, the answers of its children, and some short ones. `pauseMs`: between two words. */
export function tripStories(pauseMs = 8): Stories {
  return {
    trip: [
      { when: /hello/i, steps: [{ text: 'Hello. Where do you want to go?', pauseMs }] },
      { when: /slow/i, steps: [{ text: 'This answer takes its time, word by word, and goes on and on. '.repeat(30), pauseMs: 60 }] },
      {
        steps: [
          {
            reasoning: 'Weather and trains do not depend on each other, so I ask for both in parallel.',
            text: 'Let me ask about the weather and the trains.',
            calls: [
              { tool: 'agent__weather', input: { prompt: 'Oslo on Saturday', reason: 'Will it rain?' } },
              { tool: 'agent__trains', input: { prompt: 'From Gothenburg to Oslo on Friday evening', reason: 'Which train fits?' } },
            ],
            pauseMs,
          },
          {
            text: 'The 17:05 is good. Now a room.',
            calls: [{ tool: 'book_room', input: { city: 'Oslo', nights: 2, reason: 'Two nights by the station' } }],
            pauseMs,
          },
          {
            text: [
              'Take the **17:05 from Gothenburg** on Friday; it is in Oslo at 20:40. Saturday stays dry at 14 °C.\n\n',
              '| train | arrives | price |\n|---|---|---|\n| 13:05 | 16:40 | 39 € |\n| 17:05 | 20:40 | 29 € |\n\n',
              'The room is not booked, because the system of the hotel did not answer. To try again:\n\n',
              '```sh\ntroupe run trip.ai "Book a room in Oslo"\n```\n',
            ].join(''),
            pauseMs,
          },
        ],
      },
    ],
    weather: [
      {
        steps: [
          { calls: [{ tool: 'look_up_weather', input: { city: 'Oslo' } }], pauseMs },
          { text: 'Saturday stays **dry**, 14 °C.', pauseMs },
        ],
      },
    ],
    trains: [
      {
        steps: [
          { calls: [{ tool: 'look_up_trains', input: { from: 'Gothenburg', to: 'Oslo' } }], pauseMs },
          { text: 'The 17:05 arrives at 20:40.', pauseMs },
        ],
      },
    ],
  }
}
