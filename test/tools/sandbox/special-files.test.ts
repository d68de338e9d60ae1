import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { FakeClock } from '../../../src/testing/index.ts'
import { SpecialFiles } from '../../../src/tools/sandbox/special-files.ts'

describe.skipIf(process.platform !== 'linux')('sockets and pipes outside', () => {
  let base: string
  beforeEach(() => {
    base = mkdtempSync(join(tmpdir(), 'troupe-special-'))
    mkdirSync(join(base, 'service/deep'), { recursive: true })
    mkdirSync(join(base, 'workspace'))
  })
  afterEach(() => rmSync(base, { recursive: true, force: true }))
  const pipe = (name: string): string => {
    execFileSync('mkfifo', [join(base, name)])
    return join(base, name)
  }
  const ours = (files: SpecialFiles): readonly string[] => files.paths().filter((path) => path.startsWith(base))

  it('are found where services keep theirs, but not those of the workspace', () => {
    writeFileSync(join(base, 'service/plain'), '')
    const found = pipe('service/deep/control')
    pipe('workspace/own')
    const files = new SpecialFiles({ clock: new FakeClock(), root: join(base, 'workspace'), folders: [base] })
    expect(ours(files)).toEqual([found])
  })

  it('are looked for again after a minute', () => {
    const clock = new FakeClock()
    const files = new SpecialFiles({ clock, root: join(base, 'workspace'), folders: [base] })
    expect(ours(files)).toEqual([])
    const found = pipe('service/control')
    clock.advance(60_000)
    expect(ours(files)).toEqual([])
    clock.advance(1)
    expect(ours(files)).toEqual([found])
  })

  it('are told by the kernel at once where it knows', async () => {
    const files = new SpecialFiles({ clock: new FakeClock(), root: join(base, 'workspace'), folders: [] })
    expect(ours(files)).toEqual([])
    const server = createServer()
    await new Promise<void>((done) => server.listen(join(base, 'service/a b.sock'), done))
    expect(ours(files)).toEqual([join(base, 'service/a b.sock')])
    server.close()
  })

  it('are named as they are, whatever link their service came by', async () => {
    const files = new SpecialFiles({ clock: new FakeClock(), root: join(base, 'workspace'), folders: [] })
    symlinkSync('service', join(base, 'way'))
    const server = createServer()
    await new Promise<void>((done) => server.listen(join(base, 'way/a.sock'), done))
    expect(ours(files)).toEqual([join(base, 'service/a.sock')])
    server.close()
  })
})
