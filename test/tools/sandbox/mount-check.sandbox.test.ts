import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, realpathSync, renameSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Readable } from 'node:stream'
import { Worker } from 'node:worker_threads'
import { describe, expect, it, onTestFinished } from 'vitest'
import { identityAt } from '../../../src/tools/sandbox/file-identity.ts'
import { misplacedMount } from '../../../src/tools/sandbox/mount-check.ts'
import { noSandboxHere, sandboxed } from '../../sandbox-here.ts'

const seen = ['--unshare-user', '--ro-bind', '/', '/', '--dev', '/dev', '--proc', '/proc']

/** The pid of process 1 of a sandbox that does nothing. */
async function sandbox(mounts: readonly string[]): Promise<number> {
  const args = [...seen, ...mounts, '--info-fd', '3', '--die-with-parent', '--', 'sh', '-c', 'echo; exec sleep 60']
  const child = spawn('bwrap', args, { stdio: ['ignore', 'pipe', 'inherit', 'pipe'] })
  onTestFinished(() => {
    child.kill('SIGKILL')
  })
  const [[told]] = await Promise.all([once(child.stdio[3] as Readable, 'data'), once(child.stdout as Readable, 'data')])
  return JSON.parse(`${String(told).replace(/,?\s*\}?\s*$/, '')}}`)['child-pid']
}

function place() {
  const base = realpathSync(mkdtempSync(join(tmpdir(), 'troupe-mounts-')))
  onTestFinished(() => rmSync(base, { recursive: true, force: true }))
  const [root, outside] = [join(base, 'workspace'), join(base, 'outside')]
  mkdirSync(join(root, 'a/vault'), { recursive: true })
  mkdirSync(join(outside, 'vault'), { recursive: true })
  return { root, outside, vault: join(root, 'a/vault') }
}

const planned = (...paths: readonly string[]) => ({
  mounted: new Map(paths.map((path) => [path, identityAt(path) ?? ''])),
  covered: [],
})

describe.skipIf(noSandboxHere)(sandboxed('the check of mounts'), () => {
  it('finds nothing where they are as planned', async () => {
    const { root, vault } = place()
    const first = await sandbox(['--bind', root, root, '--bind', vault, vault])
    expect(misplacedMount(first, planned(root, vault))).toBeUndefined()
  })

  it('finds what is mounted elsewhere, or not at all', async () => {
    const { root, outside, vault } = place()
    const elsewhere = await sandbox(['--bind', root, root, '--bind', join(outside, 'vault'), vault])
    expect(misplacedMount(elsewhere, planned(root, vault))).toBe(vault)
    const nowhere = await sandbox(['--bind', root, root])
    expect(misplacedMount(nowhere, planned(root, vault))).toBe(vault)
    expect(misplacedMount(nowhere, { mounted: new Map(), covered: [vault] })).toBe(vault)
  })

  it('finds another folder of the same name', async () => {
    const { root, vault } = place()
    const plan = planned(root, vault)
    renameSync(vault, `${vault}-2`)
    mkdirSync(vault)
    const first = await sandbox(['--bind', root, root, '--bind', vault, vault])
    expect(misplacedMount(first, plan)).toBe(vault)
  })

  it('is not misled by a process that replaces folders meanwhile', async () => {
    const { root, outside, vault } = place()
    const plan = planned(root, vault)
    const first = await sandbox(['--bind', root, root, '--bind', join(outside, 'vault'), vault])
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
    const passed = Array.from({ length: 500 }, () => misplacedMount(first, plan)).filter((wrong) => wrong === undefined)
    expect(passed).toEqual([])
  })
})
