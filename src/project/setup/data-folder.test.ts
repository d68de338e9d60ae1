import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir, userInfo } from 'node:os'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { dataFolder, dataFolderProblem } from './data-folder.ts'

const HOME = '/home/ann'

test('the flag wins, then the state folder, then the home', () => {
  expect(dataFolder({ flag: '/data', env: { XDG_STATE_HOME: '/state', HOME } })).toBe('/data')
  expect(dataFolder({ flag: 'data', env: { HOME } })).toBe(`${process.cwd()}/data`)
  expect(dataFolder({ flag: undefined, env: { XDG_STATE_HOME: '/state', HOME } })).toBe('/state/troupe')
  expect(dataFolder({ flag: undefined, env: { XDG_STATE_HOME: 'relative', HOME } })).toBe('/home/ann/.local/state/troupe')
  expect(dataFolder({ flag: undefined, env: { HOME } })).toBe('/home/ann/.local/state/troupe')
})

test.each(['', 'relative'])('a home of %j is not taken for the working folder', (odd) => {
  expect(dataFolder({ flag: undefined, env: { XDG_STATE_HOME: '', HOME: odd } })).toBe(join(userInfo().homedir, '.local/state/troupe'))
})

describe('a folder is looked at before anything is kept in it', () => {
  const folder = (): string => {
    const made = mkdtempSync(join(tmpdir(), 'troupe-data-'))
    onTestFinished(() => rmSync(made, { recursive: true, force: true }))
    return made
  }
  test('one that is there, or can be made, is right, and is not made', () => {
    const parent = folder()
    expect([dataFolderProblem(parent), dataFolderProblem(join(parent, 'a/b'))]).toEqual([undefined, undefined])
    expect(existsSync(join(parent, 'a'))).toBe(false)
  })
  test('a file is none, nor is anything in it', () => {
    const file = join(folder(), 'file')
    writeFileSync(file, '')
    for (const path of [file, join(file, 'a/b'), '/dev/null'])
      expect(dataFolderProblem(path)).toMatchObject({
        place: path,
        message: expect.stringContaining('is not a folder'),
        remedy: expect.any(String),
      })
  })
})
