import type {
  LanguageModelV3,
  LanguageModelV3CallOptions,
  LanguageModelV4,
  LanguageModelV4CallOptions,
  LanguageModelV4StreamPart,
} from '@ai-sdk/provider'
import { describe, expect, it } from 'vitest'
import type { Model, ModelPart, ModelRequest } from '../../contracts/index.ts'
import { gate, type ModelBehaviour, modelContract } from '../../testing/index.ts'
import { fromAiSdk } from './from-ai-sdk.ts'
import type { AiSdkPart } from './reply-parts.ts'

const none = { total: undefined, noCache: undefined, cacheRead: undefined, cacheWrite: undefined, text: undefined, reasoning: undefined }
const finish = (unified: string, usage = { inputTokens: none, outputTokens: none }) =>
  ({ type: 'finish', finishReason: { unified, raw: unified }, usage }) as AiSdkPart
const said = (text: string): AiSdkPart[] => [
  { type: 'text-start', id: 't' },
  { type: 'text-delta', id: 't', delta: text },
  { type: 'text-end', id: 't' },
]

interface Stub<V> {
  readonly model: V
  readonly asked: unknown[]
}

function streamOf(parts: readonly AiSdkPart[]): ReadableStream<never> {
  return new ReadableStream<AiSdkPart>({
    start(controller) {
      for (const part of parts) controller.enqueue(part)
      controller.close()
    },
  }) as ReadableStream<never>
}

function v4(parts: readonly AiSdkPart[], more: Partial<LanguageModelV4> = {}): Stub<LanguageModelV4> {
  const asked: LanguageModelV4CallOptions[] = []
  const model: LanguageModelV4 = {
    specificationVersion: 'v4',
    provider: 'acme.chat',
    modelId: 'm-1',
    supportedUrls: {},
    doGenerate: () => Promise.reject(new Error('not used')),
    doStream: async ({ abortSignal: _, ...options }) => {
      asked.push(options)
      return { stream: streamOf(parts) }
    },
    ...more,
  }
  return { model, asked }
}

function v3(parts: readonly AiSdkPart[], provider: string): Stub<LanguageModelV3> {
  const asked: LanguageModelV3CallOptions[] = []
  const model: LanguageModelV3 = {
    specificationVersion: 'v3',
    provider,
    modelId: 'm-1',
    supportedUrls: Promise.resolve({ 'image/*': [/^https:/] }),
    doGenerate: () => Promise.reject(new Error('not used')),
    doStream: async ({ abortSignal: _, ...options }) => {
      asked.push(options)
      return { stream: streamOf(parts) }
    },
  }
  return { model, asked }
}

const request: ModelRequest = {
  system: 'Be brief.',
  messages: [{ role: 'user', parts: [{ type: 'text', text: 'Go' }] }],
  tools: [],
  toolChoice: 'auto',
  parameters: {},
}

async function collect(model: Model, asked: ModelRequest = request, signal = new AbortController().signal): Promise<readonly ModelPart[]> {
  const parts: ModelPart[] = []
  for await (const part of model.stream(asked, { signal })) parts.push(part)
  return parts
}

