import type { Clock, JsonObject, Tool, ToolContext } from '../../contracts/index.ts'

/** The simulated tools of `troupe demo`. They only wait for a moment and return fixed texts. */
export function demoTools(clock: Clock): readonly Tool[] {
  return [
    {
      name: 'look_up_weather',
      description: 'The forecast for a city.',
      inputSchema: textFields('city'),
      effect: 'read',
      concurrency: 'shared',
      async execute({ city }, { signal }) {
        await pause(clock, 260, signal)
        return `${city}: dry on Saturday, 14 °C, light wind from the fjord.`
      },
    },
    {
      name: 'look_up_trains',
      description: 'Trains between two cities on the next Friday.',
      inputSchema: textFields('from', 'to'),
      effect: 'read',
      concurrency: 'shared',
      async execute({ from, to }, { signal }) {
        await pause(clock, 190, signal)
        return `${from} to ${to}: 13:05 → 16:40, 17:05 → 20:40.`
      },
    },
    {
      name: 'book_room',
      description: 'Books a room.',
      inputSchema: {
        type: 'object',
        properties: { city: { type: 'string' }, nights: { type: 'integer', minimum: 1 } },
        required: ['city', 'nights'],
        additionalProperties: false,
      },
      approval: ({ city, nights }) => ({
        summary: `Book ${nights} nights in ${city}`,
        keys: [{ key: `room:${city}`, label: `rooms in ${city}` }],
      }),
      async execute(_input, context) {
        return failedBooking(clock, context)
      },
    },
    {
      name: 'compare_offers',
      description: 'A page of offers for a room. There is always a next page.',
      inputSchema: {
        type: 'object',
        properties: { city: { type: 'string' }, page: { type: 'integer', minimum: 1 } },
        required: ['city', 'page'],
        additionalProperties: false,
      },
      effect: 'read',
      concurrency: 'shared',
      execute: (input, context) => nextOffers(clock, input, context),
    },
  ]
}

async function failedBooking(clock: Clock, context: ToolContext) {
  context.progress('waiting for the hotel')
  await pause(clock, 130, context.signal)
  return {
    ok: false,
    error: {
      class: 'network',
      message: 'The booking system of the hotel does not respond.',
      remedy: 'Try again later, or compare other offers.',
    },
  } as const
}

async function nextOffers(clock: Clock, { city, page }: JsonObject, { signal }: ToolContext): Promise<string> {
  await pause(clock, 110, signal)
  const price = 101 - Number(page) * 5
  return `${city}, page ${page}: Fjord Inn, ${price} € a night. The next page may be cheaper.`
}

function textFields(...names: readonly string[]) {
  const properties = Object.fromEntries(names.map((name) => [name, { type: 'string' }]))
  return { type: 'object', properties, required: names, additionalProperties: false }
}

/** Ends early when the call is cancelled. */
function pause(clock: Clock, ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const stop = (): void => {
      cancel()
      reject(new Error('cancelled'))
    }
    const cancel = clock.after(ms, () => {
      signal.removeEventListener('abort', stop)
      resolve()
    })
    if (signal.aborted) stop()
    else signal.addEventListener('abort', stop, { once: true })
  })
}
