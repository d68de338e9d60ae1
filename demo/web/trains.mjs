import { numberFor, pause, texts } from './simulated.mjs'

const route = { from: 'City of departure', to: 'City of arrival' }

export const lookUpTrains = {
  name: 'look_up_trains',
  description: 'Trains between two cities.',
  inputSchema: texts({ ...route, 'day?': 'The day, such as Friday' }),
  effect: 'read',
  concurrency: 'shared',
  async execute({ from, to }, { signal, progress }) {
    progress('reading the timetable')
    await pause(700, signal)
    const price = 19 + numberFor(`${from}${to}`, 30)
    return [
      '| departs | arrives | price |',
      '|---|---|---|',
      `| ${from} 13:05 | ${to} 16:40 | ${price + 10} € |`,
      `| ${from} 17:05 | ${to} 20:40 | ${price} € |`,
    ].join('\n')
  },
}

export const bookSeat = {
  name: 'book_seat',
  description: 'Books a seat on a train.',
  inputSchema: texts({ ...route, time: 'Departure, such as 17:05' }),
  approval: ({ from, to, time }) => ({
    summary: `Book a seat from ${from} to ${to} at ${time}`,
    keys: [{ key: `seat:${from}-${to}`, label: `seats from ${from} to ${to}` }],
  }),
  async execute({ from, to, time }, { signal, progress }) {
    progress('reserving the seat')
    await pause(800, signal)
    return `Booked: ${from} ${time} to ${to}, coach 4, seat ${10 + numberFor(`${from}${to}${time}`, 60)} at the window.`
  },
}

/** Sessions in which the service has failed once. */
const failedIn = new Set()

export const checkDelays = {
  name: 'check_delays',
  description: 'Whether the trains between two cities are late.',
  inputSchema: texts(route),
  effect: 'read',
  concurrency: 'shared',
  async execute({ from, to }, { signal, progress, sessionId }) {
    progress('asking the operator')
    await pause(700, signal)
    if (failedIn.has(sessionId)) return `${from} to ${to}: all trains are on time.`
    failedIn.add(sessionId)
    return { ok: false, error: { class: 'network', message: 'The operator closed the connection.', remedy: 'Try again.' } }
  },
}