describe('a model of the AI SDK', () => {
  it('is named after its provider', () => {
    expect(fromAiSdk(v4([]).model)).toEqual({
      id: 'acme/m-1',
      abilities: ['tools', 'images', 'files', 'reasoning'],
      stream: expect.any(Function),
    })
    expect(fromAiSdk(v4([]).model, { id: 'house/x', abilities: ['tools'], contextTokens: 5 })).toMatchObject({
      id: 'house/x',
      abilities: ['tools'],
      contextTokens: 5,
    })
  })

  it('of a provider that we do not know is asked for nothing out of the ordinary', async () => {
    const { model, asked } = v4([...said('Hi'), finish('stop')])
    const parts = await collect(fromAiSdk(model), {
      ...request,
      output: { schema: { type: 'object' } },
      parameters: { reasoning: 'low', seed: 1 },
    })
    expect(asked).toEqual([
      {
        prompt: [
          { role: 'system', content: expect.stringContaining('{"type":"object"}') },
          { role: 'user', content: [{ type: 'text', text: 'Go' }] },
        ],
        seed: 1,
        reasoning: 'low',
      },
    ])
    expect(parts).toEqual([
      { type: 'text', text: 'Hi' },
      { type: 'finish', reason: 'stop' },
    ])
  })

  it('that refuses a cap beyond its maximum is asked again with the maximum that it names, and with that from then on', async () => {
    const caps: (number | undefined)[] = []
    const message = 'max_tokens is too large: 32000. This model supports at most 16384 completion tokens.'
    const { model } = v4([], {
      doStream: async ({ maxOutputTokens }) => {
        caps.push(maxOutputTokens)
        if ((maxOutputTokens ?? 0) > 16_384) throw Object.assign(new Error(message), { statusCode: 400 })
        return { stream: streamOf([...said('Hi'), finish('stop')]) }
      },
    })
    const asked = fromAiSdk(model)
    for (const maxOutputTokens of [32_000, 32_000, 100])
      expect(await collect(asked, { ...request, parameters: { maxOutputTokens } })).toContainEqual({ type: 'text', text: 'Hi' })
    expect(caps).toEqual([32_000, 16_384, 16_384, 100])
  })

  it('that refuses a cap beyond what one request leaves of its window gets the whole cap with the next request', async () => {
    const caps: (number | undefined)[] = []
    const message = "This model's maximum context length is 40000 tokens. You requested 71000 tokens (39000 in the messages)."
    const { model } = v4([], {
      doStream: async ({ maxOutputTokens }) => {
        caps.push(maxOutputTokens)
        if (caps.length === 1) throw Object.assign(new Error(message), { statusCode: 400 })
        return { stream: streamOf([...said('Hi'), finish('stop')]) }
      },
    })
    const asked = fromAiSdk(model)
    for (const maxOutputTokens of [32_000, 32_000])
      expect(await collect(asked, { ...request, parameters: { maxOutputTokens } })).toContainEqual({ type: 'text', text: 'Hi' })
    expect(caps).toEqual([32_000, 1_000, 32_000])
  })

  it('is heard to the end, and no further', async () => {
    const call = { type: 'tool-call', toolCallId: 'c', toolName: 'look', input: '{}' } as const
    const { model } = v4([
      { type: 'stream-start', warnings: [{ type: 'other', message: 'Mind this.' }] },
      { type: 'tool-input-start', id: 'c', toolName: 'look' },
      call,
      { ...call, toolCallId: 'p', providerExecuted: true },
      { type: 'raw', rawValue: 1 },
      { type: 'something-new' } as unknown as LanguageModelV4StreamPart,
      finish('tool-calls'),
      ...said('late'),
    ])
    expect(await collect(fromAiSdk(model))).toEqual([
      { type: 'notice', message: 'Mind this.' },
      { type: 'working' },
      { type: 'call', id: 'c', name: 'look', input: '{}' },
      { type: 'notice', message: 'The provider ran a tool of its own (look), which is not shown.' },
      { type: 'finish', reason: 'tool-calls' },
    ])
  })

  it.each([
    ['a cut', [...said('Hi')]],
    ['an interruption', [...said('Hi'), finish('interrupted')]],
    ['nothing', []],
  ])('makes no reply of %s', async (_label, parts) => {
    const failure = { class: 'network', message: 'The stream ended before the reply was complete.', remedy: expect.any(String) }
    expect((await collect(fromAiSdk(v4(parts).model))).at(-1)).toEqual({ type: 'error', failure })
  })

  it('says where a server sends something else than events', async () => {
    const { model } = v4([], {
      doStream: async () => ({ stream: streamOf([finish('error')]), response: { headers: { 'Content-Type': 'text/html' } } }),
    })
    expect(await collect(fromAiSdk(model))).toEqual([
      {
        type: 'error',
        failure: {
          class: 'invalid_response',
          message: 'The server answered with text/html instead of a stream of events.',
          remedy: 'Check the base URL.',
        },
      },
    ])
  })

  it.each([
    ['no stream', { stream: undefined }],
    ['a part that is none', { stream: streamOf([{ type: 'stream-start' } as unknown as AiSdkPart]) }],
    ['an empty part', { stream: streamOf([null as unknown as AiSdkPart]) }],
  ])('may send %s', async (_label, result) => {
    const { model } = v4([], { doStream: async () => result as never })
    expect(await collect(fromAiSdk(model))).toMatchObject([{ type: 'error' }])
  })

  it('may throw whatever it likes', async () => {
    const { model } = v4([], {
      doStream: () => {
        throw 'no Error at all'
      },
    })
    expect(await collect(fromAiSdk(model))).toEqual([{ type: 'error', failure: { class: 'model', message: 'no Error at all' } }])
  })
})

describe('a model of the third specification', () => {
  it('gets files as bare data', async () => {
    const { model, asked } = v3([...said('Hi'), finish('stop')], 'acme.chat')
    const parts = [
      { type: 'image', mediaType: 'image/png', data: 'AAAA' },
      { type: 'image', mediaType: 'image/png', data: 'https://example.com/a.png' },
    ] as const
    await collect(fromAiSdk(model), { ...request, messages: [{ role: 'user', parts }] })
    expect(asked).toEqual([
      {
        prompt: [
          { role: 'system', content: 'Be brief.' },
          {
            role: 'user',
            content: [
              { type: 'file', mediaType: 'image/png', data: 'AAAA' },
              { type: 'file', mediaType: 'image/png', data: new URL('https://example.com/a.png') },
            ],
          },
        ],
      },
    ])
  })

  it.each([
    ['openai.responses', { openai: { store: false, reasoningEffort: 'high' } }],
    ['openai.chat', { openai: { reasoningEffort: 'high' } }],
    ['vertex.anthropic.messages', { anthropic: { thinking: { type: 'enabled', budgetTokens: 16_384 } } }],
    ['google.generative-ai', { google: { thinkingConfig: { thinkingBudget: 16_384, includeThoughts: true } } }],
  ])('of %s gets the reasoning effort in its own terms', async (provider, providerOptions) => {
    const { model, asked } = v3([...said('Hi'), finish('stop')], provider)
    await collect(fromAiSdk(model), { ...request, parameters: { reasoning: 'high', cache: false } })
    expect(asked).toMatchObject([{ providerOptions }])
    expect(asked).not.toMatchObject([{ reasoning: 'high' }])
  })

  it('says where there are no such words', async () => {
    const parts = await collect(fromAiSdk(v3([...said('Hi'), finish('stop')], 'acme').model), {
      ...request,
      parameters: { reasoning: 'high' },
    })
    expect(parts[0]).toEqual({
      type: 'notice',
      message: 'The setting reasoning: high has no effect: acme has no such option.',
    })
  })
})

