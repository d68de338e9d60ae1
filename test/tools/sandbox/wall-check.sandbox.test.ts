import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, realpathSync, renameSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Readable } from 'node:stream'
import { Worker } from 'node:worker_threads'
import { describe, expect, it, onTestFinished } from 'vitest'
import { identityInPlace, openedInPlace } from '../../../src/tools/sandbox/in-its-folder.ts'
import { misplaced } from '../../../src/tools/sandbox/wall-check.ts'
import { noSandboxHere, sandboxed } from '../../sandbox-here.ts'
import { ground } from './ground.ts'

const seen = ['--unshare-user', '--ro-bind', '/', '/', '--dev', '/dev', '--proc', '/proc']

/** The first process of a world that does nothing. */
async function world(walls: readonly string[], lent: readonly number[] = []): Promise<number> {
  const args = [...seen, ...walls, '--info-fd', '3', '--die-with-parent', '--', 'sh', '-c', 'echo; exec sleep 60']
  const child = spawn('bwrap', args, { stdio: ['ignore', 'pipe', 'inherit', 'pipe', ...lent] })
  onTestFinished(() => {
    child.kill('SIGKILL')
  })
  const [[told]] = await Promise.all([once(child.stdio[3] as Readable, 'data'), once(child.stdout as Readable, 'data')])
  return JSON.parse(`${String(told).replace(/,?\s*\}?\s*$/, '')}}`)['child-pid']
}

function place() {
  const base = realpathSync(mkdtempSync(join(tmpdir(), 'troupe-walls-')))
  onTestFinished(() => rmSync(base, { recursive: true, force: true }))
  const [root, outside] = [join(base, 'workspace'), join(base, 'outside')]
  mkdirSync(join(root, 'a/vault'), { recursive: true })
  mkdirSync(join(outside, 'vault'), { recursive: true })
  return { root, outside, vault: join(root, 'a/vault') }
}

const planned = (...paths: readonly string[]) => ({
  bound: new Map(paths.map((path) => [path, identityInPlace(path) ?? ''])),
  covered: [],
})

describe.skipIf(noSandboxHere)(sandboxed('the look at the walls'), () => {
  it('finds nothing where they stand as planned', async () => {
    const { root, vault } = place()
    const first = await world(['--bind', root, root, '--bind', vault, vault])
    expect(misplaced(first, planned(root, vault))).toBeUndefined()
  })

  it('finds what is bound somewhere else, or not at all', async () => {
    const { root, outside, vault } = place()
    const elsewhere = await world(['--bind', root, root, '--bind', join(outside, 'vault'), vault])
    expect(misplaced(elsewhere, planned(root, vault))).toBe(vault)
    const nowhere = await world(['--bind', root, root])
    expect(misplaced(nowhere, planned(root, vault))).toBe(vault)
    expect(misplaced(nowhere, { bound: new Map(), covered: [vault] })).toBe(vault)
  })

  it('finds another folder of the same name', async () => {
    const { root, vault } = place()
    const plan = planned(root, vault)
    renameSync(vault, `${vault}-2`)
    mkdirSync(vault)
    const first = await world(['--bind', root, root, '--bind', vault, vault])
    expect(misplaced(first, plan)).toBe(vault)
  })

  it('is not led astray by who exchanges folders meanwhile', async () => {
    const { root, outside, vault } = place()
    const plan = planned(root, vault)
    const first = await world(['--bind', root, root, '--bind', join(outside, 'vault'), vault])
    // To who looks from outside, the way leads to the real one for half of the time.
    const [folder, moved] = [join(root, 'a'), join(root, 'y')]
    symlinkSync(moved, join(root, 'link'))
    const swap = `
      const { renameSync } = require('node:fs')
      for (;;) {
        renameSync(${JSON.stringify(folder)}, ${JSON.stringify(moved)})
        renameSync(${JSON.stringify(join(root, 'link'))}, ${JSON.stringify(folder)})
        renameSync(${JSON.stringify(folder)}, ${JSON.stringify(join(root, 'link'))})
        renameSync(${JSON.stringify(moved)}, ${JSON.stringify(folder)})
      }`
    const swapping = new Worker(swap, { eval: true })
    onTestFinished(async () => {
      await swapping.terminate()
    })
    await once(swapping, 'online')
    const passed = Array.from({ length: 500 }, () => misplaced(first, plan)).filter((wrong) => wrong === undefined)
    expect(passed).toEqual([])
  })

  it('finds a folder that is still open inside', async () => {
    const { root } = place()
    const plan = planned(root)
    const first = await world(['--bind', root, root], [openedInPlace(root, plan.bound.get(root) ?? '')])
    expect(misplaced(first, plan)).toBe(root)
  })
})

describe.skipIf(noSandboxHere)(sandboxed('a folder that is opened to be bound'), () => {
  it('is the one that was meant, or none', () => {
    const { root, outside } = place()
    const identity = identityInPlace(root) ?? ''
    expect(() => openedInPlace(root, identityInPlace(outside) ?? '')).toThrow(/was replaced/)
    renameSync(root, `${root}-2`)
    symlinkSync(outside, root)
    expect(() => openedInPlace(root, identity)).toThrow()
  })

  it('is not open to commands', async () => {
    const here = ground()
    onTestFinished(() => here.remove())
    const { text } = await here.run('ls -l /proc/self/fd /proc/1/fd')
    expect(text).toContain(' 1 -> ')
    expect(text).not.toContain(here.workspace)
  })
})
