import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { Model, ModelPart } from '../../src/contracts/index.ts'
import { type AiSdkModel, fromAiSdk, fromLangChain, fromLlamaIndex } from '../../src/models/index.ts'

// Models are other people's objects. Whatever they throw or lack is a failure of one attempt, never of the process.

const stray: unknown[] = []
const note = (error: unknown): void => void stray.push(error)
beforeEach(() => {
  stray.length = 0
  process.on('unhandledRejection', note)
  process.on('uncaughtException', note)
})
afterEach(() => {
  process.off('unhandledRejection', note)
  process.off('uncaughtException', note)
})

const request = {
  system: '',
  messages: [{ role: 'user', parts: [{ type: 'text', text: 'Hello' }] }],
  tools: [],
  toolChoice: 'auto',
  parameters: {},
} as const

/** All parts, and how many errors went astray by the time everything had settled. */
async function partsOf(model: Model, signal = new AbortController().signal): Promise<readonly ModelPart[]> {
  const parts: ModelPart[] = []
  for await (const part of model.stream(request, { signal })) parts.push(part)
  for (let turn = 0; turn < 3; turn++) await new Promise((resolve) => setImmediate(resolve))
  expect(stray, 'errors that nobody caught').toEqual([])
  return parts
}

const failed = { type: 'error', failure: expect.objectContaining({ class: expect.any(String), message: expect.stringMatching(/\S/) }) }

const boom = (): never => {
  throw new Error('boom')
}
const bomb = {
  get message() {
    return boom()
  },
  get cause() {
    return boom()
  },
}
const minefield: object = new Proxy({}, { get: boom, has: boom, ownKeys: boom, getPrototypeOf: boom })
const thrown: readonly (readonly [string, unknown])[] = [
  ['an object whose getters throw', bomb],
  ['a proxy that throws at everything', minefield],
  ['nothing', undefined],
  ['a symbol', Symbol('x')],
]

const usage = { inputTokens: { total: 3 }, outputTokens: { total: 2 } }
const finish = { type: 'finish', finishReason: { unified: 'stop', raw: 'stop' }, usage }
const text = { type: 'text-delta', id: '1', delta: 'hello' }

describe('a model of the AI SDK', () => {
  const sdk = (doStream: () => unknown): Model =>
    fromAiSdk({
      specificationVersion: 'v4',
      provider: 'acme.chat',
      modelId: 'm',
      supportedUrls: {},
      doStream,
      doGenerate: boom,
    } as unknown as AiSdkModel)
  const streaming = (...parts: readonly unknown[]): Model =>
    sdk(async () => ({
      stream: new ReadableStream({
        start(controller) {
          for (const part of parts) controller.enqueue(part)
          controller.close()
        },
      }),
    }))
  /** A reader as old polyfills have it: nothing comes back from `cancel`. */
  const polyfill = (cancel: () => unknown, ...parts: readonly unknown[]): Model => {
    const left = [...parts]
    const read = () => (left.length > 0 ? Promise.resolve({ done: false, value: left.shift() }) : new Promise(() => {}))
    return sdk(async () => ({ stream: { getReader: () => ({ read, cancel }), cancel } }))
  }

  test.each(thrown)('rejects with %s', async (_, error) => {
    expect(await partsOf(sdk(() => Promise.reject(error)))).toEqual([failed])
  })
  test.each(thrown)('streams an error that is %s', async (_, error) => {
    expect(await partsOf(streaming(text, { type: 'error', error }))).toEqual([{ type: 'text', text: 'hello' }, failed])
  })
  test.each([
    ['throws at once', boom],
    ['answers with nothing', async () => undefined],
    ['answers without a stream', async () => ({})],
    ['has a reader that throws', async () => ({ stream: { getReader: () => ({ read: boom, cancel: boom }), cancel: boom } })],
    ['has a reader that answers with nothing', async () => ({ stream: { getReader: () => ({ read() {}, cancel() {} }), cancel() {} } })],
  ])('%s', async (_, doStream) => {
    expect(await partsOf(sdk(doStream))).toEqual([failed])
  })
  test.each([
    ['brings nothing back', () => undefined],
    ['throws', boom],
    ['rejects', () => Promise.reject(new Error('no'))],
  ])('has a cancel that %s: the reply and the failure both get through', async (_, cancel) => {
    expect(await partsOf(polyfill(cancel, text, finish))).toEqual([
      { type: 'text', text: 'hello' },
      expect.objectContaining({ type: 'finish', reason: 'stop' }),
    ])
    expect(await partsOf(polyfill(cancel, text, { type: 'error', error: 'x' }))).toEqual([{ type: 'text', text: 'hello' }, failed])
  })
  test('that is left while it opens: what it brings then is dismissed', async () => {
    const leaving = new AbortController()
    let open = (_: unknown): void => {}
    const model = sdk(
      () =>
        new Promise((resolve) => {
          open = resolve
        }),
    )
    const parts = partsOf(model, leaving.signal)
    await new Promise((resolve) => setImmediate(resolve))
    leaving.abort()
    open({ stream: { getReader: boom, cancel: () => undefined } })
    expect(await parts).toEqual([])
  })
  test('that never stops saying nothing leaves room for the signal', async () => {
    const leaving = new AbortController()
    const endless = sdk(async () => ({ stream: new ReadableStream({ pull: (controller) => controller.enqueue({ type: 'raw' }) }) }))
    setImmediate(() => leaving.abort())
    expect(await partsOf(endless, leaving.signal)).toEqual([])
  })
  test.each([
    ['no warnings at all', undefined],
    ['warnings that are none', [null, 7, 'x']],
  ])('begins with %s: the reply is used', async (_, warnings) => {
    expect(await partsOf(streaming({ type: 'stream-start', warnings }, text, finish))).toEqual([
      { type: 'text', text: 'hello' },
      expect.objectContaining({ type: 'finish' }),
    ])
  })
  test('with unknown warnings: they are reported as far as they are readable', async () => {
    const warnings = [{ type: 'unsupported' }, { type: 'new', message: 'Mind the gap.' }, { type: 'x', amount: 1n }]
    const notices = (await partsOf(streaming({ type: 'stream-start', warnings }, text, finish))).filter(({ type }) => type === 'notice')
    expect(notices).toEqual([
      { type: 'notice', message: 'The provider will not do something as asked.' },
      { type: 'notice', message: 'Mind the gap.' },
      { type: 'notice', message: 'The provider will not do something as asked.' },
    ])
  })
})