describe('leaving a reply', () => {
  interface Open {
    readonly model: Model
    readonly signals: AbortSignal[]
    readonly state: { cancelled: boolean }
  }
  /** Says a word and falls silent, whether or not somebody listens. */
  function endless(begin: readonly AiSdkPart[] = said('Hi')): Open {
    const signals: AbortSignal[] = []
    const state = { cancelled: false }
    const stream = new ReadableStream({
      start: (controller) => {
        for (const part of begin) controller.enqueue(part)
      },
      cancel: () => {
        state.cancelled = true
      },
    })
    const { model } = v4([], {
      doStream: async ({ abortSignal }) => {
        if (abortSignal) signals.push(abortSignal)
        return { stream: stream as ReadableStream<never> }
      },
    })
    return { model: fromAiSdk(model), signals, state }
  }

  it('cancels the request', async () => {
    const { model, signals, state } = endless()
    for await (const part of model.stream(request, { signal: new AbortController().signal })) {
      expect(part).toEqual({ type: 'text', text: 'Hi' })
      break
    }
    expect(signals[0]!.aborted).toBe(true)
    expect(state.cancelled).toBe(true)
  })

  it('by the signal ends immediately, even during a silence', async () => {
    const { model, signals, state } = endless()
    const controller = new AbortController()
    const parts = model.stream(request, { signal: controller.signal })[Symbol.asyncIterator]()
    await parts.next()
    const waiting = parts.next()
    controller.abort()
    expect(await waiting).toEqual({ done: true, value: undefined })
    expect(await parts.next()).toEqual({ done: true, value: undefined })
    expect({ aborted: signals[0]!.aborted, ...state }).toEqual({ aborted: true, cancelled: true })
  })

  it('before it has begun leaves nothing open', async () => {
    const opened = gate()
    let isCancelled = false
    const late = v4([], {
      doStream: async () => {
        await opened.promise
        const cancel = () => {
          isCancelled = true
        }
        return { stream: new ReadableStream({ cancel }) as ReadableStream<never> }
      },
    })
    const parts = fromAiSdk(late.model).stream(request, { signal: new AbortController().signal })[Symbol.asyncIterator]()
    const waiting = parts.next()
    await parts.return?.()
    expect(await waiting).toEqual({ done: true, value: undefined })
    opened.open()
    await new Promise(setImmediate)
    expect(isCancelled).toBe(true)
  })

  it('asks for nothing where the signal had aborted before', async () => {
    const { model, asked } = v4(said('Hi'))
    expect(await collect(fromAiSdk(model), request, AbortSignal.abort())).toEqual([])
    expect(asked).toEqual([])
  })

  it('after its end does not cut a connection that is over anyway', async () => {
    const signals: AbortSignal[] = []
    const { model } = v4([], {
      doStream: async ({ abortSignal }) => {
        if (abortSignal) signals.push(abortSignal)
        return { stream: streamOf([...said('Hi'), finish('stop')]) }
      },
    })
    await collect(fromAiSdk(model))
    await new Promise(setImmediate)
    expect(signals[0]!.aborted).toBe(false)
  })

  it('after its end cancels a connection that stays open', async () => {
    const { model, signals } = endless([...said('Hi'), finish('stop')])
    await collect(model)
    await new Promise(setImmediate)
    expect(signals[0]!.aborted).toBe(true)
  })
})

describe('the contract of models', () => {
  const behaviours: { readonly [B in Exclude<ModelBehaviour, 'silence'>]: readonly AiSdkPart[] } = {
    text: [...said('Hi'), finish('stop')],
    calls: [
      { type: 'tool-call', toolCallId: 'a', toolName: 'look', input: '{}' },
      { type: 'tool-call', toolCallId: 'b', toolName: 'look', input: '{}' },
      finish('tool-calls'),
    ],
    fault: [{ type: 'error', error: { message: 'Full', type: 'overloaded_error' } }, finish('error')],
  }
  // Does not heed its signal.
  const silent: Partial<LanguageModelV4> = { doStream: () => new Promise(() => {}) }
  const make = (behaviour: ModelBehaviour) => fromAiSdk(behaviour === 'silence' ? v4([], silent).model : v4(behaviours[behaviour]).model)

  it.each(modelContract(make).map((entry) => [entry.name, entry.run] as const))('%s', (_name, run) => run())
})
