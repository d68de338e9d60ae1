import { Ajv2020 } from 'ajv/dist/2020.js'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { checkSchema } from './check-schema.ts'

const names = '"array", "boolean", "integer", "null", "number", "object", "string"'
const object = (properties: object, more: object = {}): object => ({ type: 'object', properties, ...more })
const tooLarge = 'expected at most 10000 keywords, names and subschemas in a schema, found more'
function many<Value>(each: () => Value): { readonly [name: string]: Value } {
  return Object.fromEntries(Array.from({ length: 5_000 }, (_, i) => [`p${i}`, each()]))
}

describe('checkSchema accepts', () => {
  it.each([
    ['no properties', { type: 'object' }],
    ['properties without a type', { properties: { query: {} } }],
    ['boolean schemas', object({ a: true, b: false }, { additionalProperties: false })],
    ['annotations of other dialects', object({ a: { type: 'string', example: 'x', 'x-order': 1, enumNames: ['A'] } })],
    [
      'keywords that are left undefined',
      { type: 'object', description: undefined, properties: { a: { type: 'string', pattern: undefined } } },
    ],
    ['a property named like a keyword', object({ type: { type: 'string' }, requred: { type: 'string' }, $ref: { type: 'string' } })],
    ['local references', object({ a: { $ref: '#/$defs/x~1y' }, b: { $ref: '#/$defs/a%20b' } }, { $defs: { 'x/y': {}, 'a b': true } })],
    ['a recursive reference', object({ child: { $ref: '#' } })],
    ['an anchor', object({ a: { $ref: '#here' } }, { $defs: { a: { $anchor: 'here', type: 'string' } } })],
    ['a reference by its own id', object({ a: { $ref: 'https://x.dev/s#/$defs/a' } }, { $id: 'https://x.dev/s', $defs: { a: {} } })],
    ['a reference within an embedded schema', object({ a: { $id: 'inner', $ref: '#/$defs/b', $defs: { b: {} } } })],
    [
      'branches that require what others declare',
      object({ a: {}, b: {} }, { anyOf: [{ required: ['a'] }, { properties: { c: {} }, required: ['b'] }] }),
    ],
    ['a required name where more is allowed', object({ a: {} }, { required: ['b'], additionalProperties: { type: 'string' } })],
    ['objects from another realm', Object.assign(Object.create(null), { type: 'object' })],
  ])('%s', (_, schema) => {
    expect(checkSchema(schema, 'tool')).toEqual([])
  })
})

