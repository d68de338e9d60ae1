import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import type { McpTokenRecord } from '../../tools/mcp/index.ts'
import { tokenFiles } from './token-files.ts'

const record: McpTokenRecord = {
  server: 'lab',
  url: 'https://lab.example/mcp',
  grant: { issuer: 'https://auth.example', client: { client_id: 'c' }, accessToken: 'secret', expiresAt: 1 },
}

async function newFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'troupe-tokens-'))
  onTestFinished(() => rm(folder, { recursive: true }))
  return join(folder, 'data', 'mcp-tokens')
}

const modeOf = (path: string): string => (statSync(path).mode & 0o777).toString(8)

it('stores a record in a file that only the user can read, and removes it', async () => {
  const folder = await newFolder()
  const store = tokenFiles(folder)
  expect(await store.read('key')).toBeUndefined()
  await store.change('key', async () => record)
  expect(readdirSync(folder)).toEqual(['key.json'])
  expect([modeOf(folder), modeOf(join(folder, 'key.json'))]).toEqual(['700', '600'])
  expect(await tokenFiles(folder).read('key')).toEqual(record)
  await expect(store.change('key', () => Promise.reject(new Error('offline')))).rejects.toThrow('offline')
  expect(await store.read('key')).toEqual(record)
  await store.change('key', async () => undefined)
  expect(readdirSync(folder)).toEqual([])
})

it('changes of one key follow each other, also from several stores', async () => {
  const folder = await newFolder()
  const order: string[] = []
  const changes = [1, 2, 3].map((number) =>
    tokenFiles(folder).change('key', async (before) => {
      order.push(`start ${before?.url ?? 'none'}`)
      await Promise.resolve()
      order.push('end')
      return { ...record, url: `https://${number}.example` }
    }),
  )
  await Promise.all(changes)
  expect(order.map((each) => each.split(' ')[0])).toEqual(['start', 'end', 'start', 'end', 'start', 'end'])
  expect(new Set(order.filter((each) => each.startsWith('start'))).size).toBe(3)
})

it.each(['', '{', '[]', '{"version":2}', '{"version":1,"server":"a","url":"b","grant":{"accessToken":1}}'])(
  'a damaged file is no record: %s',
  async (text) => {
    const folder = await newFolder()
    const store = tokenFiles(folder)
    await store.change('key', async () => record)
    writeFileSync(join(folder, 'key.json'), text)
    expect(await store.read('key')).toBeUndefined()
    await store.change('key', async () => record)
    expect(JSON.parse(readFileSync(join(folder, 'key.json'), 'utf8'))).toMatchObject({ server: 'lab' })
  },
)
