import { expect, it } from 'vitest'
import type { Hook } from '../../src/index.ts'
import { bounded, tool, troupeError, world } from '../acceptance/support.ts'
import { settle } from '../settle.ts'

const never = () => new Promise<never>(() => {})

it.each([
  [
    'throws',
    () => {
      throw new Error('the registry is down')
    },
  ],
  ['rejects', () => Promise.reject(new Error('the registry is down'))],
])('a source that %s is reported with its place and a remedy, and asked again the next time', async (_, fail) => {
  let isDown = true
  const sources = [{ list: async () => [] }, { list: () => (isDown ? fail() : Promise.resolve([tool('t')])) }]
  const { runtime } = world({ config: { tools: sources as never }, steps: [{ text: 'Done.' }] })
  const message = 'Source 2 could not list its tools: the registry is down'
  const remedy = 'Fix list() of source 2, or remove the source; then try again.'
  expect(await bounded(runtime.run('go'))).toMatchObject({ status: 'failed', reason: 'config', message, remedy })
  expect(await troupeError(() => runtime.sessions.start('go'))).toMatchObject({ code: 'tools_unavailable', retry: true, message })
  isDown = false
  expect(await bounded(runtime.run('go'))).toMatchObject({ status: 'completed' })
})

it('a source and a hook whose close() never answers do not hold up the end of the runtime', async () => {
  const hook: Hook = { name: 'guard', onFailure: 'open', close: never, beforeCall: () => undefined } as never
  const { runtime, clock } = world({
    config: { tools: [{ list: async () => [], close: never }] as never },
    hooks: [hook],
    steps: [{ text: 'Done.' }],
  })
  await runtime.run('go')
  await settle(runtime.close(), clock)
  expect(clock.monotonic()).toBeLessThan(10_000)
})
