import type { LanguageModelV4, LanguageModelV4CallOptions } from '@ai-sdk/provider'
import { describe, expect, it } from 'vitest'
import type { Model, ModelAbility, ModelPart, ModelRequest } from '../../contracts/index.ts'
import { type Dialect, fromAiSdk } from '../ai-sdk/index.ts'
import { fromLangChain, type LangChainChatModel } from '../langchain/index.ts'
import { fromLlamaIndex } from '../llama-index/index.ts'

type Asked = unknown[]

function aiSdk(asked: Asked): LanguageModelV4 {
  const ended = { inputTokens: { total: 1 }, outputTokens: { total: 1 } }
  return {
    specificationVersion: 'v4',
    provider: 'acme.chat',
    modelId: 'gemini-3',
    supportedUrls: {},
    doGenerate: () => Promise.reject(new Error('not used')),
    doStream: async ({ abortSignal: _, ...options }: LanguageModelV4CallOptions) => {
      asked.push(options)
      const parts = [{ type: 'finish', finishReason: { unified: 'stop', raw: 'stop' }, usage: ended }]
      return { stream: ReadableStream.from(parts) as ReadableStream<never> }
    },
  }
}
const none = async function* () {}

const adapters: readonly (readonly [name: string, build: (abilities: readonly ModelAbility[], asked: Asked) => Model])[] = [
  ['the AI SDK', (abilities, asked) => fromAiSdk(aiSdk(asked), { id: 'a/b', abilities, dialect: 'openai' })],
  [
    'LangChain',
    (abilities, asked) => {
      const stream = (tools: readonly unknown[]) => async (messages: unknown, options: object) => {
        asked.push({ messages, tools, ...options, signal: undefined })
        return none()
      }
      const model = { callKeys: ['reasoning'], stream: stream([]), bindTools: (tools: []) => ({ stream: stream(tools) }) }
      return fromLangChain(model as unknown as LangChainChatModel, { id: 'a/b', abilities })
    },
  ],
  [
    'LlamaIndex',
    (abilities, asked) => {
      const chat = async (params: unknown) => {
        asked.push(params)
        return none()
      }
      return fromLlamaIndex({ chat } as never, { id: 'a/b', abilities })
    },
  ],
]

const request: ModelRequest = {
  system: '',
  messages: [{ role: 'user', parts: [{ type: 'text', text: 'Go' }] }],
  tools: [],
  toolChoice: 'auto',
  parameters: {},
}
const given = (type: 'image' | 'file', mediaType: string): Partial<ModelRequest> => ({
  messages: [{ role: 'user', parts: [{ type, mediaType, data: 'AAAA' }] }],
})
const look = { name: 'look', description: 'Looks.', inputSchema: { type: 'object' } }

async function partsOf(model: Model, more: Partial<ModelRequest>): Promise<readonly ModelPart[]> {
  const parts: ModelPart[] = []
  for await (const part of model.stream({ ...request, ...more }, { signal: new AbortController().signal })) parts.push(part)
  return parts
}
const noticesIn = (parts: readonly ModelPart[]) => parts.flatMap((part) => (part.type === 'notice' ? [part.message] : []))

describe.each(adapters)('what a model of %s cannot do', (_, build) => {
  it.each([
    ['images', given('image', 'image/png')],
    ['files', given('file', 'application/pdf')],
  ] as const)('is to look at %s: nothing is sent, and another may have its turn', async (ability, more) => {
    const asked: Asked = []
    expect(await partsOf(build(['tools'], asked), more)).toEqual([
      {
        type: 'error',
        failure: { class: 'config', message: `a/b takes no ${ability}.`, remedy: `Leave them out, or name a model that takes ${ability}.` },
      },
    ])
    expect(asked).toEqual([])
    await partsOf(build([ability], asked), more)
    expect(asked).toHaveLength(1)
  })

  it('is not asked of it: tools and reasoning', async () => {
    const asked: Asked = []
    const parts = await partsOf(build(['images'], asked), { tools: [look], parameters: { reasoning: 'high' } })
    expect(noticesIn(parts)).toEqual([
      'a/b cannot call tools, so it is offered none.',
      'The setting reasoning: high has no effect: a/b does not reason.',
    ])
    expect(JSON.stringify(asked)).not.toMatch(/look|high/)
    expect(noticesIn(await partsOf(build(['images'], asked), { parameters: { reasoning: 'none' } }))).toEqual([])
  })
})

describe('a model of the AI SDK', () => {
  it('gets the content of a text file, whether or not it accepts files', async () => {
    const asked: Asked = []
    await partsOf(fromAiSdk(aiSdk(asked), { abilities: [] }), given('file', 'text/plain'))
    expect(asked).toMatchObject([{ prompt: [{ content: [{ type: 'text', text: expect.stringContaining('text/plain') }] }] }])
  })

  const schema = { type: 'object', properties: { a: { type: 'string' } }, required: ['a'], additionalProperties: false }
  const dialects: readonly Dialect[] = ['openai', 'google', 'openai-compatible', 'plain']
  it.each(dialects)('of the dialect %s is asked for a schema where it can take one, and only there', async (dialect) => {
    const asked: { readonly responseFormat?: unknown; readonly prompt: unknown }[] = []
    await partsOf(fromAiSdk(aiSdk(asked), { dialect, abilities: ['tools'] }), { output: { schema } })
    await partsOf(fromAiSdk(aiSdk(asked), { dialect, abilities: ['json_schema'] }), { output: { schema } })
    expect(asked.map(({ responseFormat }) => responseFormat)).toEqual([undefined, { type: 'json', schema, name: 'answer' }])
    expect(JSON.stringify(asked[0]?.prompt)).toContain('JSON Schema')
  })

  const cacheNotice = 'The setting cache: false has no effect: only Anthropic models cache on request.'
  it.each<[Dialect, readonly string[]]>([
    ['anthropic', []],
    ['openai', [cacheNotice]],
    ['google', [cacheNotice]],
    ['openai-compatible', [cacheNotice]],
    ['plain', [cacheNotice]],
  ])('of the dialect %s says whether it can do without a cache', async (dialect, expected) => {
    const asked: Asked = []
    const model = fromAiSdk(aiSdk(asked), { dialect })
    expect(noticesIn(await partsOf(model, { parameters: { cache: false } }))).toEqual(expected)
    expect(noticesIn(await partsOf(model, { parameters: { cache: true } }))).toEqual([])
    expect(JSON.stringify(asked[0])).not.toContain('cacheControl')
    expect(JSON.stringify(asked[1]).includes('cacheControl')).toBe(dialect === 'anthropic')
  })
})
