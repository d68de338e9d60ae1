import { execFileSync } from 'node:child_process'
import { once } from 'node:events'
import { lstatSync, mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Worker } from 'node:worker_threads'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { textOf } from '../../../src/tools/sandbox/file-identity.ts'
import { eventually } from './ground.ts'

let root: string
beforeEach(() => {
  root = realpathSync(mkdtempSync(join(tmpdir(), 'troupe-text-')))
})
afterEach(() => rmSync(root, { recursive: true, force: true }))

function write(name: string, text: string | Uint8Array): string {
  const file = join(root, name)
  writeFileSync(file, text)
  return file
}

describe('the text of a file', () => {
  it('is not read from a link, a pipe, a folder, bytes that are no text, or a large file', () => {
    mkdirSync(join(root, 'real'))
    write('real/file', 'text')
    symlinkSync('real/file', join(root, 'link'))
    execFileSync('mkfifo', [join(root, 'pipe')])
    write('odd', Buffer.from([0x66, 0xff]))
    write('much', 'x'.repeat(1024 * 1024 + 1))
    const texts = ['real/file', 'link', 'pipe', 'odd', 'much', 'real', 'none'].map((name) => textOf(join(root, name)))
    expect(texts).toEqual(['text', ...Array.from({ length: 6 }, () => undefined)])
  })

  it('is never read from a file that a link leads to for a moment', async () => {
    const secret = write('secret', 'SECRET')
    const file = write('HEAD', 'mine')
    const stop = new Int32Array(new SharedArrayBuffer(4))
    const swapping = new Worker(
      `const fs = require('node:fs')
      const { file, secret, stop } = require('node:worker_threads').workerData
      while (Atomics.load(stop, 0) === 0) {
        fs.symlinkSync(secret, file + '-link')
        fs.renameSync(file + '-link', file)
        fs.writeFileSync(file + '-file', 'mine')
        fs.renameSync(file + '-file', file)
      }`,
      { eval: true, workerData: { file, secret, stop } },
    )
    const gone = once(swapping, 'exit')
    const isSwapping = await eventually(() => lstatSync(file).isSymbolicLink())
    const texts = new Set(Array.from({ length: 20_000 }, () => textOf(file)))
    Atomics.store(stop, 0, 1)
    await gone
    expect({ isSwapping, others: [...texts].filter((text) => text !== undefined && text !== 'mine') }).toEqual({
      isSwapping: true,
      others: [],
    })
  })
})
