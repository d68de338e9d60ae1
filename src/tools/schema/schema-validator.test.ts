import { Ajv2020 } from 'ajv/dist/2020.js'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { JsonSchema, Validation } from '../../contracts/index.ts'
import { schemaValidator } from './schema-validator.ts'

const shared = schemaValidator()
const validate = async (schema: JsonSchema, value: unknown): Promise<Validation> => (await shared.compile(schema))(value)
const problems = async (schema: JsonSchema, value: unknown): Promise<readonly string[] | 'valid'> => {
  const validation = await validate(schema, value)
  return validation.ok ? 'valid' : validation.problems
}

const search: JsonSchema = {
  type: 'object',
  properties: {
    query: { type: 'string', description: 'What to look for', minLength: 2 },
    limit: { type: 'integer', minimum: 1, maximum: 50 },
    mode: { type: 'string', enum: ['fast', 'full'] },
    tags: { type: 'array', items: { type: 'string' }, maxItems: 3, uniqueItems: true },
    filter: { type: 'object', properties: { name: { type: 'string' }, age: { type: 'number' } }, required: ['name'] },
    deep: { type: 'boolean' },
    level: { type: 'integer', enum: [1, 2] },
  },
  required: ['query'],
  additionalProperties: false,
}

describe('validator', () => {
  it('compiles what is referred to often only once: a page of schema does not become gigabytes', { timeout: 4_000 }, async () => {
    const each = (schema: JsonSchema): JsonSchema => Object.fromEntries(Array.from({ length: 200 }, (_, i) => [`p${i}`, schema]))
    const big = { type: 'object', properties: each({ type: 'string' }) }
    const schema = { type: 'object', properties: each({ $ref: '#/$defs/big' }), $defs: { big } }
    expect(await problems(schema, { p0: { p1: 'a' } })).toBe('valid')
    expect(await problems(schema, { p0: { p1: [] } })).toEqual([expect.stringContaining('p0.p1')])
  })

  it('answers without a promise once it is loaded, and the same function for the same schema', async () => {
    const validator = schemaValidator()
    const first = validator.compile(search)
    expect(first).toBeInstanceOf(Promise)
    const compiled = await first
    expect(validator.compile(search)).toBe(compiled)
    expect(validator.compile({ ...search })).toBeTypeOf('function')
  })

  it('compiles once when asked twice before it is loaded', async () => {
    const validator = schemaValidator()
    const [one, other] = await Promise.all([validator.compile(search), validator.compile(search)])
    expect(one).toBe(other)
  })

  it('answers the very value when it is valid', async () => {
    const value = { query: 'cats', tags: ['a'] }
    const validation = await validate(search, value)
    expect(validation).toEqual({ ok: true, value: { query: 'cats', tags: ['a'] } })
    expect(validation.ok && validation.value).toBe(value)
  })

  it('keeps schemas with the same id apart', async () => {
    const one = { $id: 'https://x.dev/s', type: 'object', properties: { a: { type: 'string' } } }
    const other = { $id: 'https://x.dev/s', type: 'object', properties: { a: { type: 'array' } } }
    expect([await problems(one, { a: 'x' }), await problems(other, { a: [] })]).toEqual(['valid', 'valid'])
  })

  it('ignores formats', async () => {
    expect(await problems({ type: 'object', properties: { at: { type: 'string', format: 'lunar' } } }, { at: 'x' })).toBe('valid')
  })

  it('does not take what objects inherit for input', async () => {
    expect(await problems({ type: 'object', properties: { constructor: { type: 'string' } }, required: ['constructor'] }, {})).toEqual([
      'missing required "constructor" (string)',
    ])
  })
})

describe('a schema that cannot be compiled', () => {
  it.each([
    [{ type: 'strng' }, /^this tool cannot be used: its input schema is invalid: .*type/],
    [{ type: 'object', properties: { a: { $ref: '#/$defs/b' } } }, /^this tool cannot be used: its input schema is invalid: .*b/],
    [{ $async: true, type: 'object' }, /^this tool cannot be used: its input schema is invalid: "\$async" is not supported$/],
  ])('%j refuses every value with the cause', async (schema, cause) => {
    const answer = await problems(schema, {})
    expect(answer).toEqual([expect.stringMatching(cause)])
  })

  it('ends on schemas and values that never do', async () => {
    const own: { [key: string]: unknown } = { type: 'object' }
    own.properties = { own }
    expect(await problems(own, {})).toEqual([expect.stringContaining('this tool cannot be used')])
    const ring = { type: 'object', properties: { a: { $ref: '#/$defs/a' } }, $defs: { a: { allOf: [{ $ref: '#/$defs/a' }] } } }
    expect(await problems(ring, { a: 1 })).toEqual(['the input is nested too deeply'])
    let deep: object = {}
    for (let level = 0; level < 50_000; level++) deep = { child: deep }
    const tree = { type: 'object', properties: { child: { $ref: '#' } } }
    expect(await problems(tree, deep)).toEqual(['the input is nested too deeply'])
  })
})

