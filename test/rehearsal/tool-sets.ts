import type { Tool } from '../../src/contracts/index.ts'
import { list, object, text } from './stage.ts'

// Tools as people write them: some describe their parameters, most do not.

const read = { effect: 'read', concurrency: 'shared' } as const

export const travel: readonly Tool[] = [
  {
    name: 'look_up_weather',
    description: 'The forecast for a city.',
    inputSchema: object({ city: text }),
    ...read,
    execute: ({ city }) => `${city}: dry on Saturday, 14 °C, light wind from the fjord.`,
  },
  {
    name: 'look_up_trains',
    description: 'Trains between two cities.',
    inputSchema: object({ from: text, to: text, date: text }, ['from', 'to']),
    ...read,
    execute: ({ from, to }) => `${from} to ${to}: 13:05 → 16:40, 17:05 → 20:40.`,
  },
  {
    name: 'book_room',
    description: 'Books a room in a hotel.',
    inputSchema: object({ city: text, nights: { type: 'integer', minimum: 1 }, breakfast: { type: 'boolean' } }, ['city', 'nights']),
    execute: () => ({
      ok: false,
      error: {
        class: 'network',
        message: 'The booking system of the hotel does not answer.',
        remedy: 'Try again later, or compare other offers.',
      },
    }),
  },
  {
    name: 'compare_offers',
    description: 'A page of offers for a room.',
    inputSchema: object({ city: text, page: { type: 'integer', minimum: 1 } }),
    ...read,
    execute: ({ city, page }) => `${city}, page ${page}: Fjord Inn, 96 € a night.`,
  },
]

export const files: readonly Tool[] = [
  {
    name: 'read_file',
    description: 'Reads a file.',
    inputSchema: object({ path: text, max_lines: { type: 'integer', minimum: 1 } }, ['path']),
    ...read,
    execute: ({ path }) => `The text of ${path}.`,
  },
  {
    name: 'write_file',
    description: 'Writes a text to a file.',
    inputSchema: object({ path: text, content: text, append: { type: 'boolean' } }, ['path', 'content']),
    execute: ({ path, content }) => `Wrote ${String(content).length} characters to ${path}.`,
  },
  {
    name: 'list_files',
    description: 'Lists the files of a folder.',
    inputSchema: object({ path: { ...text, default: '.' }, recursive: { type: 'boolean' } }, ['path']),
    ...read,
    execute: () => ({ ok: true, content: '["README.md","src/index.ts","src/main.ts"]' }),
  },
  {
    name: 'search_files',
    description: 'Searches the files of a folder for a pattern.',
    inputSchema: object({ pattern: text, path: text }, ['pattern']),
    ...read,
    execute: ({ pattern }) => `src/main.ts:3: // ${pattern}`,
  },
  {
    name: 'shell',
    description: 'Runs a command in a shell.',
    inputSchema: object({ command: text }),
    execute: ({ command }) => `$ ${command}\nok`,
  },
]

export const office: readonly Tool[] = [
  {
    name: 'calendar.create_event',
    description: 'Puts a meeting into the calendar.',
    inputSchema: object({ title: text, date: text, time: text, attendees: list(text) }, ['title', 'date']),
    execute: ({ title, date }) => `"${title}" is in the calendar for ${date}.`,
  },
  {
    name: 'calendar.list_events',
    description: 'Lists the meetings of a day.',
    inputSchema: object({ date: text }),
    ...read,
    execute: ({ date }) =>
      JSON.stringify({
        date,
        events: [
          { title: 'Stand-up', time: '09:00' },
          { title: 'Lunch', time: '12:00' },
        ],
      }),
  },
  {
    name: 'send_email',
    description: 'Sends an e-mail.',
    inputSchema: object({ to: { ...text, description: 'Address of the recipient' }, subject: text, body: text }),
    execute: ({ to }) => `Sent to ${to}.`,
  },
  {
    name: 'create_task',
    description: 'Adds a task to the to-do list.',
    inputSchema: object({ title: text, due: text, priority: { ...text, enum: ['low', 'normal', 'high'] } }, ['title']),
    execute: ({ title }) => `Task "${title}" is on the list.`,
  },
  {
    name: 'list_tasks',
    description: 'Lists the tasks that are open.',
    inputSchema: object({ priority: { ...text, enum: ['low', 'normal', 'high'] } }, []),
    ...read,
    execute: () =>
      JSON.stringify([
        { title: 'Pay the rent', due: 'Friday' },
        { title: 'Call Anna', due: null },
      ]),
  },
]

const unit = { ...text, enum: ['km', 'mile', 'm', 'foot', 'kg', 'pound', 'celsius', 'fahrenheit'] }

export const maths: readonly Tool[] = [
  {
    name: 'add',
    description: 'Adds two numbers.',
    inputSchema: object({ a: { type: 'number' }, b: { type: 'number' } }),
    ...read,
    execute: ({ a, b }) => String(Number(a) + Number(b)),
  },
  {
    name: 'average',
    description: 'The mean of some numbers.',
    inputSchema: object({ numbers: { ...list({ type: 'number' }), minItems: 1 } }),
    ...read,
    execute: ({ numbers }) => String((numbers as number[]).reduce((sum, each) => sum + each, 0) / (numbers as number[]).length),
  },
  {
    name: 'convert_units',
    description: 'Converts a value from one unit to another.',
    inputSchema: object({ value: { type: 'number' }, from_unit: unit, to_unit: unit }),
    ...read,
    execute: ({ value, from_unit, to_unit }) => `${value} ${from_unit} in ${to_unit}`,
  },
]

const agent = (name: string, description: string, answers: (prompt: string) => string): Tool => ({
  name: `agent__${name}`,
  description,
  inputSchema: object({ prompt: text }),
  ...read,
  execute: ({ prompt }) => answers(String(prompt)),
})

export const agents: readonly Tool[] = [
  agent('researcher', 'Finds out facts and gives sources.', (prompt) => `Three facts about: ${prompt}\n\n(rehearsal: rules, no LLM)`),
  agent('summariser', 'Makes long texts short.', (prompt) => `In short: ${prompt.slice(0, 40)}`),
  agent('critic', 'Looks for weak points in a text.', () => 'The second claim has no source.'),
]

export const shop: readonly Tool[] = [
  {
    name: 'search_products',
    description: 'Finds products in the shop.',
    inputSchema: object({ query: text, category: { ...text, enum: ['shirts', 'shoes', 'hats'] }, max_price: { type: 'number' } }, [
      'query',
    ]),
    ...read,
    execute: () => JSON.stringify({ products: [{ id: 'S1', name: 'Linen shirt', price: 39 }] }),
  },
  {
    name: 'order_product',
    description: 'Orders a product.',
    inputSchema: object(
      {
        product: text,
        size: { ...text, enum: ['S', 'M', 'L'] },
        colour: { ...text, enum: ['red', 'blue', 'dark_green'] },
        quantity: { type: 'integer', minimum: 1, default: 1 },
        gift_wrap: { type: 'boolean' },
        delivery: object({ city: text, express: { type: 'boolean' } }, ['city']),
      },
      ['product', 'size', 'quantity'],
    ),
    execute: ({ product, size, quantity }) => `Ordered ${quantity} × ${product} in ${size}.`,
  },
  {
    name: 'track_order',
    description: 'Tells where a parcel is.',
    inputSchema: object({ order_id: text }),
    ...read,
    execute: ({ order_id }) => `${order_id} is on its way.`,
  },
]
