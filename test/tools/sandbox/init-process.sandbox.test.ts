import { spawn } from 'node:child_process'
import {
  chmodSync,
  closeSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { defaultSandboxPolicy } from '../../../src/contracts/index.ts'
import { processSandbox } from '../../../src/tools/sandbox/index.ts'
import { initScript } from '../../../src/tools/sandbox/init-process.ts'
import { type Entrance, processCgroup } from '../../../src/tools/sandbox/process-cgroup.ts'
import { startSandboxed } from '../../../src/tools/sandbox/sandboxed-command.ts'
import { noSandboxHere, sandboxed } from '../../sandbox-here.ts'
import { eventually, find, path, realClock } from './ground.ts'

// Between bubblewrap and the command: nothing of it runs before it is limited and ends with this process.

let base: string
let root: string
beforeEach(() => {
  base = mkdtempSync(join(tmpdir(), 'troupe-first-'))
  root = join(base, 'workspace')
  mkdirSync(root)
})
afterEach(() => rmSync(base, { recursive: true, force: true }))

describe.skipIf(process.platform === 'win32')('a command that does not get into its control group', () => {
  /** Instead of bubblewrap, a shell that becomes process 1. */
  async function run(entrance: Entrance) {
    const cgroup = entrance.kind === 'by itself' ? 4 : undefined
    const init = initScript({ processes: 64, gate: 3, cgroup, loaderVariables: {} })
    const command = ['/bin/sh', '-c', `echo ran > ${root}/trace`]
    const { listen, ended } = await startSandboxed({
      launch: {
        file: '/bin/sh',
        args: ['-c', init, 'sh', ...command],
        environment: { PATH: '/usr/bin:/bin' },
        inputs: [],
      },
      stdin: undefined,
      plan: { mounted: new Map(), covered: [] },
      clock: { ...realClock, after: () => () => {} },
      policy: defaultSandboxPolicy,
      cgroup: { entrance, isExceeded: () => false, release: () => {} },
      proxy: undefined,
      readOnly: [],
    })
    listen(() => {})
    return { ...(await ended), names: readdirSync(root) }
  }

  it('because it cannot be moved there never runs, and says why', async () => {
    const move = () => Promise.reject(new Error('EBUSY: the group has groups of its own'))
    await expect(run({ kind: 'moved', move })).rejects.toThrow(
      'it could not be moved into the control group that limits its processes: EBUSY: the group has groups of its own',
    )
    expect(readdirSync(root)).toEqual([])
  })

  it('because it cannot enter it never runs, and says why', async () => {
    const descriptor = openSync('/dev/null', 'r')
    try {
      await expect(run({ kind: 'by itself', descriptor })).rejects.toThrow('it could not enter the control group that limits its processes')
      expect(readdirSync(root)).toEqual([])
    } finally {
      closeSync(descriptor)
    }
  })

  it('runs when it gets in, either way', async () => {
    const descriptor = openSync('/dev/null', 'w')
    try {
      expect(await run({ kind: 'by itself', descriptor })).toMatchObject({ exitCode: 0, names: ['trace'] })
      rmSync(join(root, 'trace'))
      expect(await run({ kind: 'moved', move: async () => {} })).toMatchObject({ exitCode: 0, names: ['trace'] })
    } finally {
      closeSync(descriptor)
    }
  })
})

describe.skipIf(noSandboxHere)(sandboxed('process 1'), () => {
  it('starts nothing where this process was killed before the sandbox was built', async () => {
    const [bin, hold] = [join(base, 'bin'), join(base, 'hold')]
    mkdirSync(bin)
    // Waits until we are gone, once that is asked for.
    const wait = `if [ -e ${hold} ]; then echo > ${base}/waiting; while kill -0 $PPID 2>/dev/null; do sleep 0.01; done; fi`
    writeFileSync(
      join(bin, 'bwrap'),
      `#!/bin/sh\n${wait}\n${find('bwrap')} "$@"\ncode=$?\n[ -e ${hold} ] && echo > ${base}/over\nexit $code\n`,
    )
    chmodSync(join(bin, 'bwrap'), 0o755)
    const subject = join(import.meta.dirname, 'crash-subject.mjs')
    const start = (command: string) =>
      spawn(
        process.execPath,
        ['--no-warnings', subject, JSON.stringify({ root, path: `${bin}:${path}`, home: '/nowhere', command, hold })],
        {
          stdio: ['ignore', 'ignore', 'ignore'],
        },
      )
    const killed = start(`echo ran > ${root}/trace`)
    expect(await eventually(() => existsSync(join(base, 'waiting')))).toBe(true)
    killed.kill('SIGKILL')
    expect(await eventually(() => existsSync(join(base, 'over')))).toBe(true)
    expect(existsSync(join(root, 'trace'))).toBe(false)
  })

  it('sets variables of the program loader for the command alone, not for bubblewrap outside', async () => {
    const sandbox = processSandbox({ root, path, home: '/nowhere', clock: realClock })
    const started = await sandbox.start({
      argv: ['/bin/sh', '-c', 'echo "$LD_DEBUG_OUTPUT" > given'],
      cwd: root,
      // Each program whose loader sees these leaves a file that names it.
      environment: { PATH: path, LD_DEBUG: 'files', LD_DEBUG_OUTPUT: `${root}/it's` },
    })
    if (!started.ok) throw new Error(started.failure.message)
    started.running.listen(() => {})
    await started.running.ended
    expect(readFileSync(join(root, 'given'), 'utf8')).toBe(`${root}/it's\n`)
    const texts = readdirSync(root).map((name) => readFileSync(join(root, name), 'utf8'))
    expect(texts.filter((text) => text.includes('bwrap'))).toEqual([])
  })

  it('is in its control group with all descendants, and the kernel counts every one', async ({ skip }) => {
    const cgroup = process.getuid?.() === 0 ? processCgroup(1) : undefined
    cgroup?.release()
    if (!cgroup) skip('control groups are for root, where one can be made')
    // Nobody watches, so that nobody but the kernel says no.
    const sandbox = processSandbox({ root, path, home: '/nowhere', clock: { ...realClock, after: () => () => {} } })
    const count = "trap 'echo $n' EXIT; n=0; while :; do sleep 60 & n=$((n+1)); done"
    const started = await sandbox.start({
      argv: ['/bin/sh', '-c', count],
      cwd: root,
      environment: { PATH: path },
      policy: { ...defaultSandboxPolicy, processes: 12 },
    })
    if (!started.ok) throw new Error(started.failure.message)
    let text = ''
    started.running.listen((piece) => {
      text += Buffer.from(piece).toString()
    })
    await started.running.ended
    // Besides the first process and the shell that counts.
    expect(text).toMatch(/^10$/m)
  })
})
