import { numberFor, pause, texts } from './simulated.mjs'

export const planWeekend = {
  name: 'plan_weekend',
  description: 'Plans a whole weekend: asks weather and trains, compares rooms, and keeps a checklist.',
  inputSchema: texts({ city: 'Where to go', from: 'City of departure' }),
  effect: 'read',
  async execute({ city, from }, { signal, progress, updatePlan, startChild }) {
    const names = [`Weather in ${city}, trains from ${from}`, `Rooms in ${city}`, 'Choose the best offer']
    const show = (done) =>
      updatePlan({
        steps: names.map((step, at) => ({ step, status: at < done ? 'completed' : at === done ? 'in_progress' : 'pending' })),
      })
    const ask = async (agent, question) => {
      const result = await startChild({ agent, input: [{ type: 'text', text: question }] }, signal)
      const text = result.kind === 'ended' ? (result.report?.text ?? '') : result.failure.message
      // The label of answers without an LLM: the answer of the caller has it, too.
      return text.replace(/\n\n\(rehearsal[^)]*\)$/, '')
    }
    show(0)
    const [weather, trains] = await Promise.all([
      ask('weather', `What is the weather in ${city} on Saturday?`),
      ask('trains', `Trains from ${from} to ${city} on Friday`),
    ])
    show(1)
    progress('comparing rooms')
    await pause(900, signal)
    show(2)
    await pause(600, signal)
    show(3)
    const price = 74 + numberFor(city, 40)
    return `${weather}\n\n${trains}\n\nRoom: Fjord Inn, ${price} € a night, five minutes from the station.`
  },
}

export const bookRoom = {
  name: 'book_room',
  description: 'Books a room.',
  inputSchema: {
    type: 'object',
    properties: { city: { type: 'string' }, nights: { type: 'integer', minimum: 1 } },
    required: ['city', 'nights'],
    additionalProperties: false,
  },
  approval: ({ city, nights }) => ({
    summary: `Book ${nights} ${nights === 1 ? 'night' : 'nights'} in ${city}`,
    keys: [{ key: `room:${city}`, label: `rooms in ${city}` }],
  }),
  async execute(_input, { signal, progress }) {
    progress('waiting for the hotel')
    await pause(1200, signal)
    return {
      ok: false,
      error: {
        class: 'network',
        message: 'The booking system of the hotel does not respond.',
        remedy: 'Try again later, or choose another hotel.',
      },
    }
  },
}
