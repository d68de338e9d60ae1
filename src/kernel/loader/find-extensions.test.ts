import { symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { TrustRecord } from '../../project/index.ts'
import { trustExtension } from './extension-trust.ts'
import { type FindOptions, findExtensions } from './find-extensions.ts'
import { testProject } from './fixtures/test-kernel.ts'

let project: ReturnType<typeof testProject>
beforeEach(() => {
  project = testProject()
})
afterEach(() => project.remove())

const manifest = (id: string): string => `id: ${id}\nname: N\nversion: "1"\ndescription: D\nentrypoint: main:Main\n`
const add = (place: string, id: string): void => {
  project.write(`${place}/${id}/manifest.yaml`, manifest(id))
  project.write(`${place}/${id}/main.js`, 'export class Main {}')
}
const find = (trusted: FindOptions['trusted'] = new Map()) =>
  findExtensions({
    places: [
      { folder: join(project.root, 'extensions'), source: 'project' },
      { folder: join(project.root, 'user'), source: 'user' },
      { folder: join(project.root, 'bundled'), source: 'bundled' },
    ],
    workspace: project.root,
    trusted,
  })
const only = async () => (await find())[0]

test('the nearest wins an id, and the others are reported', async () => {
  for (const place of ['bundled', 'user', 'extensions']) add(place, 'kv')
  add('bundled', 'web')
  const found = await find('everything')
  expect(found.map(({ id, source, trusted }) => [id, source, trusted])).toEqual([
    ['kv', 'project', true],
    ['web', 'bundled', true],
  ])
  expect(found[0]?.manifest?.id).toBe('kv')
  expect(found[0]?.problems.map(({ place }) => place)).toEqual([join(project.root, 'user/kv'), join(project.root, 'bundled/kv')])
})

test('one that is not trusted, or broken, does not take the id of one that is', async () => {
  for (const place of ['bundled', 'user', 'extensions']) add(place, 'kv')
  add('bundled', 'web')
  project.write('extensions/web/manifest.yaml', 'nonsense')
  const found = await find()
  expect(found.map(({ id, source, trusted }) => [id, source, trusted])).toEqual([
    ['kv', 'user', true],
    ['web', 'bundled', true],
  ])
  expect(found[0]?.problems).toEqual([
    {
      place: join(project.root, 'extensions/kv'),
      message: 'not loaded: it is not trusted, and one of your own extensions has the same id',
      remedy: 'Rename it, or review it and trust it: troupe extensions trust kv',
    },
    expect.objectContaining({ place: join(project.root, 'bundled/kv') }),
  ])
  expect(found[1]?.problems).toMatchObject([{ place: join(project.root, 'extensions/web') }])
})

describe('broken ones are reported, and stop no other', () => {
  test('of all kinds', async () => {
    add('extensions', 'fine')
    project.write('extensions/typo/manifest.yaml', `${manifest('typo')}dependson: []\n`)
    project.write('extensions/empty/readme.md', '')
    project.write('extensions/binary/manifest.yaml', Uint8Array.from([0, 255]))
    project.write('extensions/folder/manifest.yaml/x', '')
    project.write('extensions/node_modules/x/manifest.yaml', '')
    project.write('extensions/.git/manifest.yaml', '')
    project.write('extensions/notes.md', '')
    project.write('elsewhere/out/manifest.yaml', manifest('out'))
    symlinkSync(join(project.root, 'elsewhere/out'), join(project.root, 'extensions/out'))
    add('extensions', 'linked')
    symlinkSync('/etc/hostname', join(project.root, 'extensions/linked/data'))
    const found = await find()
    const shown = found.map(({ id, manifest: read, problems }) => [id, read?.id, ...problems.map(({ message }) => message)])
    expect(shown).toEqual([
      ['binary', undefined, 'the file is binary'],
      ['empty', undefined, 'there is no `manifest.yaml`'],
      ['fine', 'fine'],
      ['folder', undefined, expect.stringContaining('it cannot be read: EISDIR')],
      ['linked', undefined, 'it cannot be read: `data` is a link'],
      ['out', undefined, 'the folder is a link'],
      ['typo', undefined, 'unknown key `dependson` in the manifest'],
    ])
    expect(found.find(({ id }) => id === 'typo')?.problems[0]?.place).toBe('extensions/typo/manifest.yaml:6:1')
  })

  test('too many files', async () => {
    add('extensions', 'huge')
    for (let n = 0; n <= 2_000; n++) project.write(`extensions/huge/${n}`, '')
    expect((await only())?.problems).toMatchObject([{ message: 'it cannot be read: it has more than 2000 files' }])
  })

  test('too many bytes', async () => {
    add('extensions', 'huge')
    project.write('extensions/huge/data', new Uint8Array(33 * 1024 ** 2))
    expect((await only())?.problems).toMatchObject([{ message: 'it cannot be read: its files are larger than 32 MB together' }])
  })
})

describe('the hash', () => {
  test.each<[string, boolean, () => void]>([
    ['a changed file', true, () => project.write('extensions/kv/main.js', 'export class Main { }')],
    ['a new file', true, () => project.write('extensions/kv/lib/x.js', '')],
    ['a package', false, () => project.write('extensions/kv/node_modules/x/index.js', '')],
    ['a hidden folder', false, () => project.write('extensions/kv/.cache/x', '')],
    ['nothing', false, () => {}],
  ])('%s changes it: %s', async (_what, changes, change) => {
    add('extensions', 'kv')
    const before = (await only())?.hash
    change()
    expect((await only())?.hash !== before).toBe(changes)
  })

  test('content that moves from one file to the next changes it', async () => {
    add('extensions', 'kv')
    project.write('extensions/kv/a', 'xy')
    project.write('extensions/kv/b', '')
    const before = (await only())?.hash
    project.write('extensions/kv/a', 'x')
    project.write('extensions/kv/b', 'y')
    expect((await only())?.hash).not.toBe(before)
  })
})

test('trust is bound to the content and the place', async () => {
  add('extensions', 'kv')
  const records = new Map<string, TrustRecord>()
  const store = {
    add: async (added: readonly TrustRecord[]) => {
      for (const record of added) records.set(record.path, record)
      return records
    },
  }
  const [found] = await find()
  if (!found) throw new Error('nothing was found')
  await trustExtension(store, found, { by: 'command', at: 5 })
  expect([...records.values()]).toEqual([{ path: found.folder, sha256: found.hash, by: 'command', at: 5 }])
  expect((await find(records))[0]?.trusted).toBe(true)
  project.write('extensions/kv/main.js', 'evil()')
  expect((await find(records))[0]?.trusted).toBe(false)
})