describe('checkSchema refuses', () => {
  it.each([
    [null, { place: 'tool', message: 'expected a JSON Schema, found null' }],
    [true, { place: 'tool', message: 'expected a JSON Schema, found true' }],
    [[], { place: 'tool', message: 'expected a JSON Schema, found []' }],
    [{}, { place: 'tool', message: 'expected "type": "object" at the root, found no type', remedy: 'add "type": "object"' }],
    [
      { type: 'string' },
      {
        place: 'tool/type',
        message: 'expected "object" at the root, found "string"',
        remedy: 'put the value into a property of an object',
      },
    ],
    [{ type: 'Object' }, { place: 'tool/type', message: `expected one of ${names}, found "Object"`, remedy: 'did you mean "object"?' }],
    [
      object({ limit: { type: 'strng' } }),
      { place: 'tool/properties/limit/type', message: `expected one of ${names}, found "strng"`, remedy: 'did you mean "string"?' },
    ],
    [
      object({ a: { type: ['string', 'int'] } }),
      { place: 'tool/properties/a/type/1', message: `expected one of ${names}, found "int"`, remedy: 'did you mean "integer"?' },
    ],
    [
      object({ a: { type: 'any' } }),
      { place: 'tool/properties/a/type', message: `expected one of ${names}, found "any"`, remedy: 'leave "type" out to allow any value' },
    ],
    [object({ a: { type: [] } }), { place: 'tool/properties/a/type', message: 'expected one or more type names, found an empty list' }],
    [object({ 'a/b': 5 }), { place: 'tool/properties/a~1b', message: 'expected a JSON Schema, found 5' }],
    [object({}, { requred: ['a'] }), { place: 'tool/requred', message: 'unknown keyword "requred"', remedy: 'did you mean "required"?' }],
    [
      object({ query: { required: true } }),
      {
        place: 'tool/properties/query/required',
        message: 'expected a list of names, found true',
        remedy: 'list the name in "required" of the object around it',
      },
    ],
    [
      object({ query: {} }, { required: ['querry'] }),
      { place: 'tool/required/0', message: 'expected the name of a property, found "querry"', remedy: 'did you mean "query"?' },
    ],
    [object({ a: { enum: [] } }), { place: 'tool/properties/a/enum', message: 'expected a list of one or more values, found []' }],
    [
      object({ a: { items: [{}] } }),
      { place: 'tool/properties/a/items', message: 'expected a schema, found [{}]', remedy: 'use "prefixItems" for schemas by position' },
    ],
    [object({ a: { not: 'x' } }), { place: 'tool/properties/a/not', message: 'expected a JSON Schema, found "x"' }],
    [object({ a: { anyOf: [] } }), { place: 'tool/properties/a/anyOf', message: 'expected a list of one or more schemas, found []' }],
    [object({ a: { oneOf: [1] } }), { place: 'tool/properties/a/oneOf/0', message: 'expected a JSON Schema, found 1' }],
    [object({ a: { minLength: -1 } }), { place: 'tool/properties/a/minLength', message: 'expected an integer of at least 0, found -1' }],
    [object({ a: { minimum: '1' } }), { place: 'tool/properties/a/minimum', message: 'expected a number, found "1"' }],
    [
      object({ a: { exclusiveMinimum: true } }),
      { place: 'tool/properties/a/exclusiveMinimum', message: 'expected a number, found true', remedy: 'give the bound itself' },
    ],
    [object({ a: { multipleOf: 0 } }), { place: 'tool/properties/a/multipleOf', message: 'expected a number above 0, found 0' }],
    [object({ a: { uniqueItems: 'yes' } }), { place: 'tool/properties/a/uniqueItems', message: 'expected true or false, found "yes"' }],
    [object({ a: { description: 5 } }), { place: 'tool/properties/a/description', message: 'expected a string, found 5' }],
    [object({}, { dependentRequired: { a: 'b' } }), { place: 'tool/dependentRequired/a', message: 'expected a list of names, found "b"' }],
    [
      object({ a: { $ref: 'https://x.dev/other.json' } }),
      {
        place: 'tool/properties/a/$ref',
        message: 'expected a reference inside this schema, found "https://x.dev/other.json"',
        remedy: 'copy that schema to "$defs" and refer to it as "#/$defs/name"',
      },
    ],
    [
      object({ a: { $ref: '#/$defs/Persn' } }, { $defs: { Person: {} } }),
      {
        place: 'tool/properties/a/$ref',
        message: 'expected a reference to a schema, found "#/$defs/Persn", which does not exist',
        remedy: 'did you mean "#/$defs/Person"?',
      },
    ],
    [
      object({ a: { $ref: '#/constructor' } }),
      { place: 'tool/properties/a/$ref', message: 'expected a reference to a schema, found "#/constructor", which does not exist' },
    ],
    [
      object({ a: { $ref: '#/$defs/a' } }, { $defs: { a: { $ref: '#/$defs/a' } } }),
      { place: 'tool/$defs/a/$ref', message: '"#/$defs/a" only refers to itself' },
    ],
    [
      object({ a: { $ref: '#/components/x' } }, { components: { x: { type: 'strng' } } }),
      { place: 'tool/components/x/type', message: `expected one of ${names}, found "strng"`, remedy: 'did you mean "string"?' },
    ],
  ])('%j', (schema, problem) => {
    expect(checkSchema(schema, 'tool')).toEqual([problem])
  })

  it('patterns that do not compile, as values and as keys', () => {
    expect(checkSchema(object({ a: { pattern: '(' } }, { patternProperties: { '[': {} } }), 'tool').map(({ place }) => place)).toEqual([
      'tool/properties/a/pattern',
      'tool/patternProperties',
    ])
  })

  it('instances of classes, with a way out', () => {
    class ZodObject {}
    expect(checkSchema(new ZodObject(), 'tool')).toEqual([
      {
        place: 'tool',
        message: 'expected a JSON Schema, found an instance of ZodObject',
        remedy: 'give plain JSON; schema libraries can convert theirs, e.g. z.toJSONSchema(schema)',
      },
    ])
  })

  it('all problems together', () => {
    const schema = object({ a: { type: 'strng', minLength: 'x' }, b: { enum: 'x' } }, { requred: [] })
    expect(checkSchema(schema, 'tool').map(({ place }) => place)).toEqual([
      'tool/properties/a/type',
      'tool/properties/a/minLength',
      'tool/properties/b/enum',
      'tool/requred',
    ])
  })
})

