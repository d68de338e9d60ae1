import { spawn } from 'node:child_process'
import { chmodSync, closeSync, existsSync, mkdirSync, mkdtempSync, openSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { defaultSandboxPolicy } from '../../../src/contracts/index.ts'
import { firstProcess } from '../../../src/tools/sandbox/first-process.ts'
import { processSandbox } from '../../../src/tools/sandbox/index.ts'
import { type Entrance, processCap } from '../../../src/tools/sandbox/process-cap.ts'
import { startWalled } from '../../../src/tools/sandbox/walled-command.ts'
import { noSandboxHere, sandboxed } from '../../sandbox-here.ts'
import { eventually, find, path, realClock } from './ground.ts'

// Between the walls and the command: nothing of it runs before it is bounded, and bound to our life.

let base: string
let root: string
beforeEach(() => {
  base = mkdtempSync(join(tmpdir(), 'troupe-first-'))
  root = join(base, 'workspace')
  mkdirSync(root)
})
afterEach(() => rmSync(base, { recursive: true, force: true }))

describe.skipIf(process.platform === 'win32')('a command that does not get into its control group', () => {
  /** Walls that are none: whoever is started tells its number, and is the first process. */
  async function run(entrance: Entrance) {
    const group = entrance.kind === 'own step' ? 5 : undefined
    const first = firstProcess({ processes: 64, gate: 3, group })
    const command = ['/bin/sh', '-c', `echo ran > ${root}/trace`]
    const { listen, ended } = await startWalled({
      launch: {
        file: '/bin/sh',
        args: ['-c', `printf '{"child-pid": %s}' $$ >&4; exec 4>&-; exec "$@"`, 'sh', '/bin/sh', '-c', first, 'sh', ...command],
        environment: { PATH: '/usr/bin:/bin' },
        inputs: [],
        lent: [],
      },
      stdin: undefined,
      plan: { bound: new Map(), covered: [] },
      clock: { ...realClock, after: () => () => {} },
      policy: defaultSandboxPolicy,
      cap: { entrance, isBroken: () => false, release: () => {} },
      afterwards: async () => ({ refusedHosts: [], undone: [] }),
    })
    listen(() => {})
    return { ...(await ended), names: readdirSync(root) }
  }

  it('because it may not be moved there never runs, and says why', async () => {
    const take = () => Promise.reject(new Error('EBUSY: the group has groups of its own'))
    expect(await run({ kind: 'taken in', take })).toMatchObject({
      startFault: 'it could not be taken into the control group that bounds its processes: EBUSY: the group has groups of its own',
      names: [],
    })
  })

  it('because it may not step there never runs, and says why', async () => {
    const descriptor = openSync('/dev/null', 'r')
    try {
      expect(await run({ kind: 'own step', descriptor })).toMatchObject({
        exitCode: 125,
        startFault: expect.stringContaining('it could not step into the control group that bounds its processes'),
        names: [],
      })
    } finally {
      closeSync(descriptor)
    }
  })

  it('would have run: both ways lead there', async () => {
    const descriptor = openSync('/dev/null', 'w')
    try {
      expect(await run({ kind: 'own step', descriptor })).toMatchObject({ exitCode: 0, names: ['trace'] })
      rmSync(join(root, 'trace'))
      expect(await run({ kind: 'taken in', take: async () => {} })).toMatchObject({ exitCode: 0, names: ['trace'] })
    } finally {
      closeSync(descriptor)
    }
  })
})

describe.skipIf(noSandboxHere)(sandboxed('the first process'), () => {
  it('starts nothing where we were killed before the walls stood', async () => {
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

  it('is in its control group with all that comes from it, and the kernel counts to the last one', async ({ skip }) => {
    const cap = process.getuid?.() === 0 ? processCap(1) : undefined
    cap?.release()
    if (!cap) skip('control groups are for root, where one can be made')
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
