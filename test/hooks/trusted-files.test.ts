import { spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { chmodSync, existsSync, mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { createServer, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { afterAll, describe, expect, it } from 'vitest'
import type { Hook } from '../../src/contracts/index.ts'
import { systemClock } from '../../src/runtime/index.ts'
import { HookThread } from '../../src/tools/hooks/hook-thread.ts'
import { type HookDefinition, hookFiles, hookHashes, hooksFrom, type TrustedFiles } from '../../src/tools/hooks/index.ts'
import { somePlace } from '../fixtures/session-place.ts'

const folder = realpathSync(mkdtempSync(join(tmpdir(), 'troupe-hook-files-')))
afterAll(() => rmSync(folder, { recursive: true, force: true }))
const heeded = { ...somePlace, signal: new AbortController().signal }
const view = { tool: 'shell', input: {} }
const hash = (text: string): string => createHash('sha256').update(text).digest('hex')

function put(name: string, text: string): string {
  writeFileSync(join(folder, name), text)
  chmodSync(join(folder, name), 0o755)
  return join(folder, name)
}

async function build(more: Partial<HookDefinition>, trusted: TrustedFiles): Promise<Hook> {
  const definition = { name: 'guard', on: ['before_call'], onFailure: 'closed', ...more } as HookDefinition
  const environment = { PATH: '/usr/bin:/bin' }
  const [hook] = await hooksFrom([definition], { baseDir: folder, environment, clock: systemClock, trusted })
  return hook ?? expect.unreachable()
}
const ask = async (hook: Hook): Promise<unknown> => hook.beforeCall?.(view, heeded)

describe('a hook whose files are trusted', () => {
  it('runs as long as its program is what was trusted, and fails with a remedy once it is not', async () => {
    const text = '#!/bin/sh\n'
    const program = put("$HOME's.sh", text)
    const hook = await build({ command: ["./$HOME's.sh"] }, { hashes: new Map([[program, hash(text)]]) })
    expect(await ask(hook)).toEqual({ kind: 'continue' })
    put("$HOME's.sh", `#!/bin/sh\ntouch ${folder}/ran\n`)
    await expect(ask(hook)).rejects.toThrow(
      `${program} is not run because it has changed since it was trusted. Review it, then run: troupe trust '${folder}/$HOME'\\''s.sh'`,
    )
    expect(existsSync(join(folder, 'ran'))).toBe(false)
    put("$HOME's.sh", text)
    expect(await ask(hook)).toEqual({ kind: 'continue' })
  })

  it('fails where one is larger than is read, whatever size it says it has', async () => {
    put('large.sh', '#'.repeat(4 * 1024 * 1024 + 1))
    await expect(ask(await build({ command: ['./large.sh'] }, { hashes: new Map() }))).rejects.toThrow('too large to trust')
    if (!existsSync('/proc/self/pagemap')) return
    symlinkSync('/proc/self/pagemap', join(folder, 'endless.sh'))
    await expect(ask(await build({ command: ['sh', './endless.sh'] }, { hashes: new Map() }))).rejects.toThrow('too large to trust')
    expect(hookHashes([{ command: ['./endless.sh'] }], folder)).toEqual(new Map())
  })

  it('fails where an argument, or a word in one, is a file that nobody has trusted', async () => {
    put('rules.json', '{}')
    for (const command of [
      ['sh', 'rules.json'],
      ['true', '--rules=./rules.json'],
      ['sh', '-c', 'true "rules.json"'],
    ])
      await expect(ask(await build({ command }, { hashes: new Map() }))).rejects.toThrow('it is not trusted')
    const late = await build({ command: ['true', 'late.sh'] }, { hashes: new Map() })
    expect(await ask(late)).toEqual({ kind: 'continue' })
    put('late.sh', '')
    await expect(ask(late)).rejects.toThrow('late.sh is not run because it is not trusted')
  })

  it('may write to what it names', async () => {
    const hook = await build({ command: ['sh', '-c', 'cat >> seen.txt; tee -a my.log < /dev/null'] }, { hashes: new Map() })
    expect(await ask(hook)).toEqual({ kind: 'continue' })
    expect(await ask(hook)).toEqual({ kind: 'continue' })
  })

  it('may write to what it is given, unless that can be executed', async () => {
    put('log.sh', '#!/bin/sh\necho x >> "$1"\n')
    for (const name of ['audit.log', 'audit.exe.log']) {
      put(name, 'x')
      if (name === 'audit.log') chmodSync(join(folder, name), 0o644)
    }
    const trusted = { hashes: hookHashes([{ command: ['./log.sh', 'audit.exe.log'] }], folder) }
    const log = await build({ command: ['./log.sh', 'audit.log'] }, trusted)
    expect([await ask(log), await ask(log)]).toEqual([{ kind: 'continue' }, { kind: 'continue' }])
    writeFileSync(join(folder, 'audit.exe.log'), 'y')
    await expect(ask(await build({ command: ['./log.sh', 'audit.exe.log'] }, trusted))).rejects.toThrow('has changed since')
  })

  describe('is bound to what is run behind a link, not to what only seems to be', () => {
    const evil = `#!/bin/sh\ntouch ${folder}/decoyed\n`
    it.each<[command: string[]]>([
      [['./deep/../decoy.sh']],
      [['sh', './deep/../decoy.sh']],
      [['sh', '-c', 'exec ./deep/.././decoy.sh']],
      ...(existsSync('/proc/self/cwd')
        ? ['/dev/fd/../cwd', '//proc/self/./cwd'].map((at): [string[]] => [['sh', `${at}/below/decoy.sh`]])
        : []),
      [['sh', '-c', 'nice ./below/decoy.out']],
      [['sh', '-c', 'sh < below/decoy.csv']],
    ])('%j', async (command) => {
      mkdirSync(join(folder, 'below/deep'), { recursive: true })
      if (!existsSync(join(folder, 'deep'))) symlinkSync('below/deep', join(folder, 'deep'))
      const run = ['below/decoy.sh', 'below/decoy.out', 'below/decoy.csv']
      for (const name of ['decoy.sh', ...run]) put(name, '#!/bin/sh\n')
      const hook = await build({ command }, { hashes: hookHashes([{ command }], folder) })
      expect(await ask(hook)).toEqual({ kind: 'continue' })
      for (const name of run) put(name, evil)
      await expect(ask(hook)).rejects.toThrow('has changed since it was trusted')
      expect(existsSync(join(folder, 'decoyed'))).toBe(false)
    })

    it('and for those that look at the text alone, to what that says', () => {
      for (const name of ['decoy.mjs', 'below/decoy.mjs']) put(name, '')
      expect(hookFiles([{ command: ['node', './deep/../decoy.mjs'] }], folder)).toEqual([
        join(folder, 'decoy.mjs'),
        join(folder, 'below/decoy.mjs'),
      ])
    })
  })

  it('is not loaded where it is a module that nobody has trusted', async () => {
    const module = put(
      'guard.mjs',
      `import { writeFileSync } from 'node:fs'\nwriteFileSync(${JSON.stringify(join(folder, 'loaded'))}, '')\n`,
    )
    const hook = await build({ module: './guard.mjs' }, { hashes: new Map() })
    await expect(ask(hook)).rejects.toThrow(`${module} is not run because it is not trusted`)
    expect(existsSync(join(folder, 'loaded'))).toBe(false)
  })

  it('does not answer by a program that was exchanged while it ran, also where the right one is back', async () => {
    const there = put('there.sh', '#!/bin/sh\nmv there.sh away.sh\nmv away.sh there.sh\n')
    const hook = await build({ command: ['./there.sh'] }, { hashes: hookHashes([{ command: ['./there.sh'] }], folder) })
    await expect(ask(hook)).rejects.toThrow(`${there} was changed or replaced while the hook ran, so its answer is ignored`)
    const gone = put('gone.sh', '#!/bin/sh\nrm gone.sh\n')
    const other = await build({ command: ['./gone.sh'] }, { hashes: hookHashes([{ command: ['./gone.sh'] }], folder) })
    await expect(ask(other)).rejects.toThrow(`${gone} was changed or replaced`)
  })

  it.each([
    ['mjs', 'export function beforeCall() { return { kind: "continue" } }'],
    ['cjs', 'exports.beforeCall = () => ({ kind: "continue" })'],
    ['ts', 'export function beforeCall(): object { return { kind: "continue" } }'],
  ])('runs of a module (%s) only the very text that was looked at, behind a link, too', async (ending, text) => {
    const file = put(`exact.${ending}`, text)
    symlinkSync(file, join(folder, `link.${ending}`))
    for (const name of [`exact.${ending}`, `link.${ending}`]) {
      const module = pathToFileURL(join(folder, name)).href
      const load = async (sha256: string) => {
        const thread = new HookThread({ module, sha256, names: ['beforeCall'], environment: {}, clock: systemClock })
        const fault = await thread.load(30_000)
        thread.end(new Error('it is done'))
        return fault
      }
      expect(await load(hash(text))).toBeUndefined()
      // As if it had been exchanged between the look and the start.
      expect(await load(hash('what was looked at'))).toEqual({
        kind: 'not_loaded',
        message: 'it was replaced while it was checked, so it is not run',
      })
    }
  })

  it('is only checked in relevant folders', async () => {
    const program = put('own.sh', '#!/bin/sh\n')
    const hashes = hookHashes([{ command: [program] }], folder)
    const [near, far] = [await build({ command: [program] }, { hashes, folders: [folder] }), { hashes: new Map(), folders: ['/elsewhere'] }]
    put('own.sh', '#!/bin/sh\ntrue\n')
    await expect(ask(near)).rejects.toThrow('has changed since')
    expect(await ask(await build({ command: [program] }, far))).toEqual({ kind: 'continue' })
  })

  it('is checked if a part of its path is in a relevant folder', async () => {
    const [open, kept] = [join(folder, 'open'), join(folder, 'kept')]
    for (const each of [open, kept]) mkdirSync(each)
    const program = put('kept/way.sh', '#!/bin/sh\n')
    symlinkSync(kept, join(open, 'on'))
    symlinkSync(join(open, 'on'), join(folder, 'begin'))
    const command = [join(folder, 'begin/way.sh')]
    const hook = await build({ command }, { hashes: hookHashes([{ command }], folder), folders: [open] })
    expect(await ask(hook)).toEqual({ kind: 'continue' })
    rmSync(join(open, 'on'))
    mkdirSync(join(folder, 'planted'))
    put('planted/way.sh', `#!/bin/sh\ntouch ${folder}/on-the-way\n`)
    symlinkSync(join(folder, 'planted'), join(open, 'on'))
    await expect(ask(hook)).rejects.toThrow('way.sh is not run because it has changed since it was trusted')
    expect(existsSync(join(folder, 'on-the-way'))).toBe(false)
    expect(await ask(await build({ command: [program] }, { hashes: new Map(), folders: [open] }))).toEqual({ kind: 'continue' })
  })

  it('names all that it is made of, of links what they lead to, too', () => {
    const real = put('real.sh', '')
    symlinkSync('real.sh', join(folder, 'link.sh'))
    const hooks = [{ command: ['./link.sh', 'absent', '/usr/bin/env', '.'] }, { module: 'real.sh' }]
    expect(hookFiles(hooks, folder)).toEqual([join(folder, 'link.sh'), real])
  })
})

it('a program does not outlive the process that asked it, however that ends', async () => {
  const server = createServer()
  const path = join(folder, 'alive')
  server.listen(path)
  const program = put('stay.mjs', `import { connect } from 'node:net'\nconnect(${JSON.stringify(path)})\nsetInterval(() => {}, 1e6)\n`)
  const asker = put(
    'asker.mjs',
    `import { runProgram } from ${JSON.stringify(join(import.meta.dirname, '../../src/tools/hooks/run-program.ts'))}
    import { systemClock } from ${JSON.stringify(join(import.meta.dirname, '../../src/runtime/index.ts'))}
    await runProgram({ command: ['/bin/sh', '-c', ${JSON.stringify(`"${process.execPath}" ${program}; true`)}], cwd: '/', environment: {}, clock: systemClock }, '')`,
  )
  const started = spawn(process.execPath, [asker], { stdio: 'ignore' })
  const [alive] = (await once(server, 'connection')) as [Socket]
  const gone = once(alive, 'close')
  alive.resume()
  started.kill('SIGKILL')
  await gone
  server.close()
})
