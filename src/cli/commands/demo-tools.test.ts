import { describe, expect, test } from 'vitest'
import { somePlace } from '../../../test/fixtures/session-place.ts'
import type { CallId, ToolContext } from '../../contracts/index.ts'
import { systemClock } from '../../runtime/index.ts'
import { FakeClock, toolContract } from '../../testing/index.ts'
import { demoTools } from './demo-tools.ts'

const inputs: { readonly [tool: string]: { readonly [field: string]: string | number } } = {
  look_up_weather: { city: 'Oslo' },
  look_up_trains: { from: 'Gothenburg', to: 'Oslo' },
  compare_offers: { city: 'Oslo', page: 1 },
}

for (const tool of demoTools(systemClock).filter(({ name }) => name in inputs)) {
  describe(`${tool.name} keeps the contract of tools`, () => {
    for (const { name, run } of toolContract(tool, { good: inputs[tool.name]! })) test(name, run)
  })
}

test('book_room fails as planned, after a while', async () => {
  const clock = new FakeClock()
  const said: string[] = []
  const context: ToolContext = {
    ...somePlace,
    signal: new AbortController().signal,
    callId: 'c' as CallId,
    attempt: 1,
    overlay: {},
    remaining: { steps: 1 },
    confinement: { kind: 'none' },
    searchableTools: () => [],
    agents: [],
    mayUse: () => true,
    ask: async () => ({ kind: 'cancel' }),
    sample: async () => ({ ok: false, error: { class: 'config', message: 'There is no model here.' } }),
    startChild: async () => ({ kind: 'refused', failure: { class: 'config', message: 'There are no agents here.' } }),
    maxOutputBytes: 32_768,
    storedOutput: async () => undefined,
    skills: [],
    progress: (text) => said.push(text),
    output: () => {},
    updatePlan: () => {},
  }
  const output = demoTools(clock)
    .find(({ name }) => name === 'book_room')
    ?.execute({ city: 'Oslo', nights: 2 }, context)
  await clock.elapse(130)
  expect(await output).toEqual({
    ok: false,
    error: {
      class: 'network',
      message: 'The booking system of the hotel does not respond.',
      remedy: 'Try again later, or compare other offers.',
    },
  })
  expect(said).toEqual(['waiting for the hotel'])
})
