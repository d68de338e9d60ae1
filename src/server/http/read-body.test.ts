import { expect, it } from 'vitest'
import { z } from 'zod'
import { checked, parseJson, readBody } from './read-body.ts'

type RequestBody = string | Uint8Array | ReadableStream

const schema = z.strictObject({ text: z.string(), list: z.array(z.union([z.string(), z.strictObject({ n: z.number() })])).optional() })

const post = (body: RequestBody, headers: { [name: string]: string } = { 'content-type': 'application/json' }): Request =>
  new Request('http://localhost/', { method: 'POST', body, headers, duplex: 'half' } as RequestInit)

const read = (body: RequestBody, headers?: { [name: string]: string }, maxBytes = 1000) => readBody(post(body, headers), schema, maxBytes)

/** A body in chunks; counts how many were read. */
function chunks(count: number, chunk: Uint8Array): { readonly body: ReadableStream; readonly pulled: () => number } {
  let pulled = 0
  const body = new ReadableStream({
    pull(controller) {
      if (pulled === count) return controller.close()
      pulled++
      controller.enqueue(chunk)
    },
  })
  return { body, pulled: () => pulled }
}

it.each(['application/json', 'application/json; charset=utf-8', 'Application/Vnd.api+JSON', undefined])(
  'reads JSON of the type %s',
  async (type) => {
    const body = new TextEncoder().encode('{"text":"grüß 🎭"}')
    expect(await read(body, type === undefined ? {} : { 'content-type': type })).toEqual({ text: 'grüß 🎭' })
  },
)

it('reads a character that arrives in two chunks', async () => {
  const bytes = new TextEncoder().encode('{"text":"🎭"}')
  const body = new ReadableStream({
    start(controller) {
      controller.enqueue(bytes.slice(0, 11))
      controller.enqueue(bytes.slice(11))
      controller.close()
    },
  })
  expect(await read(body)).toEqual({ text: '🎭' })
})

it.each([
  ['text/plain', { 'content-type': 'text/plain' }],
  ['a form', { 'content-type': 'application/x-www-form-urlencoded' }],
  ['compressed', { 'content-type': 'application/json', 'content-encoding': 'gzip' }],
  ['compressed twice', { 'content-type': 'application/json', 'content-encoding': 'identity, br' }],
])('refuses a body that is %s', async (_, headers) => {
  await expect(read('{"text":""}', headers)).rejects.toMatchObject({ status: 415 })
})

it.each([
  ['empty', ' '],
  ['no JSON', '{"text":'],
  ['two documents', '{"text":""}{"text":""}'],
  ['not UTF-8', new Uint8Array([0x22, 0xff, 0xfe, 0x22])],
  ['cut in a character', new Uint8Array([0x22, 0xf0, 0x9f])],
  ['too deep', `{"text":${'['.repeat(64)}${']'.repeat(64)}}`],
  ['too deep and not closed', '['.repeat(500)],
  ['no object', '"text"'],
])('refuses a body that is %s', async (_, body) => {
  await expect(read(body as RequestBody)).rejects.toMatchObject({ status: 400, kind: 'invalid_request' })
})

it('counts the depth outside of strings only', async () => {
  expect(await read(JSON.stringify({ text: `${'['.repeat(300)}\\"${'{'.repeat(300)}` }))).toHaveProperty('text')
})

it('refuses too many values. Those in strings do not count', () => {
  expect(() => parseJson(`[${'[],'.repeat(100_000)}0]`)).toThrow(expect.objectContaining({ status: 413 }))
  expect(parseJson(JSON.stringify([',['.repeat(300_000)]))).toHaveLength(1)
})

it('names some of many problems', () => {
  const many = Object.fromEntries(Array.from({ length: 1_000 }, (_, index) => [`k${index}`, 1]))
  expect(() => checked(many, z.strictObject({}), 'body')).toThrow(/k19: unknown field; and 980 more problems$/)
})

it('refuses a large body by its declared length, without reading it', async () => {
  const { body, pulled } = chunks(10, new Uint8Array(100))
  await expect(read(body, { 'content-type': 'application/json', 'content-length': '1001' })).rejects.toMatchObject({ status: 413 })
  expect(pulled()).toBeLessThanOrEqual(1)
})

it('refuses a body that is larger than declared', async () => {
  const { body } = chunks(1000, new Uint8Array(100).fill(32))
  await expect(read(body, { 'content-type': 'application/json', 'content-length': '5' })).rejects.toMatchObject({ status: 413 })
})

it('names every problem and the first field', () => {
  const wrong = { list: ['a', { n: 'x', m: 1 }, 3], more: true }
  expect(() => checked(wrong, schema, 'body')).toThrow(
    expect.objectContaining({
      options: expect.objectContaining({
        parameter: 'text',
        problems: [
          { place: 'text', message: expect.stringContaining('expected string') },
          { place: 'list.1.n', message: expect.stringContaining('expected number') },
          { place: 'list.1.m', message: 'unknown field' },
          { place: 'list.2', message: expect.any(String) },
          { place: 'more', message: 'unknown field' },
        ],
      }),
    }),
  )
})

it('says what is missing, which values exist, and which fields', () => {
  const body = z.strictObject({
    input: z.union([z.string(), z.array(z.string()), z.record(z.string(), z.json())]),
    decision: z.discriminatedUnion('kind', [z.strictObject({ kind: z.literal('approve') }), z.strictObject({ kind: z.literal('deny') })]),
    mode: z.enum(['queue', 'steer']),
    count: z.number().min(1),
  })
  expect(() => checked({ decision: {}, mode: 'later', count: '1', inptu: 'a' }, body, 'body')).toThrow(
    expect.objectContaining({
      message:
        'input: missing; expected string or array or object; decision.kind: expected "approve" or "deny"; mode: expected "queue" or "steer"; ' +
        'count: expected number; inptu: unknown field',
      options: expect.objectContaining({ remedy: 'Known fields: input, decision, mode, count.' }),
    }),
  )
  expect(() => checked({}, z.strictObject({ q: z.string() }), 'query')).toThrow('q: missing; expected string')
})
