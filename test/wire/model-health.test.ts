import { expect, it } from 'vitest'
import type { Model } from '../../src/contracts/index.ts'
import { providerModel } from '../../src/models/providers/index.ts'
import { createAgentRuntime, ModelHealth } from '../../src/runtime/index.ts'
import { FakeClock } from '../../src/testing/index.ts'
import { formats, type WireFormat } from './formats.ts'
import { answering, server, usage } from './turn.ts'

const format = formats.find(({ kind }) => kind === 'openai-compatible') as WireFormat

/** A model over HTTP; the same settings always stand for the same account. */
const modelAt = (url: string, model: string, clock: FakeClock): Promise<Model> =>
  providerModel({
    kind: 'openai-compatible',
    provider: 'lab',
    model,
    keyVariable: 'LAB_API_KEY',
    settings: { baseURL: `${url}/v1`, apiKey: 'k' },
    clock,
  })

const refused = (status: number, headers: { readonly [name: string]: string } = {}) => ({
  status,
  headers: { 'content-type': 'application/json', ...headers },
  chunks: [JSON.stringify(format.errorBody(status, 'Not now.'))],
})
const saying = (text: string) => ({ chunks: format.encode({ ...answering, text }) })
const calling = (name: string) => ({
  chunks: format.encode({ calls: [{ id: 'c1', name, input: { prompt: 'Look.' } }], finish: 'tool-calls', usage }),
})

async function stage(names: readonly string[] = ['a', 'b']) {
  const clock = new FakeClock()
  const servers = Object.fromEntries(await Promise.all(names.map(async (name) => [name, await server()] as const)))
  const at = (name: string) => servers[name] as Awaited<ReturnType<typeof server>>
  const models = names.map((name) => `lab/${name}`)
  const agents = [
    { name: 'boss', description: 'd', prompt: 'p', models, agents: ['scout'] },
    { name: 'scout', description: 'd', prompt: 'p', models },
  ]
  const runtime = (modelHealth?: ModelHealth) =>
    createAgentRuntime({
      config: { agents, agentSelection: { agent: 'boss' } },
      adapter: { resolve: (name) => modelAt(at(name.slice(4)).url, name.slice(4), clock) },
      clock,
      ...(modelHealth && { modelHealth }),
    })
  return { clock, at, runtime }
}

it('Retry-After of a model is remembered by children, later steps, later turns and other runtimes, until it expires', async () => {
  const { clock, at, runtime } = await stage()
  at('a').reply(refused(429, { 'retry-after': '30' }))
  at('b').reply(calling('agent__scout'))
  at('b').reply(saying('Found.'))
  at('b').reply(saying('Done.'))
  const first = await runtime().run('Go')
  expect(first).toMatchObject({ status: 'completed', report: { text: 'Done.' } })
  expect(first.diagnostics.map(({ code }) => code)).toContain('model_excluded')
  expect([at('a').requests.length, at('b').requests.length]).toEqual([1, 3])

  await clock.elapse(29_999)
  at('b').reply(saying('Still b.'))
  expect(await runtime().run('Go')).toMatchObject({ report: { text: 'Still b.' } })

  at('a').reply(saying('A table of its own knows nothing.'))
  expect(await runtime(new ModelHealth()).run('Go')).toMatchObject({ report: { text: 'A table of its own knows nothing.' } })

  await clock.elapse(1)
  at('a').reply(saying('And a again.'))
  expect(await runtime().run('Go')).toMatchObject({ report: { text: 'And a again.' }, diagnostics: [] })
  for (const name of ['a', 'b']) at(name).assertDone()
})

it('a refused key is remembered for five minutes; where every model is left out, one is probed per turn', async () => {
  const { clock, at, runtime } = await stage()
  at('a').reply(refused(401))
  at('b').reply(refused(401))
  expect(await runtime().run('Go')).toMatchObject({ status: 'failed', failure: { class: 'auth' } })

  await clock.elapse(60_000)
  at('a').reply(refused(401))
  expect(await runtime().run('Go')).toMatchObject({ status: 'failed', failure: { class: 'auth' } })
  expect([at('a').requests.length, at('b').requests.length]).toEqual([2, 1])

  at('b').reply(saying('The key works again.'))
  expect(await runtime().run('Go')).toMatchObject({ status: 'completed', report: { text: 'The key works again.' } })
  at('b').reply(saying('So b is asked first.'))
  expect(await runtime().run('Go')).toMatchObject({ report: { text: 'So b is asked first.' } })

  await clock.elapse(300_000)
  at('a').reply(saying('Five minutes are over.'))
  expect(await runtime().run('Go')).toMatchObject({ report: { text: 'Five minutes are over.' } })
  for (const name of ['a', 'b']) at(name).assertDone()
})

it('sleeps only when every model is limited, and then no longer than the first of them', async () => {
  const { clock, at, runtime } = await stage()
  at('a').reply(refused(429, { 'retry-after': '40' }))
  at('b').reply(refused(429, { 'retry-after': '20' }))
  for (const text of ['One.', 'Two.']) at('b').reply(saying(text))
  const first = runtime().stream('Go')
  let failed = 0
  for await (const event of first) if (event.type === 'interaction.step.failed' && ++failed === 2) break
  await clock.elapse(19_999)
  const second = runtime().stream('Go')
  for await (const event of second) if (event.type === 'interaction.turn.started') break
  await clock.elapse(0)
  expect(at('b').requests.length).toBe(1)
  await clock.elapse(1)
  expect([(await first.outcome).status, (await second.outcome).status]).toEqual(['completed', 'completed'])
  expect([at('a').requests.length, at('b').requests.length]).toEqual([1, 3])
})

it('a model that has answered after a wait is not waited for again', async () => {
  const { clock, at, runtime } = await stage(['a'])
  at('a').reply(refused(429, { 'retry-after': '120' }))
  for (const reply of [calling('agent__scout'), saying('Found.'), saying('Done.')]) at('a').reply(reply)
  const handle = runtime().stream('Go')
  for await (const event of handle) if (event.type === 'interaction.step.failed') break
  await clock.elapse(60_000)
  expect(await handle.outcome).toMatchObject({ status: 'completed', report: { text: 'Done.' } })
  at('a').assertDone()
})
