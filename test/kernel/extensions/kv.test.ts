import { readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { KeyValueExtension } from '../../../extensions/kv/main.ts'
import type { Json } from '../../../src/contracts/index.ts'
import { callTool, extensionContext, temporaryFolder } from '../extension-context.ts'

async function openKv(dataDir = temporaryFolder()) {
  const kv = new KeyValueExtension()
  await kv.initialize(extensionContext({ dataDir }).context)
  const tools = kv.getTools()
  return {
    dataDir,
    get: (key: string) => callTool(tools, 'get', { key }),
    set: (key: string, value: Json) => callTool(tools, 'set', { key, value }),
    remove: (key: string) => callTool(tools, 'delete', { key }),
    list: (input = {}) => callTool(tools, 'list', input),
  }
}

it.each<[string, Json]>([
  ['text', 'hello'],
  ['null', null],
  ['shopping:milk/2 % ü', { litres: 2, brands: ['a', 'b'] }],
  ['../../escape', false],
  ['__proto__', 0],
])('keeps the value of %s over a restart', async (key, value) => {
  const { dataDir, set } = await openKv()
  expect(await set(key, value)).toMatchObject({ ok: true })
  const again = await openKv(dataDir)
  expect(await again.get(key)).toEqual({ ok: true, content: JSON.stringify(value), value })
  expect(await again.list()).toMatchObject({ value: [key] })
})

it('distinguishes keys by case, and replaces and deletes values', async () => {
  const { set, get, remove, list } = await openKv()
  await set('a', 1)
  await set('A', 2)
  await set('a', 3)
  expect(await get('A')).toMatchObject({ value: 2 })
  expect(await remove('a')).toMatchObject({ ok: true })
  expect(await remove('a')).toMatchObject({ ok: true })
  expect(await get('a')).toMatchObject({ ok: false, error: { message: 'There is no value under the key "a".' } })
  expect(await list()).toMatchObject({ value: ['A'] })
})

it('never shows half of a value when calls overlap', async () => {
  const { set, get, list } = await openKv()
  const values = Array.from({ length: 20 }, (_, index) => String(index).repeat(20_000))
  await set('one', values[0] ?? '')
  const seen = await Promise.all(values.flatMap((value) => [set('one', value), get('one'), set(`other:${value[0]}`, 1)]))
  expect(seen.filter(({ ok }) => !ok)).toEqual([])
  for (const output of seen) if (output.ok && output.value !== undefined) expect(values).toContain(output.value)
  expect(await list({ prefix: 'one' })).toMatchObject({ value: ['one'] })
})

it('lists keys by prefix, in pages', async () => {
  const { set, list } = await openKv()
  for (let index = 0; index < 103; index++) await set(`k${String(index).padStart(3, '0')}`, index)
  await set('other', 1)
  const first = await list({ prefix: 'k' })
  expect(first).toMatchObject({ ok: true, content: expect.stringContaining('3 more. Call `list` with after: "k099".') })
  expect(await list({ prefix: 'k', after: 'k099' })).toMatchObject({ value: ['k100', 'k101', 'k102'] })
  expect(await list({ prefix: 'x' })).toEqual({ ok: true, content: 'There are no keys.', value: [] })
})

it('refuses keys and values that are too large', async () => {
  const { set, get } = await openKv()
  expect(await set('k', 'x'.repeat(100_000))).toMatchObject({
    ok: false,
    error: { message: 'The value has 100002 bytes, at most 100000 are allowed.' },
  })
  expect(await set('ü'.repeat(51), 1)).toMatchObject({ ok: false, error: { message: 'The key has 102 bytes, at most 100 are allowed.' } })
  expect(await set('', 1)).toMatchObject({ ok: false, error: { class: 'invalid_input' } })
  expect(await get('ü'.repeat(100))).toMatchObject({ ok: false, error: { message: 'The key has 200 bytes, at most 100 are allowed.' } })
})

it('refuses a new key when there are too many, and still replaces known ones', async () => {
  const { dataDir, set } = await openKv()
  const folder = join(dataDir, 'values')
  for (let index = 0; index < 10_000; index++) writeFileSync(join(folder, `${Buffer.from(`k${index}`).toString('hex')}.json`), '0')
  expect(await set('new', 1)).toMatchObject({ ok: false, error: { message: 'There are already 10000 keys.' } })
  expect(await set('k1', 1)).toMatchObject({ ok: true })
})

it('removes what an interrupted write left', async () => {
  const { dataDir, set } = await openKv()
  await set('k', 1)
  const folder = join(dataDir, 'values')
  writeFileSync(join(folder, '6b.json.1234'), '{"half')
  const { list } = await openKv(dataDir)
  expect(readdirSync(folder)).toEqual(['6b.json'])
  expect(await list()).toMatchObject({ value: ['k'] })
})
