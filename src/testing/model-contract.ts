import assert from 'node:assert/strict'
import type { MaybePromise, Model, ModelPart, ModelRequest } from '../contracts/index.ts'
import { isRecord } from '../util/is-record.ts'
import { textOfParts } from '../util/text-of-parts.ts'
import { asCases, type ContractCase } from './contract-case.ts'
import { within } from './within.ts'

/** What the provider of the model does on the next request: answers with text, with calls, with an error, or not at all. */
export type ModelBehaviour = 'text' | 'calls' | 'fault' | 'silence'

/**
 * The contract of models. `make` returns a new model with the given behaviour.
 *
 * @example
 * for (const { name, run } of modelContract(make)) test(name, run)
 */
export function modelContract(make: (behaviour: ModelBehaviour) => MaybePromise<Model>): readonly ContractCase[] {
  return asCases({
    'is named after provider and model': async () => assert.match((await make('text')).id, /^[^/\s]+\/\S+$/),
    async 'ends a reply with exactly one finish'() {
      const parts = await collect(await make('text'))
      assertOneEnd(parts, 'finish')
      assert.notEqual(textOfParts(parts, ''), '', 'the reply has no text')
    },
    async 'sends whole calls under ids of their own'() {
      const parts = await collect(await make('calls'))
      assertOneEnd(parts, 'finish')
      const calls = parts.filter((part) => part.type === 'call')
      assert(calls.length > 0, 'the reply has no call')
      for (const call of calls) assertObject(call.input)
      assert.equal(new Set(calls.map(({ id }) => id)).size, calls.length, 'two calls share an id')
    },
    'yields a failure of the provider instead of throwing it': async () => assertOneEnd(await collect(await make('fault')), 'error'),
    async 'ends when the signal aborts while the provider is silent'() {
      const controller = new AbortController()
      const ended = settle(collect(await make('silence'), controller.signal))
      setImmediate(() => controller.abort(new Error('aborted by the contract')))
      await endsSoon(ended)
    },
    'ends when the signal had aborted before': async () =>
      endsSoon(settle(collect(await make('silence'), AbortSignal.abort(new Error('aborted by the contract'))))),
    async 'lets its reader leave early'() {
      const parts = (await make('text')).stream(request, { signal: new AbortController().signal })[Symbol.asyncIterator]()
      await parts.next()
      await endsSoon(Promise.resolve(parts.return?.()))
    },
  })
}

const request: ModelRequest = {
  system: 'You are checked against a contract.',
  messages: [{ role: 'user', parts: [{ type: 'text', text: 'Go.' }] }],
  tools: [{ name: 'look', description: 'Looks.', inputSchema: { type: 'object' } }],
  toolChoice: 'auto',
  parameters: {},
}

async function collect(model: Model, signal = new AbortController().signal): Promise<readonly ModelPart[]> {
  const parts: ModelPart[] = []
  for await (const part of model.stream(request, { signal })) parts.push(part)
  return parts
}

function assertOneEnd(parts: readonly ModelPart[], type: 'finish' | 'error'): void {
  const ends = parts.filter((part) => part.type === 'finish' || part.type === 'error')
  assert.deepEqual(
    ends.map((part) => part.type),
    [type],
    `exactly one ${type} and no other end`,
  )
  assert.equal(parts.at(-1), ends[0], 'something comes after the end')
}

function assertObject(json: string): void {
  const value: unknown = JSON.parse(json)
  assert(isRecord(value), `the input of a call is not an object: ${json}`)
}

/** After an abort a stream may end or throw; it must not continue. */
function settle(work: Promise<unknown>): Promise<unknown> {
  return work.catch(() => undefined)
}

async function endsSoon(work: Promise<unknown>): Promise<void> {
  assert(await within(1000, work), 'still going after a second')
}
