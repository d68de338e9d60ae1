import { describe, expect, it } from 'vitest'
import { bare, calls, collect, cut, events, history, json, look, modelOn, wire } from '../../../test/fixtures/provider-wire.ts'
import type { Json, ModelRequest } from '../../contracts/index.ts'

const counted = { promptTokenCount: 5, candidatesTokenCount: 2, thoughtsTokenCount: 3, totalTokenCount: 10, cachedContentTokenCount: 1 }
const chunk = (parts: readonly Json[], finishReason?: string): Json => ({
  candidates: [{ content: { role: 'model', parts }, index: 0, ...(finishReason && { finishReason }) }],
  usageMetadata: counted,
  responseId: 'r1',
})
const hi = events([chunk([{ text: 'H' }]), chunk([{ text: 'i' }], 'STOP')])

const sentBy = async (request: ModelRequest, model = 'gemini-2.5-flash'): Promise<Json> => {
  const line = wire(hi)
  await collect(await modelOn(line, { kind: 'google', model }), request)
  return line.sent[0]!.body
}

const always = { generationConfig: {}, systemInstruction: { parts: [{ text: 'Be brief.' }] } }
const hello = { role: 'user', parts: [{ text: 'Hello' }] }
const tools = [{ functionDeclarations: [{ name: 'look', description: look.description, parametersJsonSchema: look.inputSchema }] }]
const using = (mode: string) => ({ tools, toolConfig: { functionCallingConfig: { mode } } })

describe('a request to Gemini', () => {
  it('has the system text apart', async () => {
    expect(await sentBy(bare)).toEqual({ ...always, contents: [hello] })
  })

  it('goes to the model by its name', async () => {
    const line = wire(hi)
    await collect(await modelOn(line, { kind: 'google', model: 'gemini-2.5-flash' }))
    expect(line.sent[0]!.url).toBe('https://generativelanguage.googleapis.com/v1beta/models/gemini-2.5-flash:streamGenerateContent?alt=sse')
  })

  it('repeats thoughts, calls and results as they came', async () => {
    const messages = history([
      { type: 'reasoning', text: 'Hm', metadata: { google: { thoughtSignature: 'one' } } },
      { type: 'reasoning', text: 'of another provider', metadata: { anthropic: { signature: 'sig' } } },
      { type: 'text', text: 'Let me look.' },
      { ...calls[0], metadata: { google: { thoughtSignature: 'two' } } },
      calls[1],
      { type: 'text', text: '', metadata: { google: { thoughtSignature: 'three' } } },
    ])
    expect(await sentBy({ ...bare, messages, tools: [look], toolChoice: 'none' }, 'gemini-3-pro-preview')).toEqual({
      ...always,
      contents: [
        { role: 'user', parts: [{ text: 'Look for a and b' }] },
        {
          role: 'model',
          parts: [
            { text: 'Hm', thought: true, thoughtSignature: 'one' },
            { text: 'Let me look.' },
            { functionCall: { id: 'call_1', name: 'look', args: { what: 'a' } }, thoughtSignature: 'two' },
            { functionCall: { id: 'call_2', name: 'look', args: { unreadable_arguments: '{"what": ' } } },
            { text: '', thoughtSignature: 'three' },
          ],
        },
        {
          role: 'user',
          parts: [
            { functionResponse: { id: 'call_1', name: 'look', response: { name: 'look', content: 'found a' } } },
            { functionResponse: { id: 'call_2', name: 'look', response: { name: 'look', error: 'invalid arguments' } } },
          ],
        },
      ],
      ...using('NONE'),
    })
  })

  it('carries images and files', async () => {
    const parts = [
      { type: 'image', mediaType: 'image/png', data: 'iVBORw0KGgo=' },
      { type: 'file', mediaType: 'application/pdf', data: 'JVBERi0=', name: 'a.pdf' },
      { type: 'file', mediaType: 'audio/wav', data: 'UklGRg==' },
    ] as const
    expect(await sentBy({ ...bare, messages: [{ role: 'user', parts }] })).toEqual({
      ...always,
      contents: [
        {
          role: 'user',
          parts: [
            { inlineData: { mimeType: 'image/png', data: 'iVBORw0KGgo=' } },
            { inlineData: { mimeType: 'application/pdf', data: 'JVBERi0=' } },
            { inlineData: { mimeType: 'audio/wav', data: 'UklGRg==' } },
          ],
        },
      ],
    })
  })

  it('is not made where Gemini could not read an address', async () => {
    const line = wire(hi)
    const parts = [{ type: 'image', mediaType: 'image/png', data: 'https://example.com/a.png' }] as const
    const model = await modelOn(line, { kind: 'google', model: 'gemini-2.0-flash' })
    expect(await collect(model, { ...bare, messages: [{ role: 'user', parts }] })).toEqual([
      {
        type: 'error',
        failure: {
          class: 'config',
          message: 'The provider does not read image/png from https://example.com.',
          remedy: 'Give the data itself, as base64 or as a data: address.',
        },
      },
    ])
    expect(line.sent).toEqual([])
  })

  it('asks for the schema, beside tools only where the model allows that', async () => {
    const generationConfig = { responseMimeType: 'application/json', responseJsonSchema: look.inputSchema }
    const output = { schema: look.inputSchema }
    expect(await sentBy({ ...bare, output })).toEqual({ ...always, contents: [hello], generationConfig })
    expect(await sentBy({ ...bare, output, tools: [look] }, 'gemini-3-pro-preview')).toEqual({
      ...always,
      contents: [hello],
      generationConfig,
      ...using('AUTO'),
    })
    const words = `Give your final answer as JSON only: no words before or after it, no code fence.\nThe JSON must be valid against this JSON Schema:\n${JSON.stringify(look.inputSchema)}`
    expect(await sentBy({ ...bare, output, tools: [look], toolChoice: 'none' })).toEqual({
      ...always,
      systemInstruction: { parts: [{ text: `Be brief.\n\n${words}` }] },
      contents: [hello],
      ...using('NONE'),
    })
  })

  it('passes parameters on', async () => {
    const parameters = { temperature: 0.5, topP: 0.9, maxOutputTokens: 100, seed: 7 }
    expect(await sentBy({ ...bare, parameters: { ...parameters, reasoning: 'low', cache: true } })).toEqual({
      ...always,
      contents: [hello],
      generationConfig: { ...parameters, thinkingConfig: { thinkingBudget: 6554, includeThoughts: true } },
    })
    expect(await sentBy({ ...bare, parameters: { reasoning: 'none' } })).toEqual({
      ...always,
      contents: [hello],
      generationConfig: { thinkingConfig: { thinkingBudget: 0 } },
    })
  })
})