describe('checkSchema always ends', () => {
  it('on objects that contain themselves', () => {
    const node: { [key: string]: unknown } = { type: 'object' }
    node.properties = { child: { items: node } }
    expect(checkSchema(node, 'tool')).toEqual([
      { place: 'tool/properties/child/items', message: 'this object contains itself', remedy: 'use "$ref": "#/$defs/…"' },
    ])
  })

  it('on schemas deeper than the stack', () => {
    let deep: object = {}
    for (let level = 0; level < 100_000; level++) deep = { items: deep }
    expect(checkSchema(object({ deep }), 'tool').map(({ message }) => message)).toEqual(['schemas are nested more than 200 deep'])
  })

  it('on shared parts that double at every level', () => {
    let shared: object = { type: 'string' }
    for (let level = 0; level < 100; level++) shared = { anyOf: [shared, shared] }
    expect(checkSchema(object({ shared }), 'tool').map(({ message }) => message)).toEqual([tooLarge])
  })

  it.each<[what: string, schema: object]>([
    ['many properties', object(many(() => ({ type: 'string' })))],
    ['many that refer to the same', { ...object(many(() => ({ $ref: '#/$defs/a' }))), $defs: { a: {} } }],
    ['many that are anything', object({ a: { anyOf: Array.from({ length: 10_000 }, () => true) } })],
    ['many names', object({ a: { required: Array.from({ length: 10_000 }, (_, i) => `p${i}`) } })],
    ['many names that need others', object({ a: { dependentRequired: many(() => ['a', 'b']) } })],
    ['many in what is only referred to', { ...object({ a: { $ref: '#/x/y' } }), x: { y: object(many(() => ({ type: 'string' }))) } }],
  ])('on what takes long to compile: %s', (_what, schema) => {
    expect(checkSchema(schema, 'tool')).toEqual([{ place: 'tool', message: tooLarge, remedy: expect.stringContaining('describe less') }])
  })

  describe('on references that double at every level', () => {
    const doubling = (levels: number, both: (to: object) => object): object => {
      const defs = Array.from({ length: levels }, (_, i) => [`d${i}`, both({ $ref: `#/$defs/d${i + 1}` })])
      return { ...object({ a: { $ref: '#/$defs/d0' } }), $defs: Object.fromEntries([...defs, [`d${levels}`, { type: 'string' }]]) }
    }
    const tooOften = 'expected at most 10000 subschemas for one value, found more by way of "$ref"'

    it.each<[what: string, both: (to: object) => object]>([
      ['allOf', (to) => ({ allOf: [to, to] })],
      ['anyOf and not', (to) => ({ anyOf: [to], not: to })],
      ['if and then', (to) => Object.fromEntries(['if', 'then'].map((keyword) => [keyword, to]))],
      ['names that need others', (to) => ({ dependentSchemas: { x: to, y: to } })],
    ])('%s', (_what, both) => {
      expect(checkSchema(doubling(5, both), 'tool')).toEqual([])
      expect(checkSchema(doubling(40, both), 'tool').map(({ message }) => message)).toEqual([tooOften])
    })

    it('also where each leads back to the one before, so that none is counted before the others', () => {
      const level = (i: number): object => ({
        ...(i < 40 && { allOf: [{ $ref: `#/$defs/d${i + 1}` }, { $ref: `#/$defs/d${i + 1}` }] }),
        ...(i > 0 &&
          Object.fromEntries([
            ['if', { required: ['never'] }],
            ['then', { $ref: `#/$defs/d${i - 1}` }],
          ])),
      })
      const $defs = Object.fromEntries(Array.from({ length: 41 }, (_, i) => [`d${i}`, level(i)]))
      const schema = { type: 'object', allOf: [{ $ref: '#/$defs/d40' }, { $ref: '#/$defs/d0' }], $defs }
      expect(checkSchema(schema, 'tool').map(({ message }) => message)).toEqual([tooOften])
    })

    it('not where each is for another value', () => {
      expect(
        checkSchema(
          doubling(40, (to) => ({ properties: { x: to, y: to } })),
          'tool',
        ),
      ).toEqual([])
      const tree = { type: 'object', properties: { left: { $ref: '#' }, right: { anyOf: [{ $ref: '#' }, { type: 'null' }] } } }
      expect(checkSchema(tree, 'tool')).toEqual([])
    })
  })

  describe('on thousands of errors, of which only the first are reported', () => {
    const names = Array.from({ length: 3_000 }, (_, i) => `p${String(i).padStart(4, '0')}`)
    const properties = Object.fromEntries(names.map((name) => [name, {}]))

    it.each<[what: string, schema: object, told: number]>([
      ['required names', object(properties, { required: names.map((name) => name.toUpperCase()) }), 20],
      ['required names that are near to none', object(properties, { required: names.map((name) => `zebra crossing ${name.slice(1)}`) }), 0],
      ['references', object(Object.fromEntries(names.map((name) => [name, { $ref: `#/$defs/${name}x` }])), { $defs: { p: {} } }), 20],
    ])('%s', (_what, schema, told) => {
      const started = performance.now()
      expect([checkSchema(schema, 'tool').length, performance.now() - started < 1_000]).toEqual([told, true])
    })
  })

  it('not on long lists of values', () => {
    const values = Array.from({ length: 20_000 }, (_, i) => `v${i}`)
    expect(checkSchema(object({ a: { enum: values, default: values, examples: values } }), 'tool')).toEqual([])
  })
})

