import { spawn } from 'node:child_process'
import { closeSync, openSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { noSandboxHere, sandboxed } from '../../sandbox-here.ts'
import { eventually, type Ground, ground, path, processesNamed } from './ground.ts'

const subject = join(import.meta.dirname, 'crash-subject.mjs')

describe.skipIf(noSandboxHere)(sandboxed('our own end'), () => {
  let place: Ground
  beforeAll(() => {
    place = ground()
  })
  afterAll(() => place.remove())

  const start = (command: string, more: number[] = []) =>
    spawn(process.execPath, ['--no-warnings', subject, JSON.stringify({ root: place.workspace, path, home: place.home, command })], {
      stdio: ['ignore', 'pipe', 'ignore', ...Array.from({ length: 17 }, () => 'ignore' as const), ...more],
    })

  it('is the end of every command, also where we are killed', async () => {
    const mark = `troupe-orphan-${process.pid}`
    const forever = `exec -a ${mark} sleep 600`
    const process1 = start(
      `(setsid bash -c '${forever}' > /dev/null 2>&1 &); bash -c '${forever}' & echo ready; trap "" TERM HUP; while :; do sleep 600; done`,
    )
    await new Promise((resolve) => process1.stdout?.once('data', resolve))
    expect(await eventually(() => processesNamed(mark).length === 2)).toBe(true)
    process1.kill('SIGKILL')
    expect(await eventually(() => processesNamed(mark).length === 0)).toBe(true)
  })

  it('leaves nothing open for a command that was open for us', async () => {
    // A folder outside, left open by whoever started us, would lead a command there.
    const folder = openSync(place.outside, 'r')
    const process2 = start('cat /proc/self/fd/20/secret; ls -l /proc/self/fd/20', [folder])
    let text = ''
    process2.stdout?.on('data', (piece: Buffer) => {
      text += piece
    })
    await new Promise((resolve) => process2.once('close', resolve))
    closeSync(folder)
    expect(text).not.toContain('SECRET-OUTSIDE')
    expect(text).toMatch(/20 -> \/dev\/null/)
  })
})