describe('problems', () => {
  it.each<[string, unknown, readonly string[]]>([
    ['a type', { query: 'cats', limit: 'ten' }, ['limit: expected integer, got "ten"']],
    ['a missing property', {}, ['missing required "query" (string: What to look for)']],
    [
      'an unknown property',
      { querry: 'cats' },
      [
        'missing required "query" (string: What to look for)',
        'unknown property "querry"; did you mean "query"? Allowed: query, limit, mode, tags, filter, deep, level',
      ],
    ],
    [
      'an unknown property that is near nothing',
      { query: 'cats', colour: 1 },
      ['unknown property "colour". Allowed: query, limit, mode, tags, filter, deep, level'],
    ],
    ['a value of a list', { query: 'cats', mode: 'quick' }, ['mode: expected one of "fast", "full", got "quick"']],
    ['a near value of a list', { query: 'cats', mode: 'Full' }, ['mode: expected one of "fast", "full", got "Full"; did you mean "full"?']],
    ['an item', { query: 'cats', tags: ['a', 'b', {}] }, ['tags[2]: expected string, got {}']],
    ['a property of a property', { query: 'cats', filter: { name: [] } }, ['filter.name: expected string, got []']],
    ['a missing property of a property', { query: 'cats', filter: {} }, ['filter: missing required "name" (string)']],
    ['bounds of numbers', { query: 'cats', limit: 0 }, ['limit: expected a number >= 1, got 0']],
    ['bounds of texts', { query: 'c' }, ['query: expected at least 2 characters, got 1: "c"']],
    ['bounds of lists', { query: 'cats', tags: ['a', 'b', 'c', 'd'] }, ['tags: expected at most 3 items, got 4']],
    ['equal items', { query: 'cats', tags: ['a', 'b', 'a'] }, ['tags: expected different items, but [0] and [2] are equal']],
    ['the root', [1, 2], ['input: expected object, got [1,2]']],
    [
      'several at once',
      { limit: 'ten', mode: 5 },
      [
        'missing required "query" (string: What to look for)',
        'limit: expected integer, got "ten"',
        'mode: expected one of "fast", "full", got 5',
      ],
    ],
  ])('name %s', async (_, value, expected) => {
    expect(await problems(search, value)).toEqual(expected)
  })

  it('are at most ten and a count', async () => {
    const schema = { type: 'object', properties: {}, additionalProperties: { type: 'integer' } }
    const value = Object.fromEntries(Array.from({ length: 25 }, (_, index) => [`k${index}`, 'x']))
    const found = await problems(schema, value)
    expect([found.length, found[0], found[10]]).toEqual([11, 'k0: expected integer, got "x"', 'and 15 more'])
  })

  it('shorten what is long', async () => {
    const [problem = ''] = await problems(search, { query: 'cats', limit: 'x'.repeat(5_000) })
    expect(problem.length).toBeLessThan(150)
  })

  it('write unusual names unambiguously', async () => {
    const schema = { type: 'object', properties: { 'content type': { type: 'object', additionalProperties: { type: 'null' } } } }
    expect(await problems(schema, { 'content type': { 'a/b~c': 1, '2': 1 } })).toEqual([
      '["content type"]["2"]: expected null, got 1',
      '["content type"]["a/b~c"]: expected null, got 1',
    ])
  })

  const then = 'then'
  it.each<{ about: string; schema: unknown; value: unknown; problem: string }>([
    { about: 'const', schema: { const: 'a' }, value: 'b', problem: 'x: expected "a", got "b"' },
    { about: 'pattern', schema: { pattern: '^[a-z]+$' }, value: 'A1', problem: 'x: expected a string that matches ^[a-z]+$, got "A1"' },
    { about: 'multipleOf', schema: { multipleOf: 5 }, value: 7, problem: 'x: expected a multiple of 5, got 7' },
    { about: 'not', schema: { not: { type: 'integer' } }, value: 7, problem: 'x: expected anything but integer, got 7' },
    {
      about: 'contains',
      schema: { contains: { type: 'string' } },
      value: [1],
      problem: 'x: expected 1 item or more that match: string; got [1]',
    },
    { about: 'false', schema: false, value: 1, problem: 'x: nothing is allowed here, got 1' },
    { about: 'minProperties', schema: { minProperties: 1 }, value: {}, problem: 'x: expected at least 1 property, got 0' },
    {
      about: 'items after a prefix',
      schema: { prefixItems: [{}], items: false },
      value: [1, 2],
      problem: 'x: expected at most 1 item, got 2',
    },
    {
      about: 'dependentRequired',
      schema: { dependentRequired: { a: ['b'] } },
      value: { a: 1 },
      problem: 'x: missing "b", which is required together with "a"',
    },
    {
      about: 'propertyNames',
      schema: { propertyNames: { pattern: '^a' } },
      value: { b: 1 },
      problem: 'name of a property of x: expected a string that matches ^a, got "b"',
    },
    {
      about: 'if and then',
      schema: { if: { required: ['a'] }, [then]: { required: ['b'] } },
      value: { a: 1 },
      problem: 'x: missing required "b"',
    },
    {
      about: 'unevaluatedProperties',
      schema: { properties: { a: true }, unevaluatedProperties: false },
      value: { aa: 1 },
      problem: 'x: unknown property "aa"; did you mean "a"? Allowed: a',
    },
  ])('explain $about', async ({ schema, value, problem }) => {
    expect(await problems({ type: 'object', properties: { x: schema } }, { x: value })).toEqual([problem])
  })
})

