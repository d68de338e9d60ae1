// Schemas of tools as servers write them, checked before calls.
import { join } from 'node:path'
import { expect, it } from 'vitest'
import type { JsonObject } from '../../src/contracts/index.ts'
import { schemaValidator } from '../../src/tools/schema/schema-validator.ts'
import { names, nodeServer, openServer } from './support.ts'

const script = join(import.meta.dirname, 'fixtures/sdk-server.mjs')
const listing = (...tools: readonly object[]) => openServer(nodeServer(script, [JSON.stringify(tools)]))
const tool = (name: string, inputSchema: object) => ({ name, inputSchema: { type: 'object', ...inputSchema } })

async function check({ source }: ReturnType<typeof openServer>, name: string, input: JsonObject) {
  const found = (await source.list()).find((each) => each.name === `srv/${name}`)
  const validate = await schemaValidator().compile(found?.inputSchema as JsonObject)
  return validate(input)
}

it('tuples of the official library work, in arguments and in results', async () => {
  const opened = openServer(nodeServer(script))
  expect(names(await opened.source.list())).toEqual(['move', 'move-3'])
  expect(opened.reports).toEqual([])
  expect(await opened.call('move', { to: [1, 2] })).toMatchObject({ ok: true, value: { input: { to: [1, 2] } } })
  expect(await check(opened, 'move', { to: [1, 2], path: ['a', 1, 2] })).toMatchObject({ ok: true })
  expect(await check(opened, 'move', { to: [1, 2, 3], path: ['a', -1] })).toMatchObject({
    ok: false,
    problems: ['to: expected at most 2 items, got 3', 'path[1]: expected a number > 0, got -1'],
  })
  expect(await check(opened, 'move-3', { a: { to: [1, 2] }, b: { to: ['a', 2] } })).toMatchObject({
    ok: false,
    problems: ['b.to[0]: expected number, got "a"'],
  })
})

it('schemas are read by their draft', async () => {
  const $schema = 'http://json-schema.org/draft-04/schema#'
  const opened = listing(tool('limit', { $schema, id: '/limit', properties: { n: { minimum: 0, exclusiveMinimum: true } } }))
  expect(await check(opened, 'limit', { n: 1 })).toMatchObject({ ok: true })
  expect(await check(opened, 'limit', { n: 0 })).toMatchObject({ ok: false, problems: ['n: expected a number > 0, got 0'] })
})

it('a tool is not lost to one keyword of its schema', async () => {
  const opened = listing(tool('find', { properties: { text: { pattern: '(?i)x', maxLength: 3 } } }), tool('other', {}))
  expect(names(await opened.source.list())).toEqual(['find', 'other'])
  expect(await check(opened, 'find', { text: 'abc' })).toMatchObject({ ok: true })
  expect(await check(opened, 'find', { text: 'abcd' })).toMatchObject({ ok: false })
})

it('defaults of required properties are filled in before the check', async () => {
  const properties = { text: { type: 'string' }, limit: { type: 'integer', default: 10 } }
  const opened = listing(tool('find', { properties, required: ['text', 'limit'] }))
  expect(await check(opened, 'find', { text: 'a' })).toEqual({ ok: true, value: { text: 'a', limit: 10 } })
})
