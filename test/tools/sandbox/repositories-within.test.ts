import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { namesIn } from '../../../src/tools/sandbox/names-in.ts'
import { repositoriesWithin } from '../../../src/tools/sandbox/repositories-within.ts'

let root: string
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'troupe-within-'))
})
afterEach(() => rmSync(root, { recursive: true, force: true }))

function folders(within: string, count: number): void {
  for (let number = 0; number < count; number++) mkdirSync(join(root, within, `t${number}`), { recursive: true })
}

describe('names in a folder', () => {
  it('are read up to one more than there may be, and never through a link', () => {
    folders('many', 10)
    symlinkSync('many', join(root, 'link'))
    writeFileSync(join(root, 'file'), '')
    const count = (name: string, most: number): number => namesIn(join(root, name), most).length
    expect([count('many', 3), count('many', 10), count('link', 10), count('file', 10), count('none', 10)]).toEqual([4, 10, 0, 0, 0])
  })
})

describe('repositories inside of others', () => {
  it('have one bound for all of them', () => {
    folders('a/worktrees', 1_500)
    folders('b/worktrees', 400)
    folders('c/worktrees', 200)
    const [a, b, c] = ['a', 'b', 'c'].map((name) => join(root, name)) as [string, string, string]
    expect(repositoriesWithin([a, b])).toMatchObject({ isWhole: true, entries: { length: 1_900 } })
    expect(repositoriesWithin([a, b, c])).toMatchObject({ isWhole: false, entries: { length: 1_900 } })
  })

  it('are not looked for where a link leads', () => {
    folders('many', 5)
    mkdirSync(join(root, 'a'))
    symlinkSync('../many', join(root, 'a/worktrees'))
    expect(repositoriesWithin([join(root, 'a')])).toEqual({ isWhole: true, entries: [] })
  })
})