describe('a reply of Gemini', () => {
  const read = async (answer: () => Response) => collect(await modelOn(wire(answer), { kind: 'google', model: 'gemini-2.5-flash' }))

  it('comes with its thoughts, its calls and its signatures', async () => {
    const answer = events([
      chunk([{ text: 'Hm', thought: true }]),
      chunk([{ text: 'Let me ' }]),
      chunk([{ text: 'look.', thoughtSignature: 'one' }]),
      chunk([{ functionCall: { id: 'f1', name: 'look', args: { what: 'a' } }, thoughtSignature: 'two' }], 'STOP'),
    ])
    expect(await read(answer)).toEqual([
      { type: 'reasoning', text: 'Hm', block: 'reasoning:0' },
      { type: 'text', text: 'Let me ' },
      { type: 'text', text: 'look.' },
      { type: 'text', text: '', metadata: { google: { thoughtSignature: 'one' } } },
      { type: 'working' },
      { type: 'working', characters: 12 },
      { type: 'call', id: 'f1', name: 'look', input: '{"what":"a"}', metadata: { google: { thoughtSignature: 'two' } } },
      {
        type: 'finish',
        reason: 'tool-calls',
        usage: { input: 5, output: 5, cacheRead: 1, cacheWrite: 0, reasoning: 3 },
        metadata: { responseId: 'r1' },
      },
    ])
  })

  it.each([
    ['MAX_TOKENS', 'length'],
    ['SAFETY', 'content-filter'],
    ['MALFORMED_FUNCTION_CALL', 'error'],
    ['OTHER', 'other'],
  ])('that stopped for %s ends with %s', async (raw, reason) => {
    expect((await read(events([chunk([{ text: 'Hi' }], raw)]))).at(-1)).toMatchObject({ type: 'finish', reason })
  })

  it('is no reply where it was cut', async () => {
    expect((await read(events([chunk([{ text: 'Hi' }])]))).at(-1)).toEqual(cut)
    expect((await read(events([chunk([{ functionCall: { name: 'look', args: {} } }])]))).at(-1)).toEqual(cut)
    expect((await read(events([]))).at(-1)).toEqual(cut)
  })

  const quota = (quotaId: string, delay?: string): Json => ({
    error: {
      code: 429,
      message: 'You exceeded your current quota, please check your plan and billing details.',
      status: 'RESOURCE_EXHAUSTED',
      details: [
        { '@type': 'type.googleapis.com/google.rpc.QuotaFailure', violations: [{ quotaId }] },
        ...(delay ? [{ '@type': 'type.googleapis.com/google.rpc.RetryInfo', retryDelay: delay }] : []),
      ],
    },
  })
  it.each([
    [quota('GenerateRequestsPerMinutePerProjectPerModel', '12.5s'), { class: 'rate_limit', retryAfterMs: 12_500 }],
    [quota('GenerateRequestsPerDayPerProjectPerModel', '12s'), { class: 'quota' }],
    [quota('Anything'), { class: 'quota' }],
  ])('distinguishes a rate limit from an empty account', async (body, failure) => {
    expect(await read(json(429, body))).toMatchObject([{ type: 'error', failure }])
  })

  it('fails as the server says', async () => {
    const refused = { error: { code: 400, message: 'API key not valid. Please pass a valid API key.', status: 'INVALID_ARGUMENT' } }
    const failure = { class: 'auth', message: 'API key not valid. Please pass a valid API key. (HTTP 400)', remedy: 'Check TEST_KEY.' }
    expect(await read(json(400, refused))).toEqual([{ type: 'error', failure }])
    expect(await read(json(400, [refused]))).toEqual([{ type: 'error', failure }])
    const late = { error: { code: 503, message: 'The model is overloaded.', status: 'UNAVAILABLE' } }
    expect((await read(events([chunk([{ text: 'Hi' }]), late]))).at(-1)).toEqual({
      type: 'error',
      failure: { class: 'rate_limit', message: 'The provider is overloaded: The model is overloaded.' },
    })
  })
})
