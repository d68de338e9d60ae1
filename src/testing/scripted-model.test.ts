import { describe, expect, test } from 'vitest'
import type { Message, ModelPart, ModelRequest, TroupeError } from '../contracts/index.ts'
import { gate } from './gate.ts'
import { modelContract } from './model-contract.ts'
import { ScriptedModel, type ScriptedStep } from './scripted-model.ts'

const ask = (text = 'hello'): ModelRequest => ({
  system: '',
  messages: [{ role: 'user', parts: [{ type: 'text', text }] }],
  tools: [],
  toolChoice: 'auto',
  parameters: {},
})
const live = (): AbortSignal => new AbortController().signal

async function all(stream: AsyncIterable<ModelPart>): Promise<ModelPart[]> {
  const parts: ModelPart[] = []
  for await (const part of stream) parts.push(part)
  return parts
}
function collect(model: ScriptedModel, request = ask(), signal = live()): Promise<ModelPart[]> {
  return all(model.stream(request, { signal }))
}
function thrownBy(action: () => void): TroupeError {
  try {
    action()
  } catch (error) {
    return error as TroupeError
  }
  return expect.unreachable()
}

describe('keeps the contract of models', () => {
  const steps = {
    text: { text: 'One two three.', chunks: 3 },
    calls: { calls: [{ tool: 'look', input: { at: 'sea' } }, { tool: 'look' }] },
    fault: { text: 'One', fault: { class: 'network', message: 'gone' } },
    silence: { text: 'One', fault: 'silence' },
  } satisfies { [name: string]: ScriptedStep }
  for (const { name, run } of modelContract((behaviour) => new ScriptedModel([steps[behaviour]]))) test(name, run)
})

test('a reply has its parts in order, calls with ids of their own', async () => {
  const model = new ScriptedModel([
    {
      reasoning: 'Hm.',
      text: 'abcde',
      chunks: 2,
      calls: [
        { tool: 'a', input: { x: 1 } },
        { tool: 'b', input: '{"x":' },
      ],
      usage: { input: 7 },
      costUsd: 0.5,
    },
    { calls: [{ tool: 'c' }, { tool: 'd', id: 'mine' }], finish: 'length' },
    { text: 'whole', chunks: ['wh', 'ole'] },
  ])
  expect(await collect(model)).toEqual([
    { type: 'reasoning', text: 'Hm.' },
    { type: 'text', text: 'abc' },
    { type: 'text', text: 'de' },
    { type: 'call', id: 'call_1', name: 'a', input: '{"x":1}' },
    { type: 'call', id: 'call_2', name: 'b', input: '{"x":' },
    { type: 'finish', reason: 'tool-calls', usage: { input: 7, output: 0, cacheRead: 0, cacheWrite: 0, reasoning: 0 }, costUsd: 0.5 },
  ])
  expect(await collect(model)).toEqual([
    { type: 'call', id: 'call_3', name: 'c', input: '{}' },
    { type: 'call', id: 'mine', name: 'd', input: '{}' },
    { type: 'finish', reason: 'length' },
  ])
  expect(await collect(model)).toEqual([
    { type: 'text', text: 'wh' },
    { type: 'text', text: 'ole' },
    { type: 'finish', reason: 'stop' },
  ])
  model.assertDone()
})

test('1: a step is taken when the request is made, and may depend on it', async () => {
  const model = new ScriptedModel([(request, index) => ({ text: `${index}:${request.messages.length}` }), { text: 'second' }])
  const first = model.stream(ask(), { signal: live() })
  const second = await collect(model)
  expect([await all(first), second].map((parts) => parts[0])).toEqual([
    { type: 'text', text: '0:1' },
    { type: 'text', text: 'second' },
  ])
})

test('2: a recorded request is a frozen copy', async () => {
  const model = new ScriptedModel([{ text: 'ok' }])
  const messages: Message[] = [...ask('first').messages]
  await collect(model, { ...ask(), messages })
  messages.push({ role: 'user', parts: [] })
  expect(model.requests).toEqual([ask('first')])
  expect(() => (model.requests[0]!.messages as Message[]).push(messages[0]!)).toThrow(TypeError)
  expect(() => Object.assign(model.requests[0]!.messages[0]!, { role: 'tool' })).toThrow(TypeError)
})

test('3: a request too many fails and is remembered', async () => {
  const model = new ScriptedModel([{ text: 'only' }], { id: 'scripted/one' })
  await collect(model)
  expect(await collect(model)).toEqual([
    { type: 'error', failure: { class: 'config', message: 'scripted/one: the script has 1 step, this is request 2' } },
  ])
  const error = thrownBy(() => model.assertDone())
  expect([error.code, error.problems]).toEqual([
    'script_mismatch',
    [{ place: 'requests[1]', message: 'the script has 1 step, this is request 2' }],
  ])
})

test('3: a rejected request fails and is remembered', async () => {
  const model = new ScriptedModel([
    {
      text: 'never said',
      check(request) {
        if (request.tools.length === 0) throw new Error('no tools offered')
      },
    },
  ])
  expect(await collect(model)).toEqual([{ type: 'error', failure: { class: 'config', message: 'scripted/model: no tools offered' } }])
  expect(thrownBy(() => model.assertDone()).problems).toEqual([{ place: 'requests[0]', message: 'no tools offered' }])
})

test('steps not taken are listed', () => {
  const model = new ScriptedModel([{ text: 'Hi', calls: [{ tool: 'add' }] }, { fault: 'cut' }, () => ({}), {}])
  expect(thrownBy(() => model.assertDone()).problems).toEqual([
    { place: 'steps[0]', message: 'never asked for: "Hi", call of add' },
    { place: 'steps[1]', message: 'never asked for: cut' },
    { place: 'steps[2]', message: 'never asked for: a function' },
    { place: 'steps[3]', message: 'never asked for: an empty reply' },
  ])
})

test('a cut reply stops half-way without a finish', async () => {
  const model = new ScriptedModel([{ text: 'abcd', chunks: 4, fault: 'cut' }])
  expect(await collect(model)).toEqual([
    { type: 'text', text: 'a' },
    { type: 'text', text: 'b' },
  ])
})

test('a thrown reply throws after its parts', async () => {
  const parts = new ScriptedModel([{ text: 'a', fault: 'throw' }]).stream(ask(), { signal: live() })[Symbol.asyncIterator]()
  expect(await parts.next()).toEqual({ done: false, value: { type: 'text', text: 'a' } })
  await expect(parts.next()).rejects.toThrow('thrown by the script')
})

test('a gate holds a step until it is opened, or the signal aborts', async () => {
  const door = gate()
  const model = new ScriptedModel([
    { wait: door.promise, text: 'late' },
    { wait: gate().promise, text: 'never' },
  ])
  let done = false
  const reply = collect(model).finally(() => {
    done = true
  })
  await new Promise((resolve) => setImmediate(resolve))
  expect(done).toBe(false)
  door.open()
  expect(await reply).toEqual([
    { type: 'text', text: 'late' },
    { type: 'finish', reason: 'stop' },
  ])
  const controller = new AbortController()
  const held = collect(model, ask(), controller.signal)
  controller.abort()
  expect(await held).toEqual([])
})