describe('a choice of schemas', () => {
  const circle = { type: 'object', properties: { kind: { const: 'circle' }, radius: { type: 'number' } }, required: ['kind', 'radius'] }
  const square = { type: 'object', properties: { kind: { const: 'square' }, side: { type: 'number' } }, required: ['kind', 'side'] }
  const shape: JsonSchema = {
    type: 'object',
    properties: { shape: { oneOf: [{ $ref: '#/$defs/circle' }, { $ref: '#/$defs/square' }, { type: 'null' }] } },
    $defs: { circle, square },
  }

  it.each<[string, unknown, readonly string[]]>([
    ['speaks of the one branch that is meant', { kind: 'circle', radius: [] }, ['shape.radius: expected number, got []']],
    ['speaks of what is missing there', { kind: 'square' }, ['shape: missing required "side" (number)']],
    [
      'names all where none is',
      'round',
      ['shape: expected object with kind "circle", radius or object with kind "square", side or null, got "round"'],
    ],
    [
      'names all where the telling property is wrong',
      { kind: 'cube' },
      ['shape: expected object with kind "circle", radius or object with kind "square", side or null, got {"kind":"cube"}'],
    ],
  ])('%s', async (_, value, expected) => {
    expect(await problems(shape, { shape: value })).toEqual(expected)
  })

  it('joins simple types in one sentence', async () => {
    const schema = { type: 'object', properties: { id: { anyOf: [{ type: 'integer' }, { type: 'array', items: { type: 'string' } }] } } }
    expect(await problems(schema, { id: {} })).toEqual(['id: expected integer or array of string, got {}'])
  })

  it('keeps what is wrong beside it', async () => {
    const schema = { type: 'object', properties: { a: { type: 'integer' } }, anyOf: [{ required: ['b'] }, { required: ['c'] }] }
    expect(await problems(schema, { a: 'x' })).toEqual([
      'input: expected object with b or object with c, got {"a":"x"}',
      'a: expected integer, got "x"',
    ])
  })

  it('looks into choices within choices', async () => {
    const inner = { anyOf: [{ type: 'object', properties: { n: { type: 'integer' } } }, { type: 'null' }] }
    const schema = { type: 'object', properties: { x: { anyOf: [{ type: 'array', items: inner }, { type: 'null' }] } } }
    expect(await problems(schema, { x: [{ n: 'many' }] })).toEqual(['x[0].n: expected integer, got "many"'])
  })

  it('says when too many fit', async () => {
    const schema = { type: 'object', properties: { x: { oneOf: [{ type: 'integer' }, { minimum: 1 }] } } }
    expect(await problems(schema, { x: 5 })).toEqual(['x: matches several alternatives, but must match exactly one (1 and 2), got 5'])
  })

  it('stays fast on a thousand wrong items', async () => {
    const items = { oneOf: [{ $ref: '#/$defs/circle' }, { $ref: '#/$defs/square' }] }
    const large = { type: 'object', properties: { list: { type: 'array', items } }, $defs: shape.$defs }
    const started = performance.now()
    const found = await problems(large, { list: Array.from({ length: 1_000 }, (_, index) => index) })
    expect([found.length, performance.now() - started < 1_000]).toEqual([11, true])
  })
})

