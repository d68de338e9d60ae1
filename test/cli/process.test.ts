import { spawnSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { copyFile, mkdir, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import manifest from '../../package.json' with { type: 'json' }
import type { Outcome } from '../../src/contracts/index.ts'
import { binary, type Start, workbench } from './troupe.ts'

const { agent, start, folder } = await workbench()
/** Everything here is about the process. */
const troupe = (args: readonly string[], options?: Start) => start(args, options).ended

describe.concurrent('an interrupt', () => {
  test('ends the run, keeps the outcome and exits 130 within two seconds', async () => {
    const run = start(['run', await agent('slow', 'steps: [{ text: never, delay: 1h }]'), 'Go', '--json'])
    await run.says('step 1')
    const asked = performance.now()
    run.process.kill('SIGINT')
    const ended = await run.ended
    expect(performance.now() - asked).toBeLessThan(20_000)
    expect(ended).toMatchObject({ code: 130, signal: null })
    expect(JSON.parse(ended.stdout)).toMatchObject({ status: 'interrupted', exitCode: 130 })
  })

  test('waits for no command that ignores it; prints the text so far and how to continue, and the next turn knows both', async () => {
    const command = 'echo $$ > deaf.pid; trap "" TERM INT; while :; do sleep 0.1; done'
    const steps = [{ text: 'Half of it.', calls: [{ tool: 'shell', input: { command } }] }, { text: 'The rest.' }]
    await writeFile(join(folder, 'off.json'), '{ "sandbox": { "mode": "off" } }')
    const settings = 'description: A test\nmodels: script/deaf.yaml\ntools: [shell]'
    const flags = ['--config', 'off.json', '--allow', 'shell']
    const run = start(['run', await agent('deaf', JSON.stringify({ steps }), settings), 'Go', ...flags])
    const pid = await vi.waitUntil(
      () => existsSync(join(folder, 'deaf.pid')) && Number(readFileSync(join(folder, 'deaf.pid'), 'utf8')),
      20_000,
    )
    const asked = performance.now()
    run.process.kill('SIGINT')
    const { stderr, ...ended } = await run.ended
    expect(ended).toEqual({ code: 130, signal: null, stdout: 'Half of it.\n' })
    expect(performance.now() - asked).toBeLessThan(20_000)
    expect(() => process.kill(pid, 0)).toThrow('ESRCH')
    const [, before = '', after = ''] = stderr.match(/Continue: troupe (run \S+) "…" (--resume .*)/) ?? []
    const next = JSON.parse((await troupe([...before.split(' '), 'Go on', ...after.trim().split(' '), '--json'])).stdout) as Outcome
    expect([next.status, next.report?.text]).toEqual(['completed', 'The rest.'])
    expect(JSON.stringify(next.snapshot.history)).toMatch(/Half of it\..*may have taken effect.*Go on/s)
  })
})

describe.concurrent('a clean stop', () => {
  /** The command that is printed, run as it is. */
  const resumed = async (name: string, stderr: string) => {
    const [, words = ''] = stderr.match(/troupe (run .* --resume \S+)/) ?? []
    await agent(name, 'steps: [{ text: Done. }]')
    return troupe(words.split(' '))
  }

  test.each([
    ['SIGTERM', 143],
    ['SIGHUP', 129],
  ] as const)('by %s leaves the run resumable and exits %i', async (signal, code) => {
    const run = start(['run', await agent(signal, 'steps: [{ text: never, delay: 1h }]'), 'Go'])
    await run.says('step 1')
    run.process.kill(signal)
    const { stderr, ...ended } = await run.ended
    expect(ended).toEqual({ code, signal: null, stdout: '' })
    expect(await resumed(signal, stderr)).toMatchObject({ code: 0, stdout: 'Done.\n' })
  })

  test('has its document', async () => {
    const run = start(['run', await agent('stopped', 'steps: [{ text: never, delay: 1h }]'), 'Go', '--json'])
    await run.says('step 1')
    run.process.kill('SIGTERM')
    const { stdout } = await run.ended
    expect(JSON.parse(stdout)).toMatchObject({ ok: false, status: 'suspended', reason: 'released', exitCode: 143 })
  })

  test('by a reader of standard output that leaves exits 141', async () => {
    const run = start(['run', await agent('unread', 'steps: [{ text: never, delay: 1h }]'), 'Go', '--stream-json'])
    run.process.stdout?.destroy()
    const { code, stderr } = await run.ended
    expect(code).toBe(141)
    expect(await resumed('unread', stderr)).toMatchObject({ code: 0 })
  })

  test('by a reader of standard error that leaves exits 141', async () => {
    const run = start(['run', await agent('unseen', 'steps: [{ text: never, delay: 1h }]'), 'Go'])
    run.process.stderr?.destroy()
    expect(await run.ended).toMatchObject({ code: 141, stdout: '' })
  })
})

describe('an interrupt before there is a run', () => {
  test.each([
    ['--json', { ok: false, error: { code: 'interrupted', message: expect.any(String) }, exitCode: 130 }],
    ['--stream-json', { type: 'run.failed', ok: false, error: { code: 'interrupted' }, exitCode: 130 }],
  ])('%s: has its document', async (...row) => {
    const [flag, document] = row
    const asked = Promise.withResolvers<void>()
    // `auto` looks whether a server is there, and this one never says.
    const server = createServer(() => asked.resolve())
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    onTestFinished(() => server.closeAllConnections())
    onTestFinished(() => void server.close())
    const file = await agent(`unstarted${flag}`, '', 'description: x\nmodels: auto')
    const { port } = server.address() as AddressInfo
    const run = start(['run', file, 'Go', flag], { env: { OLLAMA_HOST: `127.0.0.1:${port}` } })
    await asked.promise
    run.process.kill('SIGINT')
    const { code, signal, stdout, stderr } = await run.ended
    expect([code, signal]).toEqual([130, null])
    expect(JSON.parse(stdout)).toMatchObject(document)
    expect(stderr).toBe('error: The command was stopped before the run started.\n')
  })
})

describe.concurrent('a reader that leaves', () => {
  test('is no error', async () => {
    const file = await agent('long', `steps: [{ text: "${'word '.repeat(5000)}" }]`)
    const { stdout, stderr } = spawnSync('sh', ['-c', `"$0" "$1" run ${file} Go --stream-json -q | head -n 1`, process.execPath, binary], {
      cwd: folder,
      encoding: 'utf8',
      env: { PATH: process.env.PATH, XDG_STATE_HOME: join(folder, 'state') },
    })
    expect(JSON.parse(stdout)).toMatchObject({ seq: 1 })
    // The run may have ended before anybody notices; where it has not, how to continue is printed.
    expect(stderr).toMatch(/^$|^error: The run was stopped.*\n.*Continue it:\n.*--resume/)
  })
})

describe.concurrent('help and version', () => {
  test("the version is the package's", async () => {
    expect(await troupe(['--version'])).toEqual({ code: 0, signal: null, stdout: `${manifest.version}\n`, stderr: '' })
  })

  test('help is on stdout', async () => {
    expect(await troupe(['--help'])).toMatchObject({ code: 0, stdout: expect.stringMatching(/^Troupe: .*\n\nUsage\n/), stderr: '' })
    expect(await troupe(['help', 'run'])).toMatchObject({ code: 0, stdout: expect.stringContaining('--stream-json'), stderr: '' })
  })

  test('nothing at all is answered with the help, on standard error, and is no success', async () => {
    const help = await troupe(['--help'])
    expect(await troupe([])).toMatchObject({ code: 2, stdout: '', stderr: help.stdout })
  })

  test.each([['--version'], ['run', '--help'], ['rnu']])('%s loads nothing heavy', async (...args) => {
    const spy = `import { registerHooks } from 'node:module'
      registerHooks({ load(url, context, next) { process.stderr.write(url + '\\n'); return next(url, context) } })`
    const { stderr } = await troupe(args, { node: ['--import', `data:text/javascript,${encodeURIComponent(spy)}`] })
    const built = [...stderr.matchAll(/^file:.*\/dist\/.*\.js$/gm)].map(([url]) => readFileSync(new URL(url), 'utf8'))
    // The build says of each piece of code which file of the sources it is.
    const sources = built.flatMap((code) => [...code.matchAll(/^\/\/ (src\/\S+\.ts)$/gm)].map(([, name = '']) => name))
    expect(sources).toContain('src/cli/arguments/parse-arguments.ts')
    expect(sources.filter((name) => !/^src\/(?:cli|contracts|util|view)\//.test(name))).toEqual([])
    expect(stderr).not.toMatch(/node_modules|yaml|sqlite|ajv|zod|ai-sdk/)
  })

  test('a store in a folder loads nothing of other databases', async () => {
    const spy = `import { registerHooks } from 'node:module'
      registerHooks({ load(url, context, next) { process.stderr.write(url + '\\n'); return next(url, context) } })`
    await agent('stored', 'steps:\n  - text: hi\n')
    const { code, stderr } = await troupe(['run', 'stored.ai', 'hello'], {
      node: ['--import', `data:text/javascript,${encodeURIComponent(spy)}`],
    })
    expect([code, stderr.includes('stores/sqlite')]).toEqual([0, true])
    expect(stderr).not.toMatch(/node_modules\/pg|postgres/)
  })
})

test('the warning of Node 22 about node:sqlite is not printed, and every other warning is', async () => {
  const warns = `import { registerHooks } from 'node:module'
  registerHooks({
    resolve(specifier, context, next) {
      if (specifier === 'node:sqlite') {
        process.emitWarning('SQLite is an experimental feature and might change at any time', 'ExperimentalWarning')
        process.emitWarning('Something else is an experimental feature', 'ExperimentalWarning')
        process.emitWarning('SQLite is deprecated', { type: 'DeprecationWarning' })
      }
      return next(specifier, context)
    },
  })`
  const { stderr } = await troupe(['sessions', 'list'], { node: ['--import', `data:text/javascript,${encodeURIComponent(warns)}`] })
  expect(stderr).toContain('ExperimentalWarning: Something else')
  expect(stderr).toContain('DeprecationWarning: SQLite is deprecated')
  expect(stderr).not.toContain('SQLite is an experimental')
})

describe.concurrent('an old Node', () => {
  const pretend = [
    '--import',
    `data:text/javascript,${encodeURIComponent("Object.defineProperty(process.versions, 'node', { value: '20.9.0' })")}`,
  ]

  test('hands over to the one that the package brings along, exit code and all', async () => {
    expect(await troupe(['--version'], { node: pretend })).toEqual({ code: 0, signal: null, stdout: `${manifest.version}\n`, stderr: '' })
    expect(await troupe(['run'], { node: pretend })).toMatchObject({ code: 2, stderr: expect.stringContaining('FILE') })
  })

  test('passes signals on', async () => {
    const run = start(['run', await agent('handed', 'steps: [{ text: never, delay: 1h }]'), 'Go'], { node: pretend })
    await run.says('step 1')
    run.process.kill('SIGINT')
    expect(await run.ended).toMatchObject({ code: 130, signal: null })
  })

  test('says what to do if there is no other', async () => {
    await mkdir(join(folder, 'alone'))
    await copyFile(binary, join(folder, 'alone/troupe.mjs'))
    const ended = await troupe(['--version'], { node: pretend, binary: join(folder, 'alone/troupe.mjs') })
    expect(ended).toMatchObject({ code: 2, stdout: '', stderr: expect.stringMatching(/needs Node 22\.22 or newer; this is 20\.9\.0/) })
    expect(ended.stderr).toContain('npm install node@24')
  })
})
