import { Ajv2020 } from 'ajv/dist/2020.js'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { Json, JsonObject, JsonSchema } from '../../src/contracts/index.ts'
import { reply, said, user } from './stage.ts'

// A JSON answer fits every schema with simple fields.

async function answer(schema: JsonSchema, request = 'Where is Oslo on 5 May 2026? Count 3 items: done'): Promise<Json> {
  return JSON.parse(said(await reply({ messages: [user(request)], output: { schema: schema as JsonObject } }))) as Json
}

function faults(schema: JsonSchema, value: Json): string {
  const ajv = new Ajv2020({ strict: false, validateFormats: false, logger: false, ownProperties: true })
  const check = ajv.compile(schema)
  return check(value) ? 'none' : `${JSON.stringify(value)}: ${ajv.errorsText(check.errors)}`
}

const texts = fc.record(
  {
    type: fc.constant('string'),
    minLength: fc.integer({ min: 0, max: 12 }),
    maxLength: fc.integer({ min: 12, max: 40 }),
    format: fc.constantFrom('date', 'email', 'uri', 'uuid', 'date-time'),
  },
  { requiredKeys: ['type'] },
)
const numbers = fc
  .record({ type: fc.constantFrom('number', 'integer'), low: fc.integer({ min: -50, max: 50 }), form: fc.integer({ min: 0, max: 4 }) })
  .map(
    ({ type, low, form }): JsonSchema =>
      [
        { type },
        { type, minimum: low },
        { type, minimum: low, maximum: low + 10 },
        { type, exclusiveMinimum: low, exclusiveMaximum: low + 10 },
        { type, maximum: low },
      ][form] ?? {},
  )
const others = fc.oneof(
  fc.constantFrom<JsonSchema>({ type: 'boolean' }, { type: 'null' }, { type: ['string', 'null'] }, {}),
  fc.constantFrom('a', 1, true, null).map((value) => ({ const: value })),
  fc.uniqueArray(fc.constantFrom('a', 'b', 1, 2, null, true), { minLength: 1 }).map((values) => ({ enum: values })),
)
const names = fc.constantFrom('city', 'count', 'items', 'answer', 'ok', 'date', 'done', 'constructor', 'hasOwnProperty', 'a b')
const { schema: simple } = fc.letrec<{ schema: JsonSchema }>((tie) => ({
  schema: fc.oneof(
    { maxDepth: 4, withCrossShrink: true },
    texts,
    numbers,
    others,
    fc.record({ properties: fc.dictionary(names, tie('schema'), { maxKeys: 4 }), closed: fc.boolean() }).map(({ properties, closed }) => ({
      type: 'object',
      properties,
      required: Object.keys(properties).filter((_, at) => at % 2 === 0),
      ...(closed && { additionalProperties: false }),
    })),
    fc.record({ items: tie('schema'), minItems: fc.integer({ min: 0, max: 3 }) }).map((rest) => ({ type: 'array', ...rest })),
    tie('schema').map((each) => ({ anyOf: [{ type: 'null' }, each] })),
    fc.record({ one: tie('schema'), two: tie('schema') }).map(({ one, two }) => ({
      allOf: [
        { type: 'object', properties: { one }, required: ['one'] },
        { type: 'object', properties: { two }, required: ['two'] },
      ],
    })),
  ),
}))

describe('an answer as JSON', () => {
  it('fits every schema with simple fields', async () => {
    await fc.assert(
      fc.asyncProperty(simple, async (schema) => {
        expect(faults(schema, await answer(schema))).toBe('none')
      }),
      { numRuns: process.env.TROUPE_FULL ? 1_500 : 150 },
    )
  })

  it('ends a reference to itself', async () => {
    const node = {
      type: 'object',
      properties: { value: { type: 'integer' }, next: { anyOf: [{ $ref: '#/$defs/node' }, { type: 'null' }] } },
      required: ['value', 'next'],
    }
    const schema = { $ref: '#/$defs/node', $defs: { node } }
    expect(faults(schema, await answer(schema))).toBe('none')
  })

  it('is not endless where nothing fits', async () => {
    const child = { $ref: '#' }
    for (const schema of [
      { type: 'object', properties: { a: child, b: child, c: child }, required: ['a', 'b', 'c'] },
      { type: 'array', items: child, minItems: 3 },
      { anyOf: [{ $ref: '#' }, { $ref: '#' }] },
      { allOf: [{ $ref: '#' }, { $ref: '#' }] },
    ])
      expect(JSON.stringify(await answer(schema)).length).toBeLessThan(50_000)
  })
})
