import { mkdirSync, mkdtempSync, realpathSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { WorkspaceScan } from '../../../src/tools/sandbox/workspace-scan.ts'

let root: string
const key = (): string => join(root, 'apps/api/.ai-agent.env')
beforeEach(() => {
  root = realpathSync(mkdtempSync(join(tmpdir(), 'troupe-walk-')))
  mkdirSync(join(root, 'apps/api'), { recursive: true })
  writeFileSync(key(), 'KEY=1\n')
})
afterEach(() => rmSync(root, { recursive: true, force: true }))

describe('key files deep in a workspace', () => {
  it('are found again while they exist, however many folders come before them', () => {
    const scan = new WorkspaceScan(root)
    expect(scan.scan()).toEqual({ repositories: [], secrets: [key()], locked: [], isComplete: true })
    for (let i = 0; i < 2_100; i++) mkdirSync(join(root, `a${i}`))
    expect(new WorkspaceScan(root).scan()).toMatchObject({ isComplete: false })
    expect(scan.scan()).toEqual({ repositories: [], secrets: [key()], locked: [], isComplete: false })
    rmSync(key())
    expect(scan.scan().secrets).toEqual([])
  })
})

describe('a scan', () => {
  const result = () => new WorkspaceScan(root).scan()

  /** Not UTF-8. */
  const nameless = (): Buffer => Buffer.concat([Buffer.from(`${root}/`), Buffer.from([0xff])])

  it('reads package folders last', () => {
    rmSync(join(root, 'apps'), { recursive: true })
    mkdirSync(join(root, 'node_modules/lib/.git'), { recursive: true })
    mkdirSync(nameless())
    expect(result()).toMatchObject({ repositories: [join(root, 'node_modules/lib/.git')], isComplete: false })
  })

  it('finds bare repositories, and enters them', () => {
    mkdirSync(join(root, 'game/refs'), { recursive: true })
    mkdirSync(join(root, 'game/objects/app/.git'), { recursive: true })
    writeFileSync(join(root, 'game/HEAD'), '')
    writeFileSync(join(root, 'game/objects/app/.ai-agent.env'), '')
    expect(result()).toEqual({
      repositories: [join(root, 'game'), join(root, 'game/objects/app/.git')],
      secrets: [key(), join(root, 'game/objects/app/.ai-agent.env')],
      locked: [],
      isComplete: true,
    })
  })

  it('reads a replaced folder again, and skips a link that leads to itself', () => {
    const scan = new WorkspaceScan(root)
    for (const name of ['one/a', 'two/a/.git']) mkdirSync(join(root, name), { recursive: true })
    expect(scan.scan().repositories).toEqual([join(root, 'two/a/.git')])
    renameSync(join(root, 'one'), join(root, 'three'))
    renameSync(join(root, 'two'), join(root, 'one'))
    expect(scan.scan().repositories).toEqual([join(root, 'one/a/.git')])
    rmSync(join(root, 'apps/api'), { recursive: true })
    symlinkSync('api', join(root, 'apps/api'))
    expect(scan.scan().secrets).toEqual([])
  })

  it('is incomplete where a folder has too many entries', () => {
    expect(result()).toMatchObject({ isComplete: true })
    for (let i = 0; i < 5_000; i++) writeFileSync(join(root, 'apps', `f${i}`), '')
    expect(result()).toMatchObject({ isComplete: false })
  })
})