describe('a schema that looks twice at the same place', () => {
  const nested = (levels: number): object => {
    let value = {}
    for (let level = 0; level < levels; level++) value = { x: value }
    return value
  }
  const then = 'then'
  const again = { properties: { x: { $ref: '#/$defs/a' } } }

  it.each<[what: string, schema: JsonSchema]>([
    ['allOf', { type: 'object', $ref: '#/$defs/a', $defs: { a: { allOf: [again, again] } } }],
    ['patterns', { type: 'object', properties: { x: { $ref: '#' } }, patternProperties: { x: { $ref: '#' }, '^x': { $ref: '#' } } }],
    [
      'anchors',
      {
        type: 'object',
        $ref: '#a',
        $defs: { a: { $anchor: 'a', allOf: [{ properties: { x: { $ref: '#a' } } }, { additionalProperties: { $ref: '#a' } }] } },
      },
    ],
    [
      'anchors that move',
      { $dynamicAnchor: 'a', anyOf: [{ properties: { x: { $dynamicRef: '#a' } } }, { additionalProperties: { $dynamicRef: '#a' } }] },
    ],
  ])('ends, and refuses a value for which that is too often: %s', async (_what, schema) => {
    expect((await validate(schema, nested(8))).ok).toBe(true)
    expect(await problems(schema, nested(40))).toEqual([expect.stringMatching(/^validation takes too long:/)])
    expect((await validate(schema, nested(8))).ok).toBe(true)
  })

  it('where one way only is taken it is not too often, however many there are', async () => {
    const kinds = Array.from({ length: 20 }, (_, i) => ({
      if: { properties: { kind: { const: i } }, required: ['kind'] },
      [then]: { properties: { child: { $ref: '#' } } },
    }))
    let value: object = { kind: 1 }
    for (let level = 0; level < 60; level++) value = { kind: level % 20, child: value }
    expect((await validate({ type: 'object', allOf: kinds }, value)).ok).toBe(true)
  })

  it('neither is it for a value that is only large', async () => {
    const schema = {
      type: 'object',
      properties: { list: { type: 'array', items: { $ref: '#/$defs/a' } } },
      $defs: { a: { type: 'object' } },
    }
    expect((await validate(schema, { list: Array.from({ length: 1_100_000 }, () => ({})) })).ok).toBe(true)
  })
})

