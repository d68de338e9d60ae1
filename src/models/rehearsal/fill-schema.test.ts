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
  .constantFrom('^[A-Z]{2}\\d{3}$', '^(?:yes|no)$', '^\\w+@\\w+\\.com$', '[^a-z]', '^#[0-9a-f]{6}$', 'x+y?z*', '^\\d{4}-\\d{2}$')
  .map((pattern) => ({ type: 'string', pattern }))
const numbers = fc
  .record({
    type: fc.constantFrom('number', 'integer'),
    low: fc.integer({ min: -50, max: 50 }),
    width: fc.integer({ min: 10, max: 60 }),
    form: fc.integer({ min: 0, max: 5 }),
  })
  .map(({ type, low, width, form }): JsonSchema => {
    if (form === 0) return { type }
    if (form === 1) return { type, minimum: low }
    if (form === 2) return { type, minimum: low, maximum: low + width }
    if (form === 3) return { type, exclusiveMinimum: low, exclusiveMaximum: low + width }
    return form === 4 ? { type, multipleOf: 5, minimum: low, maximum: low + width } : { type, maximum: low }
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
    fc
      .record({ prefixItems: fc.array(tie('schema'), { minLength: 1, maxLength: 2 }) })
      .map((rest) => ({ type: 'array', minItems: rest.prefixItems.length, ...rest })),
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
  it('is valid, whatever the schema', () => {
    fc.assert(
      fc.property(anySchema, (schema) => {
        expect(valid(schema, fillSchema(schema, noKnowledge).value)).toBe('valid')
      }),
      { numRuns: process.env.TROUPE_FULL ? 1_500 : 150 },
    )
  })

  it('is valid, whatever is known', () => {
    fc.assert(
      fc.property(anySchema, fc.jsonValue(), (schema, value) => {
        expect(valid(schema, fillSchema(schema, () => value as Json).value)).toBe('valid')
      }),
      { numRuns: process.env.TROUPE_FULL ? 800 : 80 },
    )
  })

  it('is judged as the loop judges it', () => {
    fc.assert(
      fc.property(anySchema, fc.oneof(anySchema, fc.constant({ type: 'object' })), (schema, other) => {
        const value = fillSchema(other, noKnowledge).value
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
    ['ends where a reference comes round', { $ref: '#/$defs/node', $defs: { node: tree } }, { value: 0, next: null }],
    [
      'has different items where they must differ',
      { type: 'array', items: { type: 'string' }, minItems: 3, uniqueItems: true },
      ['', '1', '2'],
    ],
    ['has what a list must contain', { type: 'array', contains: { const: 7 } }, [7]],
    ['has enough properties', { type: 'object', properties: { a: { type: 'boolean' } }, minProperties: 2 }, { a: false, field1: '' }],
    [
      'has what a property brings along',
      { type: 'object', properties: { a: {}, b: {} }, required: ['a'], dependentRequired: { a: ['b'] } },
      { a: '', b: '' },
    ],
    ['takes the first alternative that only it fits', { oneOf: [{ type: 'number' }, { type: 'integer' }] }, 0.5],
    [
      'reads two patterns at once',
      { type: 'object', patternProperties: { '^x': { type: 'integer' } }, required: ['x1', 'y'] },
      { x1: 0, y: '' },
    ],
    [
      'has what a condition brings along',
      {
        type: 'object',
        properties: { a: { const: 1 } },
        required: ['a'],
        if: { properties: { a: { const: 1 } } },
        // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
        then: { required: ['b'], properties: { b: { type: 'string', minLength: 3 } } },
      },
      { a: 1, b: 'unknown' },
    ],
    [
      'heeds each of several conditions',
      {
        type: 'object',
        properties: { kind: { enum: ['mail', 'call'] }, to: { type: 'string' } },
        required: ['kind'],
        allOf: [
          // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
          { if: { properties: { kind: { const: 'mail' } } }, then: { required: ['to'] }, else: { required: ['number'] } },
          // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
          { if: { required: ['to'] }, then: { required: ['urgent'], properties: { urgent: { type: 'boolean' } } } },
        ],
      },
      { kind: 'mail', to: '', urgent: false },
    ],
    ['leaves optional things out', { type: 'object', properties: { note: { type: 'string' } } }, {}],
  ])('%s', (_, schema, expected) => {
    const value = fillSchema(schema, noKnowledge).value
    expect(value).toEqual(expected)
  })

  it('goes as deep as its schema', () => {
    let schema: JsonSchema = { type: 'string', minLength: 1 }
    for (let level = 0; level < 200; level++) schema = { type: 'object', properties: { a: schema }, required: ['a'] }
    const { value, fits } = fillSchema(schema, noKnowledge)
    expect(fits).toBe(true)
    expect(valid(schema, value)).toBe('valid')
  })

  it('takes work in proportion to an enum, not to its square', () => {
    const reads = { count: 0 }
    const counted = (length: number) => {
      const values = Array.from({ length }, (_, at) => `v${at}`)
      reads.count = 0
      const watched = new Proxy(values, {
        get(target, key, receiver) {
          if (typeof key === 'string' && /^\d+$/.test(key)) reads.count += 1
          return Reflect.get(target, key, receiver)
        },
      })
      const schema = { type: 'object', properties: { c: { enum: watched } }, required: ['c'] }
      expect(fillSchema(schema, noKnowledge)).toEqual({ value: { c: 'v0' }, fits: true })
      return reads.count
    }
    expect(counted(5_000)).toBeLessThan(10 * 5_000)
  })

  it('says where nothing fits', () => {
    const node = { type: 'object', properties: { next: { $ref: '#' } }, required: ['next'] }
    expect(fillSchema(node, noKnowledge).fits).toBe(false)
    const either: JsonSchema = { anyOf: [{ $ref: '#' }, { $ref: '#' }, { type: 'array', items: { $ref: '#' }, minItems: 1 }] }
    expect(fillSchema(either, noKnowledge).fits).toBe(false)
  })

  it('takes what is known, where it fits', () => {
    const schema = {
      type: 'object',
      properties: { city: { type: 'string' }, days: { type: 'integer' }, note: { type: 'string' } },
      required: ['city', 'days'],
    }
    const know: Knowledge = (name) => ({ city: 'Oslo', days: 'three', note: 'dry' })[name]
    expect(fillSchema(schema, know).value).toEqual({ city: 'Oslo', days: 0, note: 'dry' })
  })

  it('ends, though nothing could ever fit', () => {
    const child = { $ref: '#' }
    const schema = { type: 'object', properties: { a: child, b: child, c: child }, required: ['a', 'b', 'c'] }
    expect(JSON.stringify(fillSchema(schema, noKnowledge).value).length).toBeLessThan(20_000)
    const maze = {
      anyOf: [
        { type: 'array', items: child, minItems: 3 },
        { type: 'object', properties: { a: child }, required: ['a'] },
      ],
      minProperties: 2,
    }
    expect(JSON.stringify(fillSchema(maze, noKnowledge).value).length).toBeLessThan(20_000)
  })
})
