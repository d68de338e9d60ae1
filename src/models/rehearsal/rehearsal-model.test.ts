import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { JsonSchema, Message, ModelPart, ModelRequest, ToolSpec } from '../../contracts/index.ts'
import { modelContract } from '../../testing/index.ts'
import { rehearsalModel } from './index.ts'

const user = (text: string): Message => ({ role: 'user', parts: [{ type: 'text', text }] })
const tool = (name: string, properties: JsonSchema = {}): ToolSpec => ({
  name,
  description: `Does ${name}.`,
  inputSchema: { type: 'object', properties, required: Object.keys(properties) },
})
const weather = tool('look_up_weather', { city: { type: 'string' }, reason: { type: 'string' } })

async function replyTo(request: Partial<ModelRequest>, signal = new AbortController().signal): Promise<readonly ModelPart[]> {
  const parts: ModelPart[] = []
  const whole: ModelRequest = { system: '', messages: [], tools: [], toolChoice: 'auto', parameters: {}, ...request }
  for await (const part of rehearsalModel().stream(whole, { signal })) parts.push(part)
  return parts
}
const textOf = (parts: readonly ModelPart[]) => parts.map((part) => (part.type === 'text' ? part.text : '')).join('')

describe('the rehearsal model', () => {
  const applicable = /named after|exactly one finish|had aborted before|leave early/
  it.each(modelContract(() => rehearsalModel()).filter(({ name }) => applicable.test(name)))('$name', ({ run }) => run())

  it('says what it is and costs nothing', () => {
    const { id, abilities, costOf } = rehearsalModel()
    expect({ id, abilities, cost: costOf?.({ input: 9, output: 9, cacheRead: 0, cacheWrite: 0, reasoning: 0 }) }).toEqual({
      id: 'rehearsal/rules',
      abilities: ['tools', 'json_schema'],
      cost: 0,
    })
  })

  it('makes a call with a reason', async () => {
    expect(await replyTo({ messages: [user('weather in Oslo')], tools: [weather] })).toEqual([
      { type: 'call', id: 'call_1_1', name: 'look_up_weather', input: '{"city":"Oslo","reason":"Asked for: weather in Oslo"}' },
      { type: 'finish', reason: 'tool-calls', costUsd: 0 },
    ])
  })

  it('calls nothing where it has to answer', async () => {
    const parts = await replyTo({ messages: [user('weather in Oslo')], tools: [weather], toolChoice: 'none' })
    expect(textOf(parts)).toBe('I did not call look_up_weather.\n\n(rehearsal: rules, no LLM)')
  })

  it('speaks word by word', async () => {
    const texts = (await replyTo({ messages: [user('weather')], tools: [weather] })).flatMap((part) =>
      part.type === 'text' ? [part.text] : [],
    )
    expect(texts.slice(0, 4)).toEqual(['I', ' need', ' more', ' for'])
  })

  it('stops in the middle when it is aborted', async () => {
    const controller = new AbortController()
    const parts: ModelPart[] = []
    const request: ModelRequest = { system: '', messages: [user('hello')], tools: [weather], toolChoice: 'auto', parameters: {} }
    for await (const part of rehearsalModel().stream(request, { signal: controller.signal })) {
      parts.push(part)
      if (parts.length === 3) controller.abort()
    }
    expect(parts).toHaveLength(3)
  })

  it('answers the same request in the same way, and changes nothing in it', async () => {
    const request = { messages: [user('weather in Oslo and Bergen')], tools: [weather] }
    const before = structuredClone(request)
    expect(await replyTo(request)).toEqual(await replyTo(request))
    expect(request).toEqual(before)
  })
})

