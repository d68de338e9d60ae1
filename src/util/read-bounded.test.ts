import { execFileSync } from 'node:child_process'
import * as fs from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { type FileFacts, type FileSystem, readBounded } from './read-bounded.ts'

const folder = fs.mkdtempSync(join(tmpdir(), 'troupe-bounded-'))
afterAll(() => fs.rmSync(folder, { recursive: true, force: true }))
const at = (name: string): string => join(folder, name)

describe('what is there', () => {
  it.each([0, 1, 4_095, 4_096, 4_097, 9_999, 10_000])('a file of %i bytes is read to its end', (length) => {
    const content = new Uint8Array(length).map((_byte, index) => index % 251)
    fs.writeFileSync(at('whole'), content)
    expect(readBounded(fs, at('whole'), 10_000)).toEqual({ kind: 'read', bytes: content })
  })
  it('a file that is too large is refused', () => {
    fs.writeFileSync(at('large'), 'x'.repeat(11))
    expect(readBounded(fs, at('large'), 10)).toEqual({ kind: 'too large', why: 'it has 11 bytes; the maximum is 10' })
  })
  it('a missing path, a folder and a path through a file are distinguished', () => {
    fs.writeFileSync(at('file'), '')
    expect(['none', '.', 'file/below'].map((name) => readBounded(fs, at(name), 10).kind)).toEqual(['missing', 'folder', 'missing'])
  })
  it.runIf(process.platform !== 'win32')('pipes and devices are no files, and links that go in a circle cannot be read', () => {
    execFileSync('mkfifo', [at('pipe')])
    fs.symlinkSync('/dev/zero', at('endless'))
    fs.symlinkSync('circle', at('circle'))
    expect(['pipe', 'endless', 'circle'].map((name) => readBounded(fs, at(name), 10).kind)).toEqual(['no file', 'no file', 'unreadable'])
  })
  it.runIf(process.platform === 'linux')('a file of the system that says it is empty is read as far as it may be', () => {
    expect(fs.statSync('/proc/self/status').size).toBe(0)
    expect(readBounded(fs, '/proc/self/status', 100_000)).toMatchObject({ kind: 'read', bytes: { length: expect.any(Number) } })
    expect(readBounded(fs, '/proc/self/status', 10)).toEqual({ kind: 'too large', why: 'it has more than 10 bytes, which is the maximum' })
  })
})

/** A file that goes on for as long as it is read. */
class Endless implements FileSystem {
  readonly constants = { O_RDONLY: 0, O_NONBLOCK: 2048 }
  readonly opened: number[] = []
  readonly #facts: readonly FileFacts[]
  given = 0
  isOpen = false

  constructor(...facts: readonly FileFacts[]) {
    this.#facts = facts
  }
  statSync(): FileFacts {
    return this.#facts[0] ?? file
  }
  openSync(_path: string, flags: number): number {
    this.opened.push(flags)
    this.isOpen = true
    return 7
  }
  fstatSync(): FileFacts {
    return this.#facts[1] ?? file
  }
  readSync(...[, , , length]: Parameters<FileSystem['readSync']>): number {
    this.given += length
    return length
  }
  closeSync(): void {
    this.isOpen = false
  }
}
const file: FileFacts = { size: 0, isFile: () => true, isDirectory: () => false }
const pipe: FileFacts = { ...file, isFile: () => false }

describe('what has no end', () => {
  it('is given up within a page beyond the bound, opened without waiting, and closed', () => {
    const endless = new Endless()
    expect(readBounded(endless, '/x', 100_000)).toMatchObject({ kind: 'too large' })
    expect(endless).toMatchObject({ given: 102_400, opened: [2048], isOpen: false })
  })
  it('is not opened where it is no file, and not read where it has become none', () => {
    const device = new Endless(pipe)
    const swapped = new Endless(file, pipe)
    expect([readBounded(device, '/x', 10), readBounded(swapped, '/x', 10)]).toMatchObject([{ kind: 'no file' }, { kind: 'no file' }])
    expect(device.opened).toEqual([])
    expect(swapped).toMatchObject({ given: 0, isOpen: false })
  })
})
