// biome-ignore-all lint/suspicious/noTemplateCurlyInString: placeholders are written like that
import { mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import type { Diagnostic, OpenApiDefinition, SessionId, Tool } from '../../../src/contracts/index.ts'
import { openApiTools } from '../../../src/tools/http/index.ts'
import { type ImportedTools, importTools } from '../../../src/tools/http/openapi/import-tools.ts'
import { checkSchema } from '../../../src/util/json-schema/check-schema.ts'
import { page, site } from '../web-fetch/site.ts'
import { call, startApi } from './api.ts'

const { api, requests } = await startApi()

const petstore = `
openapi: 3.0.3
servers:
  - url: '${api.origin}/{base}'
    variables: { base: { default: echo } }
security: [{ key: [] }]
paths:
  /../pets/{id}: { get: {} }
  /pets:
    parameters: [{ $ref: '#/components/parameters/Trace' }]
    get:
      operationId: listPets
      summary: Lists pets.
      parameters:
        - { name: tags, in: query, explode: false, schema: { type: array, items: { type: string } } }
        - { name: filter, in: query, style: deepObject, schema: { type: object, properties: { age: { type: integer } } } }
    post:
      operationId: createPet
      security: [{}, { login: [] }]
      requestBody:
        required: true
        content: { application/json: { schema: { $ref: '#/components/schemas/Pet' } } }
  /pets/{id}:
    put:
      operationId: replacePet
      parameters: [{ name: id, in: path, required: true, schema: { type: string } }]
      requestBody:
        content: { application/x-www-form-urlencoded: { schema: { type: object, properties: { id: { type: integer }, name: { type: string } } } } }
    delete:
      parameters: [{ name: id, in: path, required: true, schema: { type: string } }]
  /photos:
    post: { operationId: upload, requestBody: { content: { multipart/form-data: {} } } }
    get: { operationId: listPets, parameters: [{ $ref: 'other.yaml#/a' }] }
  /search:
    post: { operationId: find pets, requestBody: { content: { application/json: { schema: { oneOf: [{ type: string }, { type: array, items: {} }] } } } } }
components:
  parameters:
    Trace: { name: X-Trace, in: header, schema: { type: string } }
  securitySchemes:
    key: { type: apiKey, in: query, name: api_key }
    login: { type: http, scheme: basic }
  schemas:
    Pet:
      type: object
      required: [id, name]
      properties:
        id: { type: integer, readOnly: true }
        name: { type: string, example: Rex, pattern: '(?i)bad' }
        age: { type: integer, nullable: true, minimum: 0, exclusiveMinimum: true }
        parent: { $ref: '#/components/schemas/Pet' }
`

const imported = (text: string, definition: Partial<OpenApiDefinition> = {}): ImportedTools =>
  importTools(text, { name: 'pets', definition: { spec: 'spec.yaml', baseUrl: `${api.origin}/echo`, ...definition }, toolOptions: {} })
const named = ({ tools }: ImportedTools, name: string): Tool => {
  const found = tools.find((tool) => tool.name === `pets/${name}`)
  if (!found) throw new Error(`no tool ${name} among ${tools.map((tool) => tool.name)}`)
  return found
}
const problemsOf = ({ problems }: ImportedTools): readonly string[] => problems.map(({ place, message }) => `${place}: ${message}`)

describe('an OpenAPI document', () => {
  const all = imported(petstore, { auth: { schemes: { key: '${KEY}', login: '${LOGIN}' } } })

  it('has a tool for each operation that can be one', () => {
    expect(all.tools.map(({ name, effect, namespace }) => [name, effect, namespace])).toEqual([
      ['pets/listPets', 'read', 'pets'],
      ['pets/createPet', 'write', 'pets'],
      ['pets/replacePet', 'write', 'pets'],
      ['pets/delete_pets_id', 'write', 'pets'],
      ['pets/find_pets', 'write', 'pets'],
    ])
    expect(problemsOf(all)).toEqual([
      'spec.yaml#/paths/~1..~1pets~1{id}/get: the operation is left out: the path parameter id is not declared',
      'spec.yaml#/paths/~1photos/get: the operation is left out: the reference other.yaml#/a leads to another document',
      'spec.yaml#/paths/~1photos/post: the operation is left out: its body must be multipart/form-data, which is not supported',
    ])
  })

  it('gives one input schema for parameters and body', () => {
    expect(named(all, 'createPet').inputSchema).toEqual({
      type: 'object',
      properties: {
        'X-Trace': { type: 'string' },
        name: { type: 'string' },
        age: { type: ['integer', 'null'], exclusiveMinimum: 0 },
        parent: { $ref: '#/$defs/Pet' },
      },
      required: ['name'],
      additionalProperties: false,
      $defs: {
        Pet: {
          type: 'object',
          properties: {
            name: { type: 'string' },
            age: { type: ['integer', 'null'], exclusiveMinimum: 0 },
            parent: { $ref: '#/$defs/Pet' },
          },
          required: ['name'],
        },
      },
    })
    expect(named(all, 'replacePet').inputSchema).toMatchObject({
      properties: { id: { type: 'string' }, id_body: { type: 'integer' }, name: { type: 'string' } },
      required: ['id'],
    })
    for (const { inputSchema } of all.tools) expect(checkSchema(inputSchema, 'input')).toEqual([])
  })

  it.each([
    [
      'listPets',
      { tags: ['a', 'b'], filter: { age: 3 } },
      { method: 'GET', url: '/echo/pets?tags=a%2Cb&filter%5Bage%5D=3&api_key=k-123456' },
    ],
    [
      'createPet',
      { name: 'Rex', 'X-Trace': 't' },
      { method: 'POST', url: '/echo/pets', body: '{"name":"Rex"}', headers: { 'x-trace': 't', authorization: `Basic ${btoa('ann:pw')}` } },
    ],
    ['replacePet', { id: '7', id_body: 8, name: 'a b' }, { url: '/echo/pets/7?api_key=k-123456', body: 'id=8&name=a+b' }],
    ['find_pets', { body: ['x'] }, { url: '/echo/search?api_key=k-123456', body: '["x"]' }],
  ])('sends %s', async (name, input, expected) => {
    await call(named(all, name), input, { KEY: 'k-123456', LOGIN: 'ann:pw' })
    expect(requests.at(-1)).toMatchObject(expected)
  })

  it('selects operations by name, or by method and path', () => {
    const names = (definition: Partial<OpenApiDefinition>) => imported(petstore, definition).tools.map(({ name }) => name)
    expect(names({ include: ['*Pet'], exclude: ['PUT *'] })).toEqual(['pets/createPet'])
    expect(problemsOf(imported(petstore, { include: ['none'] })).at(-1)).toBe('spec.yaml: no operation matches `none`')
  })

  it('uses its own servers only with a private host that the configuration names', async () => {
    const [tool] = imported(petstore, { baseUrl: undefined } as never).tools
    expect(await call(tool as Tool, {}, { KEY: 'k' })).toMatchObject({ error: { message: '127.0.0.1 is not a public address.' } })
    const elsewhere = petstore.replace(`${api.origin}/{base}`, 'https://evil.example')
    const { tools, problems } = imported(elsewhere, { spec: `${api.origin}/spec`, baseUrl: undefined } as never)
    expect([tools, problems.at(-1)?.message]).toEqual([
      [],
      expect.stringContaining('its server https://evil.example is not that of the document; set `baseUrl`'),
    ])
  })
})

describe('a bad document', () => {
  const operation = (text: string): string => `{ "openapi": "3.1.0", "paths": { "/a": { "get": ${text} } } }`
  const schema = (text: string): string => operation(`{ "parameters": [{ "name": "q", "in": "query", "schema": ${text} }] }`)
  it.each([
    ['', 'spec.yaml: the document is not an object'],
    ['[1]', 'spec.yaml: the document is not an object'],
    ['{"openapi"', /^spec\.yaml: the document cannot be read: /],
    ['{"swagger": "2.0", "paths": {}}', 'spec.yaml: it has the version 2.0'],
    ['{"openapi": "3.1.0"}', 'spec.yaml: it has no `paths`'],
    ['{"openapi": "3.1.0", "paths": {}}', 'spec.yaml: it has no operations'],
    [
      `a: &a [x,x,x,x,x,x,x,x,x]\n${'bcdefghij'.replaceAll(/./g, (c) => `${c}: &${c} [${`*${String.fromCharCode(c.charCodeAt(0) - 1)},`.repeat(9)}]\n`)}`,
      /cannot be read: Excessive alias count/,
    ],
    [`a: ${'['.repeat(50_000)}`, /cannot be read/],
    [`a: ${'x'.repeat(3_000_000)}`, /more than 3000000 characters/],
    ['{"openapi": "3.1.0", "paths": {"/a": {"$ref": "#/paths/~1a"}}}', /leads in a circle/],
    ['{"openapi": "3.1.0", "paths": {"a": {}}}', /does not begin with a slash/],
    ['{"openapi": "3.1.0", "paths": {"/a": 7}}', /expected an object, found number/],
    [operation('{ "parameters": [null] }'), /expected an object, found null/],
    [operation('{ "parameters": [{ "in": "query" }] }'), /no name or no valid place/],
    [operation('{ "parameters": [{ "$ref": "#/components/parameters/none" }] }'), /leads nowhere/],
    [schema('{ "type": "strng" }'), /its input schema is wrong at .+: expected one of/],
    [schema('{ "$ref": "#/components/none" }'), /leads nowhere/],
  ])('%.60s gives a problem with its place', (text, expected) => {
    const { tools, problems } = imported(text)
    expect([tools, `${problems[0]?.place}: ${problems[0]?.message}`, problems.length]).toEqual([
      [],
      typeof expected === 'string' ? expected : expect.stringMatching(expected),
      1,
    ])
  })

  it('that is deep, wide or full of itself gives bounded tools', () => {
    const deep = `${'{"items":'.repeat(5_000)}{}${'}'.repeat(5_000)}`
    const wide = JSON.stringify({ properties: Object.fromEntries(Array.from({ length: 9_000 }, (_, n) => [`p${n}`, {}])) })
    for (const text of [deep, wide]) {
      const found = imported(schema(text))
      expect(problemsOf(found)).toEqual(['spec.yaml#/paths/~1a/get: its input schema is too large; parts of it accept anything'])
      expect(JSON.stringify(found.tools[0]?.inputSchema).length).toBeLessThan(200_000)
    }
    const proto = imported(operation('{ "operationId": "__proto__", "parameters": [{ "name": "__proto__", "in": "query" }] }'))
    expect([proto.tools[0]?.name, Object.keys(proto.tools[0]?.inputSchema.properties as object)]).toEqual(['pets/__proto__', ['_proto']])
    const many = JSON.stringify({
      openapi: '3.0.0',
      paths: Object.fromEntries(Array.from({ length: 12_000 }, (_, n) => [`/${n}`, { get: {} }])),
    })
    const first = imported(many)
    expect([first.tools.length, first.problems.length, first.problems[0]?.message]).toEqual([
      500,
      1,
      'it has 10000 operations; only the first 500 are tools',
    ])
    const parameter = { name: 'q', in: 'query', schema: { $ref: '#/s' } }
    const heavy = JSON.stringify({
      openapi: '3.0.0',
      paths: Object.fromEntries(Array.from({ length: 140 }, (_, n) => [`/${n}`, { get: { parameters: [parameter] } }])),
      s: { properties: Object.fromEntries(Array.from({ length: 1_500 }, (_, n) => [`p${n}`, {}])) },
    })
    // For all operations together, 200,000 nodes are read: 133 of 1,502 nodes.
    expect(problemsOf(imported(heavy))).toHaveLength(7)
    const same = imported('{"openapi": "3.0.0", "paths": {"/a": {"get": {"operationId": "x"}, "post": {"operationId": "x"}}}}')
    expect(same.tools.map(({ name }) => name)).toEqual(['pets/x', 'pets/x_2'])
  })
})

describe('an OpenAPI source', () => {
  const listed = async (definition: OpenApiDefinition, overlay: { readonly [name: string]: string } = {}) => {
    const reports: Diagnostic[] = []
    const source = openApiTools('pets', definition, { baseDir: folder })
    const tools = await source.open({ sessionId: 's' as SessionId, overlay, report: (each) => reports.push(each) }).list()
    return { source, tools: tools.map(({ name }) => name), reports }
  }
  const folder = mkdtempSync(join(tmpdir(), 'openapi-'))
  writeFileSync(join(folder, 'pets.yaml'), petstore)

  it('reads a file, and reports operations that are left out', async () => {
    const { tools, reports } = await listed({ spec: '${NAME}.yaml', include: ['*Pets', 'upload'] }, { NAME: 'pets' })
    expect(tools).toEqual(['pets/listPets'])
    expect(reports.map(({ code, severity }) => [code, severity])).toEqual(Array.from({ length: 2 }, () => ['tool_invalid', 'warning']))
  })

  it('fetches a URL once, and again after a failure', async () => {
    let isDown = true
    const web = await site({
      '/spec': (request, response) =>
        isDown ? void response.writeHead(500).end() : page(petstore, { 'content-type': 'text/yaml' })(request, response),
    })
    const source = openApiTools('pets', { spec: `${web.origin}/spec`, baseUrl: web.origin, include: ['listPets'] })
    const list = () => source.open({ sessionId: 's' as SessionId, overlay: {}, report: () => {} }).list()
    await expect(list()).rejects.toThrow(/cannot be read: the server answered with status 500/)
    isDown = false
    expect([(await list()).length, (await list()).length, web.asked]).toEqual([1, 1, ['/spec', '/spec']])
  })

  it.each([
    [{ spec: 'none.yaml' }, /none\.yaml cannot be read: ENOENT/],
    [{ spec: 'http://127.0.0.1:1/spec' }, /cannot be reached: the connection was refused/],
    [{ spec: '${SPEC}' }, /it needs the variable SPEC, which is not set/],
    [{ spec: 'pets.yaml', baseUrl: '${BASE:-ftp://x}' }, /baseUrl: it must be an http: or https: URL/],
  ])('%j fails', async (definition, message) => {
    await expect(listed(definition)).rejects.toThrow(message)
  })
})