describe('bad input', () => {
  it.each(['a ', 'weather in Oslo and ', '"', '(((', 'then ', '1, ', 'a.b/c@'])('a megabyte of %j is answered soon', async (piece) => {
    const started = performance.now()
    const parts = await replyTo({
      messages: [user(piece.repeat(1_000_000 / piece.length))],
      tools: [weather, tool('search', { query: { type: 'string' } })],
    })
    expect(parts.at(-1)).toMatchObject({ type: 'finish' })
    expect(performance.now() - started).toBeLessThan(20_000)
  })

  it('passes a whole document on, however long', async () => {
    const text = `Ask the critic: ${'A sentence of the essay. '.repeat(40_000)}`
    const [call] = await replyTo({ messages: [user(text)], tools: [tool('agent__critic', { prompt: { type: 'string' } })] })
    expect(call).toMatchObject({ type: 'call', name: 'agent__critic' })
    expect(call?.type === 'call' && JSON.parse(call.input).prompt.length).toBeGreaterThan(900_000)
  })

  it('a conversation of a thousand turns is answered soon', async () => {
    const messages = Array.from(
      { length: 1000 },
      (_, at): Message =>
        at % 2 === 0
          ? user('trains')
          : { role: 'assistant', parts: [{ type: 'text', text: 'I need more for trains: from. Name them in your message.' }] },
    )
    const started = performance.now()
    expect(
      (await replyTo({ messages: [...messages, user('Oslo')], tools: [tool('trains', { from: { type: 'string' } })] }))[0],
    ).toMatchObject({ type: 'call' })
    expect(performance.now() - started).toBeLessThan(20_000)
  })

  const strange: readonly unknown[] = [
    {},
    { type: 'object' },
    { type: 'object', properties: { a: true, b: false, c: null }, required: 'a' },
    { $ref: '#/$defs/a', $defs: { a: { $ref: '#/$defs/a' } } },
    { type: 'object', properties: { self: { $ref: '#' } }, required: ['self'] },
    { type: 'object', properties: { __proto__: { type: 'string' }, constructor: { type: 'string' } }, required: ['constructor'] },
    { type: 'object', properties: { a: { anyOf: [] }, b: { enum: [] }, c: { type: [] } }, required: ['a', 'b', 'c'] },
    { type: 'object', properties: { '': { type: 'string' }, '.*(': { type: 'string', pattern: '(' } }, required: ['', '.*('] },
  ]
  it.each(strange)('a schema like %j is no reason to throw', async (schema) => {
    for (const text of ['look at Oslo for 2 nights', 'look', '']) {
      const parts = await replyTo({ messages: [user(text)], tools: [{ name: 'look', description: '', inputSchema: schema as JsonSchema }] })
      expect(parts.at(-1)?.type).toBe('finish')
      const wanted = await replyTo({ messages: [user(text)], output: { schema: schema as never } })
      expect(() => JSON.parse(textOf(wanted))).not.toThrow()
    }
  })

  it('no request makes it throw, and every call is an object', async () => {
    const words = fc.constantFrom(
      'weather',
      'in',
      'Oslo',
      'and',
      'then',
      'it',
      '"',
      '2',
      'nights',
      'from',
      'to',
      ':',
      'saying',
      '.',
      '\n',
      'a@b.c',
      '/x',
      '$&',
      '\\',
      '\ud800',
    )
    const request = fc.oneof(
      fc.string({ unit: 'binary' }),
      fc.array(words, { maxLength: 12 }).map((all) => all.join(' ')),
    )
    const tools = [
      weather,
      tool('book_room', { city: { type: 'string' }, nights: { type: 'integer' } }),
      tool('send_mail', { to: { type: 'string' }, body: { type: 'string' } }),
    ]
    await fc.assert(
      fc.asyncProperty(fc.array(request, { minLength: 1, maxLength: 3 }), async (requests) => {
        const parts = await replyTo({ messages: requests.map(user), tools })
        for (const part of parts) if (part.type === 'call') expect(JSON.parse(part.input)).toBeTypeOf('object')
        expect(parts.at(-1)?.type).toBe('finish')
      }),
      { numRuns: process.env.TROUPE_FULL ? 1_000 : 100 },
    )
  })
})
