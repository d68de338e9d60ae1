import { existsSync, readdirSync, readFileSync, renameSync, symlinkSync, writeFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { noSandboxHere, sandboxed } from '../../sandbox-here.ts'
import { eventually, type Ground, ground } from './ground.ts'

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

describe.skipIf(noSandboxHere)(sandboxed('commands that run at the same time'), () => {
  it('cannot make each other write outside by replacing folders with links', async () => {
    const here = place()
    const tool = join(here.outside, 'tool')
    writeFileSync(tool, 'mine')
    writeFileSync(join(here.workspace, 'swap.mjs'), swap)
    const target = relative(here.workspace, here.outside)
    const swapping = here.run(`${process.execPath} swap.mjs ${target}`)
    expect(await eventually(() => existsSync(join(here.workspace, 'x')))).toBe(true)
    // A command whose sandbox is never as planned is refused.
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

  it('do not start where the workspace was replaced by a link', async () => {
    const here = place()
    expect(await here.run('echo here')).toMatchObject({ text: 'here\n' })
    renameSync(here.workspace, `${here.workspace}-2`)
    symlinkSync(here.outside, here.workspace)
    await expect(here.run('echo evil > tool')).rejects.toThrow(/workspace is another folder now/)
    expect(readdirSync(here.outside)).toEqual(['secret'])
  })
})
