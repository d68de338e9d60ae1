import { describe, expect, it } from 'vitest'
import type { JsonSchema } from '../../contracts/index.ts'
import { fitsAnthropicMode, fitsGeminiMode, fitsLooseMode, fitsStrictMode } from './schema-limits.ts'

const closed = (properties: JsonSchema, more: JsonSchema = {}): JsonSchema => ({
  type: 'object',
  properties,
  required: Object.keys(properties),
  additionalProperties: false,
  ...more,
})
const text = { type: 'string' }
const nested = (depth: number): JsonSchema => closed({ a: depth === 0 ? text : nested(depth - 1) })
const wide = (count: number): JsonSchema => closed(Object.fromEntries(Array.from({ length: count }, (_, i) => [`p${i}`, text])))

/** By mode: strict and loose of OpenAI, Anthropic's, Gemini's. */
type Fit = [label: string, schema: JsonSchema, modes: readonly boolean[]]
const cases: Fit[] = [
  ['a closed object', closed({ a: text }), [true, true, true, true]],
  ['a described one', closed({ a: { ...text, description: 'x', title: 'y' } }), [true, true, true, true]],
  ['choices', closed({ a: { anyOf: [text, { type: 'null' }] }, b: { enum: ['x'] }, c: { const: 1 } }), [true, true, true, true]],
  ['a list of objects', closed({ a: { type: 'array', items: closed({ b: text }), minItems: 1 } }), [true, true, true, true]],
  ['an open object', { type: 'object', properties: { a: text }, required: ['a'] }, [false, true, true, true]],
  ['an optional property', { ...closed({ a: text }), required: [] }, [false, true, true, true]],
  ['a map', closed({ a: { type: 'object', additionalProperties: text } }), [false, true, false, true]],
  ['an open object within', closed({ a: { type: ['object', 'null'] } }), [false, true, false, true]],
  ['no object at all', { type: 'array', items: text }, [false, false, false, false]],
  ['no type', {}, [false, false, false, false]],
  ['a choice at the root', { type: 'object', anyOf: [closed({ a: text })] }, [false, false, false, false]],
  ['a pattern', closed({ a: { ...text, pattern: '^x' } }), [true, true, true, false]],
  ['a pattern that looks ahead', closed({ a: { ...text, pattern: '^(?=x)' } }), [false, true, true, false]],
  ['a format', closed({ a: { ...text, format: 'date' } }), [true, true, true, true]],
  ['an odd format', closed({ a: { ...text, format: 'iri' } }), [false, true, true, true]],
  ['a length', closed({ a: { ...text, minLength: 1 } }), [false, true, true, false]],
  ['a default', closed({ a: { ...text, default: 'x' } }), [false, true, true, false]],
  ['an intersection', closed({ a: { allOf: [text] } }), [false, true, false, false]],
  ['names of properties', closed({ a: { type: 'object', propertyNames: text } }), [false, false, false, false]],
  ['recursion', closed({ a: { $ref: '#' } }), [true, true, false, false]],
  ['a reference elsewhere', closed({ a: { $ref: 'https://example.com/s.json' } }), [false, true, false, false]],
  ['something deep', nested(11), [false, true, true, true]],
  ['something wide', wide(101), [false, true, true, true]],
  ['many optional properties', { ...wide(11), required: [] }, [false, true, false, true]],
  ['a true schema', closed({ a: true }), [false, true, false, false]],
]

describe('the schema modes', () => {
  it.each(cases)('are asked only for what they take: %s', (_label, schema, modes) => {
    expect([fitsStrictMode, fitsLooseMode, fitsAnthropicMode, fitsGeminiMode].map((fits) => fits(schema))).toEqual(modes)
  })
})
