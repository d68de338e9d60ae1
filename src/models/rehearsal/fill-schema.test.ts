import { Ajv2020 } from 'ajv/dist/2020.js'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { Json, JsonSchema } from '../../contracts/index.ts'
import { conforms } from './conforms.ts'
import { fillSchema, type Knowledge, noKnowledge } from './fill-schema.ts'

const valid = (schema: JsonSchema, value: Json): string => {
  const ajv = new Ajv2020({ strict: false, validateFormats: false, logger: false, ownProperties: true, meta: false, validateSchema: false })
  const check = ajv.compile(schema)
  return check(value) ? 'valid' : `${JSON.stringify(value)}: ${ajv.errorsText(check.errors)}`
}

const names = fc.constantFrom('city', 'count', 'items', 'answer', 'ok', 'constructor', 'hasOwnProperty', 'a b')

const texts = fc.record(
  {
    type: fc.constant('string'),
    minLength: fc.integer({ min: 0, max: 12 }),
    maxLength: fc.integer({ min: 12, max: 40 }),
    format: fc.constantFrom('date', 'email', 'uri', 'uuid', 'date-time'),
  },
  { requiredKeys: ['type'] },
)
const patterned = fc
  .constantFrom('^[A-Z]{2}\\d{3}$', '^\\w+@\\w+\\.com$', '^#[0-9a-f]{6}$', 'x+y?z*', '^\\d{4}-\\d{2}$')
  .map((pattern) => ({ type: 'string', pattern }))
const numbers = fc
  .record({
    type: fc.constantFrom('number', 'integer'),
    low: fc.integer({ min: -50, max: 50 }),
    width: fc.integer({ min: 10, max: 60 }),
    form: fc.integer({ min: 0, max: 4 }),
  })
  .map(({ type, low, width, form }): JsonSchema => {
    if (form === 0) return { type }
    if (form === 1) return { type, minimum: low }
    if (form === 2) return { type, minimum: low, maximum: low + width }
    if (form === 3) return { type, exclusiveMinimum: low, exclusiveMaximum: low + width }
    return { type, maximum: low }
  })
const fixed: fc.Arbitrary<JsonSchema> = fc.oneof(
  fc.constant({ type: 'boolean' }),
  fc.constant({ type: 'null' }),
  fc.constant({ type: ['string', 'null'] }),
  fc.constant({}),
  fc.jsonValue().map((value) => ({ const: value as Json })),
  fc.uniqueArray(fc.constantFrom('a', 'b', 1, 2, null, true), { minLength: 1 }).map((values) => ({ enum: values })),
)
const leaf: fc.Arbitrary<JsonSchema> = fc.oneof(texts, patterned, numbers, fixed)

const { schema: anySchema } = fc.letrec<{ schema: JsonSchema }>((tie) => ({
  schema: fc.oneof(
    { maxDepth: 4, withCrossShrink: true },
    leaf,
    fc
      .record({ properties: fc.dictionary(names, tie('schema'), { maxKeys: 4 }), all: fc.boolean(), closed: fc.boolean() })
      .map(({ properties, all, closed }) => ({
        type: 'object',
        properties,
        required: Object.keys(properties).filter((_, at) => all || at % 2 === 0),
        ...(closed && { additionalProperties: false }),
      })),
    fc.record({ items: tie('schema'), minItems: fc.integer({ min: 0, max: 3 }) }).map((rest) => ({ type: 'array', ...rest })),
    fc.array(tie('schema'), { minLength: 1, maxLength: 3 }).map((anyOf) => ({ anyOf })),
    fc.record({ inner: tie('schema') }).map(({ inner }) => ({
      oneOf: [
        { type: 'object', properties: { kind: { const: 'a' }, inner }, required: ['kind', 'inner'] },
        { type: 'object', properties: { kind: { const: 'b' } }, required: ['kind'] },
      ],
    })),
    fc.record({ one: tie('schema'), two: tie('schema') }).map(({ one, two }) => ({
      allOf: [
        { type: 'object', properties: { one }, required: ['one'] },
        { type: 'object', properties: { two }, required: ['two'] },
      ],
    })),
  ),
}))

describe('an answer for a schema', () => {
  it('is valid for every schema of common keywords', () => {
    fc.assert(
      fc.property(anySchema, (schema) => {
        expect(valid(schema, fillSchema(schema, noKnowledge))).toBe('valid')
      }),
      { numRuns: process.env.TROUPE_FULL ? 1_500 : 150 },
    )
  })

  it('is valid for every known value', () => {
    fc.assert(
      fc.property(anySchema, fc.jsonValue(), (schema, value) => {
        expect(
          valid(
            schema,
            fillSchema(schema, () => value as Json),
          ),
        ).toBe('valid')
      }),
      { numRuns: process.env.TROUPE_FULL ? 800 : 80 },
    )
  })

  it('is checked with the same result as in the agent loop', () => {
    fc.assert(
      fc.property(anySchema, fc.oneof(anySchema, fc.constant({ type: 'object' })), (schema, other) => {
        const value = fillSchema(other, noKnowledge)
        expect(conforms(value, schema, { root: schema })).toBe(valid(schema, value) === 'valid')
      }),
      { numRuns: process.env.TROUPE_FULL ? 1_000 : 100 },
    )
  })

  const tree = {
    type: 'object',
    properties: { value: { type: 'integer' }, next: { anyOf: [{ $ref: '#/$defs/node' }, { type: 'null' }] } },
    required: ['value', 'next'],
  }
  it.each<[name: string, schema: JsonSchema, expected: Json]>([
    ['ends a recursive reference', { $ref: '#/$defs/node', $defs: { node: tree } }, { value: 0, next: null }],
    ['omits optional properties', { type: 'object', properties: { note: { type: 'string' } } }, {}],
  ])('%s', (_, schema, expected) => {
    const value = fillSchema(schema, noKnowledge)
    expect(value).toEqual(expected)
  })

  it('goes as deep as its schema', () => {
    let schema: JsonSchema = { type: 'string', minLength: 1 }
    for (let level = 0; level < 200; level++) schema = { type: 'object', properties: { a: schema }, required: ['a'] }
    const value = fillSchema(schema, noKnowledge)
    expect(valid(schema, value)).toBe('valid')
  })

  it('has the known values that fit', () => {
    const schema = {
      type: 'object',
      properties: { city: { type: 'string' }, days: { type: 'integer' }, note: { type: 'string' } },
      required: ['city', 'days'],
    }
    const know: Knowledge = (name) => ({ city: 'Oslo', days: 'three', note: 'dry' })[name]
    expect(fillSchema(schema, know)).toEqual({ city: 'Oslo', days: 0, note: 'dry' })
  })

  it('ends where no value can fit', () => {
    const child = { $ref: '#' }
    const schema = { type: 'object', properties: { a: child, b: child, c: child }, required: ['a', 'b', 'c'] }
    expect(JSON.stringify(fillSchema(schema, noKnowledge)).length).toBeLessThan(20_000)
    const either: JsonSchema = { anyOf: [{ $ref: '#' }, { $ref: '#' }, { type: 'array', items: { $ref: '#' }, minItems: 1 }] }
    expect(fillSchema(either, () => 'known')).toEqual([null])
    const maze = {
      anyOf: [
        { type: 'array', items: child, minItems: 3 },
        { type: 'object', properties: { a: child }, required: ['a'] },
      ],
      minProperties: 2,
    }
    expect(JSON.stringify(fillSchema(maze, noKnowledge)).length).toBeLessThan(20_000)
  })
})
