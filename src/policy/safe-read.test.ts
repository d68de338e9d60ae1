import * as fs from 'node:fs'
import { mkdirSync, mkdtempSync, realpathSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { type SafeReadFileSystem, type SafeReadResult, safeRead } from './safe-read.ts'

let path = ''
let root = ''
beforeEach(() => {
  path = realpathSync(mkdtempSync(join(tmpdir(), 'troupe-look-')))
  root = join(path, 'project')
  for (const folder of [root, join(path, 'away'), join(root, 'docs')]) mkdirSync(folder)
  writeFileSync(join(path, 'away/notes.md'), 'SECRET')
  writeFileSync(join(root, 'docs/notes.md'), 'notes')
})
afterEach(() => rmSync(path, { recursive: true, force: true }))

/** Descriptors know where they are on Linux alone. */
const withoutProc: SafeReadFileSystem = {
  ...fs,
  readlinkSync: () => {
    throw new Error('there is no /proc')
  },
}
const look = (name: string, files: SafeReadFileSystem = fs): SafeReadResult => safeRead(files, join(root, name), { root, maxBytes: 1_000 })
const textOf = (found: SafeReadResult): string => (found.kind === 'read' ? new TextDecoder().decode(found.bytes) : found.kind)

/** Puts a link to elsewhere in the place of a file, or of its folder. */
function exchange(name: 'docs' | 'docs/notes.md'): void {
  renameSync(join(root, name), join(path, 'old'))
  symlinkSync(join(path, name === 'docs' ? 'away' : 'away/notes.md'), join(root, name))
}
function putBack(name: 'docs' | 'docs/notes.md'): void {
  rmSync(join(root, name))
  renameSync(join(path, 'old'), join(root, name))
}

describe.each([
  ['a descriptor that knows where it is', fs],
  ['one that does not', withoutProc],
] as const)('with %s', (_what, files: SafeReadFileSystem) => {
  it('reads a file, and one that a link in the folder leads to', () => {
    symlinkSync('docs/notes.md', join(root, 'AGENTS.md'))
    expect([textOf(look('docs/notes.md', files)), textOf(look('AGENTS.md', files))]).toEqual(['notes', 'notes'])
    expect(look('AGENTS.md', files)).toMatchObject({ real: join(root, 'docs/notes.md'), size: 5 })
  })

  it.each(['docs', 'docs/notes.md'] as const)('reads nothing from elsewhere where %s is exchanged before it is opened', (name) => {
    const found = look('docs/notes.md', {
      ...files,
      openSync(at, flags) {
        exchange(name)
        return fs.openSync(at, flags)
      },
    })
    expect(['outside', 'refused']).toContain(found.kind)
  })

  it('reads nothing that was removed meanwhile', () => {
    const found = look('docs/notes.md', {
      ...files,
      openSync(at, flags) {
        const file = fs.openSync(at, flags)
        renameSync(join(path, 'away/notes.md'), at)
        return file
      },
    })
    expect(found).toEqual({ kind: 'refused', why: 'it was replaced while it was read' })
  })
})

it.runIf(process.platform === 'linux')('is not deceived by a folder that is put back once it is open', () => {
  const found = look('docs/notes.md', {
    ...fs,
    openSync(at, flags) {
      exchange('docs')
      const file = fs.openSync(at, flags)
      putBack('docs')
      return file
    },
  })
  expect(found).toEqual({ kind: 'outside' })
})

it('does not open files that are known to be unwanted', () => {
  symlinkSync(join(path, 'away/notes.md'), join(root, 'link'))
  const files = { ...fs, openSync: () => expect.unreachable() }
  expect(look('link', files)).toEqual({ kind: 'outside' })
})

it('gives no keys, by whatever name, and nothing that is hidden', () => {
  writeFileSync(join(root, '.ai-agent.env'), 'KEY=1')
  symlinkSync('.ai-agent.env', join(root, 'AGENTS.md'))
  symlinkSync('docs/notes.md', join(root, '.AI-agent.env'))
  const keys = { kind: 'withheld', why: 'it contains keys, which no tool may read' }
  expect([look('.ai-agent.env'), look('AGENTS.md'), look('.AI-agent.env')]).toEqual([keys, keys, keys])
  const hidden = [join(root, 'Docs')]
  expect(safeRead(fs, join(root, 'docs/notes.md'), { root, hidden, maxBytes: 10 })).toEqual({
    kind: 'withheld',
    why: 'it is in a private folder of this program',
  })
})
