import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { describe, expect, it, onTestFinished } from 'vitest'
import { eventually, type Ground, ground, noSandboxHere, path } from './ground.ts'

const subject = join(import.meta.dirname, 'neighbour-subject.mjs')

function place(): Ground {
  const made = ground()
  onTestFinished(() => made.remove())
  return made
}

const told = ({ workspace, home }: Ground, count: number): readonly string[] => [
  '--no-warnings',
  subject,
  JSON.stringify({ root: workspace, path, home, count }),
]

describe.skipIf(noSandboxHere)(`programs that run commands in one workspace${noSandboxHere ? ` (skipped: ${noSandboxHere})` : ''}`, () => {
  it('do not take each other’s guards away, and leave nothing', async () => {
    const here = place()
    const before = readdirSync(here.workspace)
    const neighbours = Array.from({ length: 3 }, () => promisify(execFile)(process.execPath, told(here, 20)))
    expect((await Promise.all(neighbours)).map(({ stdout }) => JSON.parse(stdout))).toEqual([[], [], []])
    expect(readdirSync(here.workspace)).toEqual(before)
  })

  it('do not wait for one that was killed, and clear up after it', async () => {
    const here = place()
    const before = readdirSync(here.workspace)
    const killed = spawn(process.execPath, told(here, 1_000_000), { stdio: 'ignore' })
    const gone = once(killed, 'exit')
    expect(await eventually(() => existsSync(join(here.workspace, '.claude')))).toBe(true)
    killed.kill('SIGKILL')
    await gone
    expect(await here.run('echo here')).toMatchObject({ text: 'here\n' })
    expect(readdirSync(here.workspace)).toEqual(before)
  })
})
