import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readdirSync, readFileSync, renameSync, symlinkSync, writeFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import { promisify } from 'node:util'
import { describe, expect, it, onTestFinished } from 'vitest'
import { noSandboxHere, sandboxed } from '../../sandbox-here.ts'
import { eventually, type Ground, ground, path } from './ground.ts'

const subject = join(import.meta.dirname, 'neighbour-subject.mjs')

function place(): Ground {
  const made = ground()
  onTestFinished(() => made.remove())
  return made
}

/** A bare repository and a link take turns under one name. */
const swap = `
  import fs from 'node:fs'
  const nap = () => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 3)
  for (const part of ['x/objects', 'x/refs']) fs.mkdirSync(part, { recursive: true })
  fs.writeFileSync('x/HEAD', 'ref: refs/heads/main\\n')
  fs.symlinkSync(process.argv[2], 'link')
  while (!fs.existsSync('stop')) {
    nap()
    fs.renameSync('x', 'y')
    fs.renameSync('link', 'x')
    nap()
    fs.renameSync('x', 'link')
    fs.renameSync('y', 'x')
  }`

const told = ({ workspace, home }: Ground, count: number): readonly string[] => [
  '--no-warnings',
  subject,
  JSON.stringify({ root: workspace, path, home, count }),
]

describe.skipIf(noSandboxHere)(sandboxed('programs that run commands in one workspace'), () => {
  it('do not take each other’s guards away, and leave nothing', async () => {
    const here = place()
    const before = readdirSync(here.workspace)
    const neighbours = Array.from({ length: 3 }, () => promisify(execFile)(process.execPath, told(here, 20)))
    expect((await Promise.all(neighbours)).map(({ stdout }) => JSON.parse(stdout))).toEqual([[], [], []])
    expect(readdirSync(here.workspace)).toEqual(before)
  })

  it('are not led out by a command that puts links in the place of folders meanwhile', async () => {
    const here = place()
    const tool = join(here.outside, 'tool')
    writeFileSync(tool, 'mine')
    writeFileSync(join(here.workspace, 'swap.mjs'), swap)
    const target = relative(here.workspace, here.outside)
    const swapping = here.run(`${process.execPath} swap.mjs ${target}`)
    expect(await eventually(() => existsSync(join(here.workspace, 'x')))).toBe(true)
    // Who finds no moment to build walls in is refused.
    let ran = 0
    for (let tries = 0; tries < 25 || (ran === 0 && tries < 500); tries++) {
      const text = await here.run(`echo ran; echo evil > ${tool}`).then((ending) => ending.text, String)
      if (text.startsWith('ran\n')) ran++
    }
    writeFileSync(join(here.workspace, 'stop'), '')
    await swapping
    expect(ran).toBeGreaterThan(0)
    expect([readFileSync(tool, 'utf8'), readdirSync(here.outside).toSorted()]).toEqual(['mine', ['secret', 'tool']])
  })

  it('do not follow a link that was put in the place of their workspace', async () => {
    const here = place()
    expect(await here.run('echo here')).toMatchObject({ text: 'here\n' })
    renameSync(here.workspace, `${here.workspace}-2`)
    symlinkSync(here.outside, here.workspace)
    await expect(here.run('echo evil > tool')).rejects.toThrow(/workspace is another folder now/)
    expect(readdirSync(here.outside)).toEqual(['secret'])
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