describe('conversion', () => {
  it.each<[string, unknown, unknown]>([
    ['numbers in texts', { query: 'cats', limit: '10' }, { query: 'cats', limit: 10 }],
    ['texts from numbers', { query: 2024 }, { query: '2024' }],
    ['booleans in texts', { query: 'cats', deep: 'True' }, { query: 'cats', deep: true }],
    ['lists in texts', { query: 'cats', tags: '["a","b"]' }, { query: 'cats', tags: ['a', 'b'] }],
    ['objects in texts, and texts in those', { query: 'cats', filter: '{"name":5}' }, { query: 'cats', filter: { name: '5' } }],
    ['the whole in a text', '{"query":"cats","limit":"3"}', { query: 'cats', limit: 3 }],
    ['a number where only some are allowed', { query: 'cats', level: '2' }, { query: 'cats', level: 2 }],
    ['null for what may be left out', { query: 'cats', limit: null, mode: null }, { query: 'cats' }],
  ])('%s', async (_, value, mended) => {
    const before = structuredClone(value)
    expect(await validate(search, value)).toEqual({ ok: true, value: mended })
    expect(value).toEqual(before)
  })

  it('fills in defaults of required properties', async () => {
    const page = { type: 'object', properties: { size: { type: 'integer', default: 10 } }, required: ['size'] }
    const properties = { query: {}, page: { ...page, default: {} }, sort: { $ref: '#/$defs/sort' }, mode: { type: 'string', default: 'a' } }
    const schema = { type: 'object', properties, required: Object.keys(properties), $defs: { sort: { enum: ['up'], default: 'up' } } }
    expect(await validate(schema, { query: 'cats', mode: null })).toEqual({
      ok: true,
      value: { query: 'cats', mode: 'a', page: { size: 10 }, sort: 'up' },
    })
    expect(await problems(schema, { page: { size: 'many' } })).toContain('missing required "query" (a value)')
  })

  it('fills in no default that the schema refuses, and none of a schema among several', async () => {
    const one = (name: string) => ({ properties: { [name]: { default: 1 } }, required: [name] })
    expect((await validate({ type: 'object', oneOf: [one('a'), one('b')] }, {})).ok).toBe(false)
    const wrong = { type: 'object', properties: { a: { type: 'integer', default: 'x' } }, required: ['a'] }
    expect((await validate(wrong, {})).ok).toBe(false)
  })

  it.each<[string, unknown]>([
    ['half a number', { query: 'cats', limit: '1.5' }],
    ['null for what is required', { query: null }],
    ['a number too large to keep', { query: 'cats', limit: '12345678901234567890' }],
    ['words', { query: 'cats', deep: 'yes please' }],
    ['text that is no list', { query: 'cats', tags: 'a, b' }],
    ['one of two mistakes', { query: 'cats', limit: '10', mode: 'quick' }],
  ])('does not touch %s', async (_, value) => {
    expect((await validate(search, value)).ok).toBe(false)
  })

  it('leaves a valid neighbour alone, also in a choice of types', async () => {
    const id = { anyOf: [{ type: 'integer' }, { type: 'string' }] }
    const schema = { type: 'object', properties: { id, limit: { type: 'integer' } } }
    expect(await validate(schema, { id: '7', limit: '10' })).toEqual({ ok: true, value: { id: '7', limit: 10 } })
  })

  it('converts values within the matching branch', async () => {
    const a = { properties: { kind: { const: 'a' }, n: { type: 'integer' } }, required: ['kind'] }
    const b = { properties: { kind: { const: 'b' }, n: { type: 'string' }, m: { type: 'integer' } }, required: ['kind'] }
    const schema = { type: 'object', properties: { x: { anyOf: [a, b] } } }
    expect(await validate(schema, { x: { kind: 'b', n: '007', m: '8' } })).toEqual({
      ok: true,
      value: { x: { kind: 'b', n: '007', m: 8 } },
    })
  })

  it('refuses rather than writing a place twice: "007" would come back as "7"', async () => {
    const one = { properties: { n: { type: 'integer' } }, required: ['q'] }
    const other = { properties: { n: { type: 'string' }, m: { type: 'integer' } } }
    const schema = { type: 'object', properties: { x: { anyOf: [one, other] } } }
    expect((await validate(schema, { x: { n: '007', m: '8' } })).ok).toBe(false)
  })

  it('converts optional values of schemas that Python generates', async () => {
    const schema = { type: 'object', properties: { limit: { anyOf: [{ type: 'integer' }, { type: 'null' }] } } }
    expect([await validate(schema, { limit: '5' }), await validate(schema, { limit: 'None' })]).toEqual([
      { ok: true, value: { limit: 5 } },
      { ok: true, value: { limit: null } },
    ])
  })

  it('keeps a property called __proto__ a property', async () => {
    const schema = { type: 'object', additionalProperties: { type: 'integer' } }
    const validation = await validate(schema, JSON.parse('{"__proto__":"5","a":"6"}'))
    expect(validation.ok && JSON.stringify(validation.value)).toBe('{"__proto__":5,"a":6}')
  })

  it('never changes what it is given, never throws, and answers only what is valid', async () => {
    const leaf = fc.constantFrom(
      { type: 'integer' },
      { type: 'string' },
      { type: 'boolean' },
      { type: 'array', items: { type: 'number' } },
      { type: ['null', 'object'] },
    )
    const schemas = fc
      .record({ a: leaf, b: leaf, c: fc.tuple(leaf, leaf).map((anyOf) => ({ anyOf })) })
      .map((properties) => ({ type: 'object', properties, required: ['a'] }))
    const values = fc.oneof(fc.jsonValue(), fc.constantFrom('5', 'true', '[1,"2"]', '{}', null, 1, 0))
    await fc.assert(
      fc.asyncProperty(schemas, fc.record({ a: values, b: values, c: values }), async (schema, value) => {
        const before = JSON.stringify(value)
        const validation = await validate(schema, value)
        expect(JSON.stringify(value)).toBe(before)
        const plain = new Ajv2020({ strict: false, meta: false, validateSchema: false }).compile(schema)
        if (plain(value)) expect(validation.ok && validation.value).toBe(value)
        else if (validation.ok) expect(plain(validation.value)).toBe(true)
        else expect(validation.problems.length).toBeGreaterThan(0)
      }),
      { numRuns: 200 },
    )
  })
})
