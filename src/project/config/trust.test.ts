import { existsSync } from 'node:fs'
import { mkdtemp, readdir, readFile, rm, stat, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { MemoryFiles } from '../../../test/fixtures/memory-files.ts'
import { TroupeError } from '../../contracts/index.ts'
import { type ConfigFileSystem, nodeConfigFileSystem } from './files/config-file-system.ts'
import { readFileStates, type TrustPlace, trustFiles } from './trust/trust-files.ts'
import { contentHash, parseTrust, printTrust, type TrustRecord, trustOf } from './trust/trust-records.ts'
import { fileTrustStore } from './trust/trust-store.ts'

const given = { by: 'person', at: 5 } as const
const path = '/data/trust.json'
const placeOf = (files: ConfigFileSystem, file = path): TrustPlace => ({ files, store: fileTrustStore({ files, path: file }) })

describe('the list of trusted files', () => {
  test('trust, list, revoke', async () => {
    const files = new MemoryFiles({ '/p/a': 'one', '/p/sub/b': 'two', '/q': 'three' })
    const place = placeOf(files)
    expect(await place.store.list()).toEqual(new Map())
    const states = await readFileStates(files, ['/p/a', '/p/sub/b', '/q'])
    await trustFiles(place, states, given)
    const records = await place.store.list()
    expect([...records.values()]).toEqual(states.map((state) => ({ ...state, ...given })))
    expect(trustOf({ path: '/p/a', sha256: contentHash('one') }, records)).toBe('trusted')
    expect(trustOf({ path: '/p/a', sha256: contentHash('other') }, records)).toBe('changed')
    expect(trustOf({ path: '/p/c', sha256: contentHash('one') }, records)).toBe('unknown')

    expect((await place.store.remove(['/p/', '/pq'])).map((record) => record.path)).toEqual(['/p/a', '/p/sub/b'])
    expect([...(await place.store.list()).keys()]).toEqual(['/q'])
    expect(await place.store.remove(['/nothing'])).toEqual([])
  })

  test('a configuration takes along what its hooks run, as it is', async () => {
    const hooks = [
      { name: 'a', on: ['before_call'], command: ['./guard.sh', '--rules=rules.json', '/usr/bin/env', 'absent'], onFailure: 'closed' },
      { name: 'b', on: ['at_stop'], module: '../b.mjs', onFailure: 'open' },
      { name: 'c', on: ['at_stop'], command: ['sh', '-c', 'node tools/c.mjs >> seen.txt; cat my.log'], onFailure: 'open' },
    ]
    const named = { '/p/guard.sh': 'guard', '/p/rules.json': '{}', '/b.mjs': 'b', '/p/tools/c.mjs': 'c' }
    const others = { '/usr/bin/env': 'env', '/p/seen.txt': 'seen', '/p/my.log': 'log', '/p/else': 'else' }
    const config = JSON.stringify({ hooks })
    const files = new MemoryFiles({ '/p/.ai-agent.json': config, ...named, ...others })
    const place = placeOf(files)
    const [state] = await readFileStates(files, ['/p/.ai-agent.json'])
    await trustFiles(place, state ? [state] : [], given)
    const hashes = [...(await place.store.list()).values()].map(({ path: file, sha256 }) => [file, sha256])
    expect(Object.fromEntries(hashes)).toEqual(
      Object.fromEntries(Object.entries({ '/p/.ai-agent.json': config, ...named }).map(([file, text]) => [file, contentHash(text)])),
    )
  })

  test.each([
    [['./guard.out'], '/p/guard.out'],
    [['sh', 'rules.csv'], '/p/rules.csv'],
    [['sh', '-c', 'exec 2>/dev/null;./two.sh'], '/p/two.sh'],
    [['sh', '-c', '. ./three.csv'], '/p/three.csv'],
    [['/proc/self/cwd/one.sh'], '/p/one.sh'],
  ])('what a hook runs is bound to trust, however it is named: %j', async (command, program) => {
    const hooks = [{ name: 'a', on: ['before_call'], command, onFailure: 'closed' }]
    const files = new MemoryFiles({ '/p/.ai-agent.json': JSON.stringify({ hooks }), [program]: 'v1' })
    await trustFiles(placeOf(files), await readFileStates(files, ['/p/.ai-agent.json']), given)
    expect([...(await placeOf(files).store.list()).keys()]).toEqual(['/p/.ai-agent.json', program])
  })

  test('a configuration that is no longer what was shown takes nothing along', async () => {
    const hooks = [{ name: 'a', on: ['before_call'], command: ['./guard.sh'], onFailure: 'closed' }]
    const files = new MemoryFiles({ '/p/.ai-agent.json': JSON.stringify({ hooks }), '/p/guard.sh': 'guard' })
    await trustFiles(placeOf(files), [{ path: '/p/.ai-agent.json', sha256: contentHash('{}') }], given)
    expect([...(await placeOf(files).store.list()).keys()]).toEqual(['/p/.ai-agent.json'])
  })

  test('a second trust replaces the first', async () => {
    const place = placeOf(new MemoryFiles())
    await trustFiles(place, [{ path: '/a', sha256: contentHash('1') }], given)
    await trustFiles(place, [{ path: '/a', sha256: contentHash('2') }], { by: 'init', at: 6 })
    expect([...(await place.store.list()).values()]).toEqual([{ path: '/a', sha256: contentHash('2'), by: 'init', at: 6 }])
  })

  test('what another process writes in between is kept', async () => {
    const files = new MemoryFiles()
    const place = placeOf(files)
    const other = { path: '/other', sha256: contentHash('x'), ...given }
    const replace = files.replace.bind(files)
    let isFirst = true
    files.replace = async (...change) => {
      if (isFirst) files.contents.set(path, printTrust(new Map([['/other', other]])))
      isFirst = false
      return replace(...change)
    }
    await trustFiles(place, [{ path: '/mine', sha256: contentHash('y') }], given)
    expect([...(await place.store.list()).keys()]).toEqual(['/mine', '/other'])
  })

  test('gives up on a file that changes all the time', async () => {
    const files = new MemoryFiles()
    files.replace = async () => false
    await expect(trustFiles(placeOf(files), [{ path: '/a', sha256: contentHash('') }], given)).rejects.toMatchObject({
      code: 'config_invalid',
    })
  })

  test('a missing file cannot be trusted', async () => {
    await expect(readFileStates(new MemoryFiles({ '/a': '' }), ['/a', '/b', '/c'])).rejects.toMatchObject({
      code: 'config_invalid',
      problems: [{ place: '/b' }, { place: '/c' }],
    })
  })

  const record: TrustRecord = { path: '/a', sha256: 'a'.repeat(64), by: 'person', at: 1 }
  test.each([
    ['', 'it is not JSON'],
    ['{"version": 1, "trusted": [', 'it is not JSON'],
    ['[]', 'it must be { "version": 1, "trusted": [ … ] }'],
    ['{"version": "1", "trusted": []}', 'it must be { "version": 1, "trusted": [ … ] }'],
    ['{"version": 1}', 'it must be { "version": 1, "trusted": [ … ] }'],
    ['{"version": 2, "trusted": []}', 'it has version 2; this program supports version 1'],
    [JSON.stringify({ version: 1, trusted: [{ ...record, sha256: 'a' }] }), 'the entry is damaged or duplicated'],
    [JSON.stringify({ version: 1, trusted: [{ ...record, by: 'x' }] }), 'the entry is damaged or duplicated'],
    [JSON.stringify({ version: 1, trusted: [{ ...record, also: 1 }] }), 'the entry is damaged or duplicated'],
    [JSON.stringify({ version: 1, trusted: [record, record] }), 'the entry is damaged or duplicated'],
    [JSON.stringify({ version: 1, trusted: [null] }), 'the entry is damaged or duplicated'],
  ])('%j trusts no file, and reports it', async (text, message) => {
    const files = new MemoryFiles({ [path]: text })
    const place = placeOf(files)
    const expected = {
      code: 'config_invalid',
      remedy: `Remove ${path}; Troupe asks again about the files in it.`,
      problems: [{ message: expect.stringContaining(message) }],
    }
    await expect(place.store.list()).rejects.toMatchObject(expected)
    await expect(trustFiles(place, [record], given)).rejects.toMatchObject(expected)
    expect(files.contents.get(path)).toBe(text)
  })

  test('a damaged list is refused, or says what it said', () => {
    const whole = printTrust(new Map([[record.path, record]]))
    fc.assert(
      fc.property(fc.nat(whole.length), fc.nat(3), fc.string({ maxLength: 3 }), (at, length, extra) => {
        const text = whole.slice(0, at) + extra + whole.slice(at + length)
        try {
          for (const each of parseTrust(text, path).values()) expect(Object.keys(each).toSorted()).toEqual(['at', 'by', 'path', 'sha256'])
        } catch (error) {
          expect(error).toBeInstanceOf(TroupeError)
          expect((error as TroupeError).problems.length).toBeGreaterThan(0)
        }
      }),
      { numRuns: 500 },
    )
  })
})

describe('on a disk', () => {
  let folder = ''
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'troupe-trust-'))
  })
  afterEach(() => rm(folder, { recursive: true, force: true }))

  test('the list is written as a whole, for its owner alone, and leaves nothing beside it', async () => {
    const file = join(folder, 'new', 'trust.json')
    const place = placeOf(nodeConfigFileSystem, file)
    const trusted = await Promise.all(
      Array.from({ length: 8 }, (_, index) =>
        trustFiles(place, [{ path: `/${index}`, sha256: contentHash('') }], given).catch(() => undefined),
      ),
    )
    expect(trusted.some((each) => each !== undefined)).toBe(true)
    expect((await place.store.list()).size).toBeGreaterThan(0)
    expect(await readdir(join(folder, 'new'))).toEqual(['trust.json'])
    expect((await stat(file)).mode & 0o777).toBe(0o600)
  })

  test('nothing is replaced that was not expected', async () => {
    const file = join(folder, 'x')
    await writeFile(file, 'theirs')
    expect(await nodeConfigFileSystem.replace(file, 'mine', 'new')).toBe(false)
    expect(await nodeConfigFileSystem.replace(file, undefined, 'new')).toBe(false)
    expect(await readFile(file, 'utf8')).toBe('theirs')
    expect(await nodeConfigFileSystem.replace(file, 'theirs', 'new')).toBe(true)
    expect(await readdir(folder)).toEqual(['x'])
  })

  test('a file that is too large is refused, a missing one is absent', async () => {
    expect(await nodeConfigFileSystem.read(join(folder, 'none'))).toBeUndefined()
    await writeFile(join(folder, 'file'), 'text')
    expect(await nodeConfigFileSystem.read(join(folder, 'file', 'below'))).toBeUndefined()
    await expect(nodeConfigFileSystem.read(folder)).rejects.toThrow('it is a folder')
    await symlink('/dev/zero', join(folder, 'endless'))
    await expect(nodeConfigFileSystem.read(join(folder, 'endless'))).rejects.toThrow('it is not a regular file')
    await writeFile(join(folder, 'large'), Buffer.alloc(4 * 1024 * 1024 + 1))
    await expect(nodeConfigFileSystem.read(join(folder, 'large'))).rejects.toThrow('the maximum is')
  })

  test.runIf(existsSync('/proc/self/pagemap'))('nor is what says that it is empty and has no end', async () => {
    await symlink('/proc/self/pagemap', join(folder, 'endless'))
    await expect(nodeConfigFileSystem.read(join(folder, 'endless'))).rejects.toThrow('it has more than 4194304 bytes, which is the maximum')
  })
})
