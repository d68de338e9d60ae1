import { mkdirSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { reachableFolders } from '../../../src/kernel/process/reachable-folders.ts'
import { extensionStage, main, type Stage } from './extension-stage.ts'

describe('permissions that are not given', () => {
  let stage: Stage
  beforeEach(() => {
    stage = extensionStage()
    for (const file of ['docs/a.md', '.git/hooks/pre-push', 'docs/.env', 'node_modules/x/index.js']) stage.write(file, '')
    symlinkSync('/etc', join(stage.root, 'docs/etc'))
    symlinkSync('../.git', join(stage.root, 'docs/git'))
    mkdirSync(join(stage.root, 'extensions'), { recursive: true })
  })
  afterEach(() => stage.remove())

  it.each([
    ['read', 'missing', 'does not exist'],
    ['read', 'docs/a.md', 'is not a folder'],
    ['read', '.git', 'is hidden'],
    ['read', 'docs/git/hooks', 'is hidden'],
    ['read', 'docs/etc', 'is outside of the project'],
    ['read', '../', 'is outside of the project'],
    ['write', '.', 'is the whole project'],
    ['write', 'docs/..', 'is the whole project'],
    ['write', 'node_modules/x', 'holds packages'],
  ] as const)('%s: %s', async (kind, path, why) => {
    const manifest = { permissions: { hosts: [], read: [], write: [], [kind]: [path] } }
    const found = stage.add('guest', main(''), manifest)
    expect(() => reachableFolders(found.manifest, stage.root)).toThrow(why)
  })
})