const frameworks: readonly (readonly [string, (ask: () => unknown) => Model])[] = [
  ['LangChain', (stream) => fromLangChain({ stream } as unknown as Parameters<typeof fromLangChain>[0])],
  ['LlamaIndex', (chat) => fromLlamaIndex({ chat } as unknown as Parameters<typeof fromLlamaIndex>[0])],
]

describe.each(frameworks)('a model of %s', (_name, model) => {
  const iterating = (iterator: unknown) => async () => ({ [Symbol.asyncIterator]: () => iterator })

  test.each([
    ['nothing', async () => undefined],
    ['null', async () => null],
    ['a list', async () => []],
    ['something that throws', async () => minefield],
    ['an iterator without next', iterating({})],
    ['an iterator that throws', iterating({ next: boom, return: boom })],
  ])('answers with %s', async (_, ask) => {
    expect(await partsOf(model(ask))).toEqual([failed])
  })
  test.each(thrown)('rejects with %s', async (_, error) => {
    expect(await partsOf(model(() => Promise.reject(error)))).toEqual([failed])
  })
  test('that never stops saying nothing leaves room for the signal', async () => {
    const leaving = new AbortController()
    setImmediate(() => leaving.abort())
    const endless = model(async function* () {
      for (;;) yield null
    })
    expect(await partsOf(endless, leaving.signal)).toEqual([])
  })
  test('may answer with the stream itself, without a promise', async () => {
    const chunk = { content: 'hello', delta: 'hello', response_metadata: { finish_reason: 'stop' } }
    const parts = await partsOf(
      model(async function* () {
        yield chunk
      }),
    )
    expect(parts).toEqual([
      { type: 'text', text: 'hello' },
      { type: 'finish', reason: 'stop' },
    ])
  })
  test.each([
    ['nothing', undefined],
    ['something that throws', minefield],
    ['a stream that throws when it is closed', { [Symbol.asyncIterator]: () => ({ next: boom, return: boom }) }],
  ])('is left while it opens, and then brings %s', async (_, late) => {
    const leaving = new AbortController()
    let open = (_: unknown): void => {}
    const parts = partsOf(
      model(
        () =>
          new Promise((resolve) => {
            open = () => resolve(late)
          }),
      ),
      leaving.signal,
    )
    await new Promise((resolve) => setImmediate(resolve))
    leaving.abort()
    open(undefined)
    expect(await parts).toEqual([])
  })
})
