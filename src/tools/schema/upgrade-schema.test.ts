// biome-ignore-all lint/suspicious/noThenProperty: the keyword `then`
import { describe, expect, it } from 'vitest'
import { checkSchema } from '../../util/json-schema/check-schema.ts'
import { compileSchema } from './compile-schema.ts'
import { upgradeSchema } from './upgrade-schema.ts'

const draft4 = 'http://json-schema.org/draft-04/schema#'
const draft7 = 'http://json-schema.org/draft-07/schema#'
const draft2019 = 'https://json-schema.org/draft/2019-09/schema'

function accepts(schema: object, value: unknown): boolean {
  const upgraded = upgradeSchema(schema as never)
  expect(checkSchema(upgraded, 'schema', 'any')).toEqual([])
  return compileSchema(upgraded)(value).ok
}

describe('schemas of older drafts', () => {
  it.each<[name: string, schema: object, values: { readonly valid: unknown[]; readonly invalid: unknown[] }]>([
    [
      'tuples',
      { $schema: draft7, items: [{ type: 'object' }, { type: 'array' }], additionalItems: { type: 'object' } },
      { valid: [[], [{}], [{}, [], {}]], invalid: [[[]], [{}, {}], [{}, [], []]] },
    ],
    ['tuples with an end', { $schema: draft4, items: [{}], additionalItems: false }, { valid: [[], [1]], invalid: [[1, 2]] }],
    ['tuples without a draft', { items: [{ type: 'object' }] }, { valid: [[{}, 1]], invalid: [[[]]] }],
    ['empty tuples', { $schema: draft7, items: [], additionalItems: { type: 'object' } }, { valid: [[{}]], invalid: [[[]]] }],
    [
      '2019-09',
      { $schema: draft2019, items: [{ type: 'object' }], $defs: {}, unevaluatedItems: false },
      { valid: [[{}]], invalid: [[{}, {}]] },
    ],
    ['additionalItems without a tuple', { $schema: draft7, items: {}, additionalItems: false }, { valid: [[1]], invalid: [] }],
    [
      'exclusive bounds',
      { $schema: draft4, minimum: 1, exclusiveMinimum: true, maximum: 3, exclusiveMaximum: false },
      { valid: [2, 3], invalid: [1, 4] },
    ],
    ['an exclusive bound without a bound', { $schema: draft4, exclusiveMinimum: true }, { valid: [0], invalid: [] }],
    ['exclusive bounds as numbers', { $schema: draft7, exclusiveMinimum: 1 }, { valid: [2], invalid: [1] }],
    [
      'ids of draft-04',
      { $schema: draft4, id: 'http://a/b', properties: { id: { $ref: 'c' } }, definitions: { c: { id: 'c', type: 'object' } } },
      { valid: [{ id: {} }], invalid: [{ id: [] }] },
    ],
    [
      'ids as anchors',
      { $schema: draft7, properties: { a: { $ref: '#c' } }, definitions: { c: { $id: '#c', type: 'object' } } },
      { valid: [{ a: {} }], invalid: [{ a: [] }] },
    ],
    [
      'references beside other keywords, which draft-07 ignores',
      { $schema: draft7, properties: { a: { $ref: '#/definitions/c', maxProperties: 0 } }, definitions: { c: { type: 'object' } } },
      { valid: [{ a: { b: 1 } }], invalid: [{ a: [] }] },
    ],
    [
      'references beside other keywords, which 2019-09 applies',
      { $schema: draft2019, properties: { a: { $ref: '#/$defs/c', maxProperties: 0 } }, $defs: { c: { type: 'object' } } },
      { valid: [{ a: {} }], invalid: [{ a: { b: 1 } }, { a: [] }] },
    ],
    [
      'references to a place of a tuple, and to unknown keywords',
      { $schema: draft7, items: [{ $ref: '#/parts/c' }, { $ref: '#/items/0' }], parts: { c: { items: [{ type: 'object' }] } } },
      { valid: [[[{}], [{}]]], invalid: [[[[]]], [[], [[]]]] },
    ],
    [
      'recursion',
      { $schema: draft7, $ref: '#/definitions/n', definitions: { n: { required: ['v'], properties: { n: { $ref: '#/definitions/n' } } } } },
      { valid: [{ v: 1, n: { v: 1 } }], invalid: [{ v: 1, n: {} }] },
    ],
    [
      'recursion by an id',
      { $id: 'T0', type: 'object', required: ['v'], properties: { n: { $ref: 'T0' } } },
      { valid: [{ v: 1, n: { v: 1 } }], invalid: [{ v: 1, n: {} }] },
    ],
    [
      '$recursiveRef',
      { $schema: draft2019, required: ['v'], additionalProperties: { $recursiveRef: '#' } },
      { valid: [{ v: { v: 1 } }], invalid: [{ v: {} }] },
    ],
    [
      'dependencies',
      { $schema: draft4, dependencies: { a: ['b'], c: { items: [{}] } } },
      { valid: [{ a: 1, b: 1 }, { c: 1 }], invalid: [{ a: 1 }] },
    ],
    ['nullable', { type: 'object', nullable: true }, { valid: [null, {}], invalid: [[]] }],
    ['nullable without a type', { nullable: true }, { valid: [null, {}], invalid: [] }],
  ])('%s', (_, schema, { valid, invalid }) => {
    for (const value of valid) expect([value, accepts(schema, value)]).toEqual([value, true])
    for (const value of invalid) expect([value, accepts(schema, value)]).toEqual([value, false])
  })
})

