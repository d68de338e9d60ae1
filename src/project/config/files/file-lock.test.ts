import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { hostname, tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { nodeConfigFileSystem } from './config-file-system.ts'
import { withLock } from './file-lock.ts'

let folder = ''
let path = ''
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'troupe-lock-'))
  path = join(folder, 'list.json')
})
afterEach(() => rm(folder, { recursive: true, force: true }))

/** Another process, which has these of the sources at hand. */
function elsewhere(source: string): ChildProcess {
  const beside = (name: string): string => JSON.stringify(join(import.meta.dirname, name))
  const code = `const { withLock } = await import(${beside('file-lock.ts')})
    const { nodeConfigFileSystem } = await import(${beside('config-file-system.ts')})
    const { readFileSync } = await import('node:fs')
    const path = ${JSON.stringify(path)}
    ${source}`
  return spawn(process.execPath, ['--input-type=module', '--eval', code], { stdio: ['ignore', 'pipe', 'ignore'] })
}

/** Puts a word into the list, again and again until nobody came in between. */
async function add(word: string): Promise<void> {
  for (;;) {
    const before = await readFile(path, 'utf8').catch(() => undefined)
    const words: readonly string[] = before === undefined ? [] : JSON.parse(before)
    if (await nodeConfigFileSystem.replace(path, before, JSON.stringify([...words, word]))) return
  }
}

const adding = (who: string, count: number): ChildProcess =>
  elsewhere(`const read = () => { try { return readFileSync(path, 'utf8') } catch { return undefined } }
    for (let n = 0; n < ${count}; n++)
      for (;;) {
        const before = read()
        if (await nodeConfigFileSystem.replace(path, before, JSON.stringify([...JSON.parse(before ?? '[]'), '${who}' + n]))) break
      }`)

/** A process that was killed while it held the lock. */
async function killedHolding(lockPath: string): Promise<void> {
  const holding = elsewhere(
    `await withLock(${JSON.stringify(lockPath)}, () => { console.log('held'); return new Promise((done) => setTimeout(done, 600_000)) })`,
  )
  if (!holding.stdout) throw new Error('There is nothing to listen to.')
  await once(holding.stdout, 'data')
  holding.kill('SIGKILL')
  await once(holding, 'exit')
}

describe('one writer at a time', () => {
  test('concurrent writes of several processes are all stored, and no other file is left', async () => {
    const others = ['a', 'b', 'c'].map((who) => adding(who, 20))
    const here = Array.from({ length: 20 }, (_, n) => add(`d${n}`))
    expect(await Promise.all(others.map(async (other) => (await once(other, 'exit'))[0]))).toEqual([0, 0, 0])
    await Promise.all(here)
    const words: readonly string[] = JSON.parse(await readFile(path, 'utf8'))
    expect(words.toSorted()).toEqual(['a', 'b', 'c', 'd'].flatMap((who) => Array.from({ length: 20 }, (_, n) => `${who}${n}`)).toSorted())
    expect(await readdir(folder)).toEqual(['list.json'])
  })

  test('a lock whose process was killed is taken away, by one of many, also where the one who did so was killed, too', async () => {
    await killedHolding(path)
    const { token }: { token: string } = JSON.parse(await readFile(`${path}.lock`, 'utf8'))
    await killedHolding(`${path}.lock.${token}`)
    let inside = 0
    let most = 0
    const visit = async (): Promise<void> => {
      most = Math.max(most, ++inside)
      await nodeConfigFileSystem.read(path)
      inside--
    }
    await Promise.all(Array.from({ length: 12 }, () => withLock(path, visit)))
    expect(most).toBe(1)
    expect(await readdir(folder)).toEqual([])
  })

  test('a process that has the number of one that is gone does not wait for itself', async () => {
    const token = '00000000000000aa'
    await writeFile(`${path}.lock`, JSON.stringify({ pid: process.pid, host: hostname(), token }))
    expect(await withLock(path, async () => 'done')).toBe('done')
  })

  test.each([
    ['somebody who lives', { pid: process.ppid, host: hostname(), token: '00000000000000aa' }],
    ['another machine', { pid: 1, host: 'elsewhere.test', token: '00000000000000aa' }],
    ['nobody knows whom', {}],
    ['a token that is a path', { pid: 2 ** 30, host: hostname(), token: '../../../../../x' }],
  ])('is waited for, not broken, and reported: %s', async (_, holder) => {
    await writeFile(`${path}.lock`, JSON.stringify(holder))
    let pauses = 0
    const pause = async (): Promise<void> => void pauses++
    await expect(withLock(path, async () => 'done', { tries: 5, pause })).rejects.toMatchObject({
      code: 'config_invalid',
      message: expect.stringContaining('list.json.lock is held'),
      remedy: expect.stringContaining('remove that file'),
    })
    expect(pauses).toBe(5)
    expect(await readdir(folder)).toEqual(['list.json.lock'])
    const given = withLock(path, async () => 'done', { tries: 5, pause: () => rm(`${path}.lock`, { force: true }) })
    expect(await given).toBe('done')
  })

  test('a process that fails releases the lock', async () => {
    await expect(withLock(path, () => Promise.reject(new Error('no')))).rejects.toThrow('no')
    expect(await withLock(path, async () => 'done')).toBe('done')
    expect(await readdir(folder)).toEqual([])
  })
})