describe('checkSchema and the library', () => {
  const value = fc.oneof(
    { maxDepth: 3 },
    fc.constantFrom<unknown>(
      'string',
      'object',
      'x',
      '[',
      0,
      -1,
      1.5,
      true,
      false,
      null,
      [],
      {},
      ['a'],
      ['string', 'null'],
      '#',
      '#/properties',
    ),
    fc.array(fc.constantFrom<unknown>({ type: 'string' }, true, { minimum: 1 }, 'a', 3), { maxLength: 3 }),
    fc.dictionary(fc.constantFrom('a', 'b', '^x'), fc.constantFrom<unknown>({ type: 'integer' }, true, ['a'], { $ref: '#' }, 7), {
      maxKeys: 2,
    }),
  )
  const keyword = fc.constantFrom(
    ...[
      'type',
      'enum',
      'const',
      'items',
      'prefixItems',
      'required',
      'properties',
      'patternProperties',
      'additionalProperties',
      'anyOf',
      'oneOf',
      'allOf',
    ],
    ...[
      'not',
      'if',
      'then',
      'minimum',
      'maxLength',
      'minItems',
      'multipleOf',
      'uniqueItems',
      'pattern',
      '$ref',
      '$defs',
      'contains',
      'dependentRequired',
    ],
  )
  const schema = fc.dictionary(keyword, value, { maxKeys: 4 }).map((inner) => object({ inner }))

  it('agree: what passes here also compiles there', () => {
    fc.assert(
      fc.property(schema, (candidate) => {
        fc.pre(checkSchema(candidate, 'tool').length === 0)
        new Ajv2020({ strict: false, validateFormats: false, meta: false, validateSchema: false, logger: false }).compile(candidate)
      }),
      { numRuns: 400, maxSkipsPerRun: 1_000 },
    )
  })
})