describe('what cannot be checked is skipped, and the rest applies', () => {
  const bad = { pattern: '(?i)x' }
  const rest = { type: 'object', required: ['v'] }
  it.each<[name: string, schema: object]>([
    ['a pattern that is not one of JavaScript', { properties: { a: bad } }],
    ['a pattern that is invalid with the flag u', { properties: { a: { pattern: '[\\w-.]' } } }],
    ['an unknown keyword, format or type', { frobnicate: [], properties: { a: { format: 'frob', type: 'any' } } }],
    ['a misspelt keyword', { propertis: { a: false }, additionalPropertes: false }],
    ['a keyword with a wrong value', { properties: { a: { minLength: 'many', enum: [], multipleOf: 0, required: true } } }],
    ['null instead of a text', { description: null, title: 7 }],
    ['an empty list instead of properties', { properties: [] }],
    ['$async and $data', { $async: true, maxProperties: { $data: '1/a' } }],
    ['a reference to another server', { allOf: [{ $ref: 'https://example.org/schema.json' }] }],
    ['a reference to nothing', { properties: { a: { $ref: '#/$defs/none' } }, unevaluatedProperties: false }],
    ['a reference to itself', { properties: { a: { $ref: '#/properties/b' }, b: { $ref: '#/properties/a' } } }],
    ['an id that is no address', { $id: 'http://', $schema: 7 }],
    ['a pattern of names', { patternProperties: { '(?i)a': { type: 'array' } }, properties: { v: {} }, additionalProperties: false }],
    ['a pattern in `not`', { properties: { a: { not: bad } } }],
    ['a pattern in `if`', { properties: { a: { if: bad, then: false } } }],
    ['a pattern in `oneOf`', { properties: { a: { oneOf: [bad, { type: 'string' }] } } }],
    ['a pattern in `oneOf` beside `anyOf`', { properties: { a: { oneOf: [bad, {}], anyOf: [{}] } } }],
    ['a pattern in `contains`', { properties: { a: { contains: bad, maxContains: 0 } } }],
    [
      'a pattern behind a reference in `not`',
      { properties: { a: { not: { $ref: '#/$defs/b' } } }, $defs: { b: { allOf: [{ $ref: '#/$defs/c' }] }, c: bad } },
    ],
    ['a required name that resembles another', { required: ['v', 'a', 'colour'], properties: { color: {} } }],
  ])('%s', (_, schema) => {
    expect(accepts({ ...rest, ...schema }, { v: 1, a: 'text', colour: 'red' })).toBe(true)
    expect(accepts({ ...rest, ...schema }, { a: 'text', colour: 'red' })).toBe(false)
  })

  it('`not`, `if` and `oneOf` of which nothing was skipped apply', () => {
    const schema = { properties: { a: bad, b: { not: { type: 'object' } }, c: { oneOf: [{}, { type: 'object' }] } } }
    expect(accepts(schema, { a: 'text', b: 1, c: 1 })).toBe(true)
    expect(accepts(schema, { b: {} })).toBe(false)
    expect(accepts(schema, { c: {} })).toBe(false)
  })
})

it('models get JSON Schema 2020-12 that providers accept', () => {
  const schema = {
    $schema: draft7,
    $id: 'urn:x',
    $comment: 'made by a program',
    type: 'object',
    properties: {
      point: { type: 'array', items: [{ type: 'number' }, { type: 'number' }], additionalItems: false, minItems: 2 },
      names: { type: 'array' },
      kind: { $ref: '#/definitions/Kind', description: 'What it is' },
    },
    definitions: { Kind: { enum: ['a'], markdownDescription: '*a*' }, Unused: {} },
  }
  expect(upgradeSchema(schema)).toEqual({
    type: 'object',
    properties: {
      point: { type: 'array', prefixItems: [{ type: 'number' }, { type: 'number' }], items: {}, minItems: 2, maxItems: 2 },
      names: { type: 'array', items: {} },
      kind: { $ref: '#/$defs/Kind', description: 'What it is' },
    },
    $defs: { Kind: { enum: ['a'], markdownDescription: '*a*' } },
  })
})

it('deep and large schemas end, and are refused by checkSchema', () => {
  const deep = JSON.parse(`${'{"not":'.repeat(1_000)}{}${'}'.repeat(1_000)}`)
  expect(checkSchema(upgradeSchema(deep), 'schema', 'any')[0]?.message).toContain('nested more than 200 deep')
  const chained = (link: (next: string) => object, end: object) => {
    const links = Array.from({ length: 1_500 }, (_, n) => [`d${n}`, link(`#/$defs/d${n + 1}`)])
    return upgradeSchema({ allOf: [{ $ref: '#/$defs/d0' }], $defs: { ...Object.fromEntries(links), d1500: end } })
  }
  expect(chained(($ref) => ({ $ref }), {})).toEqual({ allOf: [{}] })
  expect(chained(($ref) => ({ not: { $ref } }), { pattern: '(' }).$defs).toMatchObject({ d0: {}, d1499: {} })
})
