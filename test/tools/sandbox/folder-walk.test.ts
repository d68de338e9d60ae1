import { mkdirSync, mkdtempSync, realpathSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { FolderWalk } from '../../../src/tools/sandbox/folder-walk.ts'
import { guardShared } from '../../../src/tools/sandbox/workspace-guard.ts'

let root: string
const key = (): string => join(root, 'apps/api/.ai-agent.env')
beforeEach(() => {
  root = realpathSync(mkdtempSync(join(tmpdir(), 'troupe-walk-')))
  mkdirSync(join(root, 'apps/api'), { recursive: true })
  writeFileSync(key(), 'KEY=1\n')
})
afterEach(() => rmSync(root, { recursive: true, force: true }))

describe('keys of providers, deep in a workspace', () => {
  it('are found again, however many folders were made before them, for as long as they are there', () => {
    const walk = new FolderWalk(root)
    expect(walk.look({ isAfter: false })).toEqual({ repositories: [], secrets: [key()], isWhole: true })
    for (let i = 0; i < 2_100; i++) mkdirSync(join(root, `a${i}`))
    expect(new FolderWalk(root).look({ isAfter: false })).toMatchObject({ isWhole: false })
    expect(walk.look({ isAfter: false })).toEqual({ repositories: [], secrets: [key()], isWhole: false })
    rmSync(key())
    expect(walk.look({ isAfter: false }).secrets).toEqual([])
  })

  it('cannot be moved away with the folders that they are in', async () => {
    const { fixed, hidden, undo } = await guardShared({ folder: root })
    await undo()
    expect(hidden).toEqual([key()])
    expect(fixed).toEqual(expect.arrayContaining([join(root, 'apps'), join(root, 'apps/api')]))
  })
})

describe('a walk', () => {
  const look = () => new FolderWalk(root).look({ isAfter: false })

  /** By its letters nobody finds it. */
  const nameless = (): Buffer => Buffer.concat([Buffer.from(`${root}/`), Buffer.from([0xff])])

  it('goes on with the folders of packages, whatever the last one before them is', () => {
    rmSync(join(root, 'apps'), { recursive: true })
    mkdirSync(join(root, 'node_modules/lib/.git'), { recursive: true })
    mkdirSync(nameless())
    expect(look()).toMatchObject({ repositories: [join(root, 'node_modules/lib/.git')], isWhole: false })
  })

  it('enters what only looks like a repository', () => {
    mkdirSync(join(root, 'game/refs'), { recursive: true })
    mkdirSync(join(root, 'game/objects/app/.git'), { recursive: true })
    writeFileSync(join(root, 'game/HEAD'), '')
    writeFileSync(join(root, 'game/objects/app/.ai-agent.env'), '')
    expect(look()).toEqual({
      repositories: [join(root, 'game'), join(root, 'game/objects/app/.git')],
      secrets: [key(), join(root, 'game/objects/app/.ai-agent.env')],
      isWhole: true,
    })
  })

  it('knows a folder that another one was put in the place of, and takes a key away that leads in a circle', () => {
    const walk = new FolderWalk(root)
    for (const name of ['one/a', 'two/a/.git']) mkdirSync(join(root, name), { recursive: true })
    expect(walk.look({ isAfter: false }).repositories).toEqual([join(root, 'two/a/.git')])
    renameSync(join(root, 'one'), join(root, 'three'))
    renameSync(join(root, 'two'), join(root, 'one'))
    expect(walk.look({ isAfter: false }).repositories).toEqual([join(root, 'one/a/.git')])
    rmSync(join(root, 'apps/api'), { recursive: true })
    symlinkSync('api', join(root, 'apps/api'))
    expect(walk.look({ isAfter: false }).secrets).toEqual([])
  })

  it('says so where a folder has more in it than is read', () => {
    expect(look()).toMatchObject({ isWhole: true })
    for (let i = 0; i < 5_000; i++) writeFileSync(join(root, 'apps', `f${i}`), '')
    expect(look()).toMatchObject({ isWhole: false })
  })
})
