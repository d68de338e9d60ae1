import { type ChildProcess, spawn } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { requestReload } from '../../src/kernel/supervisor/folder-lock.ts'
import { readSupervisorState } from '../../src/kernel/supervisor/supervisor-state.ts'
import { isAlive, until } from '../hooks/processes.ts'

const program = join(import.meta.dirname, 'fixtures', 'quick-supervisor.ts')
const folders: string[] = []
const started: ChildProcess[] = []
afterAll(() => {
  for (const child of started) child.kill('SIGKILL')
  for (const folder of folders) rmSync(folder, { recursive: true, force: true })
})

interface Supervised {
  readonly child: ChildProcess
  /** Resolves when the output contains this; with the whole output so far. */
  says(text: string | RegExp): Promise<string>
  readonly ended: Promise<string>
}

function scene(extensions: { readonly [id: string]: string } = {}) {
  const folder = mkdtempSync(join(tmpdir(), 'troupe-supervisor-'))
  folders.push(folder)
  const root = join(folder, 'extensions')
  const state = join(folder, 'state')
  const put = (id: string, code: string): void => {
    mkdirSync(join(root, id), { recursive: true })
    writeFileSync(join(root, id, 'main.mjs'), code)
  }
  mkdirSync(root)
  for (const [id, code] of Object.entries(extensions)) put(id, code)
  const start = (timings: object = {}, flags: readonly string[] = []): Supervised =>
    watch(spawn(process.execPath, [program, state, root, JSON.stringify(timings), ...flags], { stdio: ['ignore', 'pipe', 'inherit'] }))
  return { folder, state, put, start, quarantined: () => readSupervisorState(state).quarantined }
}

function watch(child: ChildProcess): Supervised {
  started.push(child)
  let output = ''
  let look = (): void => undefined
  child.stdout?.setEncoding('utf8').on('data', (text: string) => {
    output += text
    look()
  })
  const ended = new Promise<string>((resolve) => child.once('close', () => resolve(output)))
  const says = (text: string | RegExp): Promise<string> =>
    Promise.race([
      new Promise<string>((resolve) => {
        const before = look
        look = () => {
          before()
          if (typeof text === 'string' ? output.includes(text) : text.test(output)) resolve(output)
        }
        look()
      }),
      ended.then(() => Promise.reject(new Error(`The supervisor has ended without saying ${text}:\n${output}`))),
      new Promise<never>((_, reject) => {
        setTimeout(() => reject(new Error(`The supervisor does not say ${text}:\n${output}`)), 20_000).unref()
      }),
    ])
  return { child, says, ended }
}

/** Without the line of the supervisor, which comes before or after that of the kernel. */
const stop = async ({ child, ended }: Supervised): Promise<string> => {
  child.kill('SIGTERM')
  return (await ended).replace('asked to stop\n', '')
}
const pidIn = (output: string): number => Number(/ready (\d+)/.exec(output)?.[1])

describe.concurrent('the supervisor', () => {
  it('restarts on request, after a clean stop of the last kernel, and stops cleanly', async () => {
    const first = `import { existsSync, writeFileSync } from 'node:fs'
      export function start({ kernel, setup }) {
        if (existsSync(setup.folder + '/again')) return
        writeFileSync(setup.folder + '/again', '')
        return kernel.requestRestart('a new extension')
      }`
    const { start, quarantined, state } = scene({ a: first })
    const running = start()
    await running.says(/ready[\s\S]*Restarting: a new extension[\s\S]*stopping\n[\s\S]*ready/)
    expect(await stop(running)).toMatch(/stopping\nend \{"kind":"stopped"\}\n$/)
    expect(quarantined()).toEqual([])
    // A clean stop shows that the set is good.
    expect(Object.keys(readSupervisorState(state).lastGood)).toEqual(['a'])
  })

  it('ends when an extension asks for it', async () => {
    const output = await scene({ a: `export const start = ({ kernel }) => kernel.requestShutdown('done')` }).start().ended
    expect(output).toMatch(/stopping\nend \{"kind":"stopped"\}\n$/)
  })

  // Each of them takes the kernel down.
  const hostile: [name: string, code: string, stage: string, reason: RegExp][] = [
    [
      'throws in a stray timer',
      `export const start = () => void setTimeout(() => { throw new Error('stray') }, 5)`,
      'start',
      /nobody caught: stray/,
    ],
    ['throws a text in a stray timer', `export const start = () => void setTimeout(() => { throw 'words' }, 5)`, 'start', /words/],
    [
      'rejects a promise',
      `export const initialize = () => void Promise.reject(new Error('lost'))`,
      'initialize',
      /nobody handled it: lost/,
    ],
    ['exits', `export const initialize = () => process.exit(0)`, 'initialize', /process\.exit\(0\)/],
    ['exits with the code of a usage error', `process.exit(2)`, 'load', /process\.exit\(2\)/],
    ['exits later', `export const start = () => void setTimeout(() => process.exit(0), 5)`, 'start', /process\.exit\(0\)/],
    ['aborts', `export const start = () => process.abort()`, 'start', /process\.abort/],
    ['kills its process', `export const start = () => process.kill(process.pid, 'SIGKILL')`, 'start', /process\.kill/],
    [
      'is killed from outside',
      `import { execFileSync } from 'node:child_process'
       export const start = () => execFileSync('/bin/sh', ['-c', 'kill -9 ' + process.pid])`,
      'start',
      /SIGKILL/,
    ],
    ['blocks while it is loaded', `for (;;) {}`, 'load', /blocked the event loop/],
    ['blocks in a timer', `export const start = () => void setTimeout(() => { for (;;) {} }, 5)`, 'background', /blocked the event loop/],
    ['blocks in microtasks', `export const start = async () => { for (;;) await null }`, 'start', /blocked the event loop/],
    [
      'blocks in microtasks outside of its own code',
      `const forever = { then: (done) => done(forever) }
       export const start = () => Promise.resolve(forever)`,
      'start',
      /blocked the event loop/,
    ],
    [
      'blocks outside of JavaScript',
      `export const start = () => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0)`,
      'start',
      /blocked the event loop/,
    ],
  ]
  it.each(hostile)('quarantines an extension that %s', async (...[, code, stage, reason]) => {
    const { start, quarantined } = scene({ good: '', bad: code })
    const running = start()
    const output = await running.says('with good\n')
    expect(output).toMatch(/Restarting without bad\.\nnotice Extension bad was stopped because .*run `troupe extensions enable bad`/)
    expect(quarantined()).toMatchObject([{ id: 'bad', stage, reason: expect.stringMatching(reason) }])
    await stop(running)
  })

  it('leaves an extension alone that blocks for a shorter time', async () => {
    // Long enough for the watchdog to look at the stack.
    const slow = `export const start = ({ say }) => {
      for (const end = Date.now() + 900; Date.now() < end; );
      setTimeout(() => say('goes on'), 300)
    }`
    const { start, state, quarantined } = scene({ slow })
    const running = start()
    await running.says('goes on')
    expect(existsSync(join(state, 'blocked.json'))).toBe(false)
    expect(await stop(running)).toMatch(/stopping\nend/)
    expect(quarantined()).toEqual([])
  })

  it('quarantines an extension that uses up the memory', async () => {
    const eater = `export const start = () => { const all = []; for (;;) all.push(new Array(10_000).fill(1)) }`
    const { start, quarantined } = scene({ bad: eater, good: '' })
    const running = start({ blockedMs: 20_000 }, ['--max-old-space-size=40'])
    await running.says('with good\n')
    expect(quarantined()).toMatchObject([{ id: 'bad', stage: 'start', reason: expect.stringContaining('out of memory') }])
    await stop(running)
  })

  it('keeps new extensions when the process is killed from outside, and restarts', async () => {
    const { start, quarantined } = scene({ channel: '', tool: `export const start = () => new Promise(() => {})` })
    const running = start()
    process.kill(pidIn(await running.says('with channel tool\n')), 'SIGKILL')
    await running.says(/Restarting in 0.01 s\.[\s\S]*with channel tool\n/)
    expect(quarantined()).toEqual([])
    await stop(running)
  })

  /** Nothing shows which extension did this. */
  const sudden = `import { execFileSync } from 'node:child_process'
    import { existsSync } from 'node:fs'
    export const beforeReady = ({ setup }) =>
      existsSync(setup.folder + '/breaks') && execFileSync('/bin/sh', ['-c', 'kill -9 ' + process.pid])`

  it('finds the extension that breaks the start by adding back the changed ones one by one; a fixed one is tried again', async () => {
    const { start, put, state, quarantined } = scene({ old: '' })
    const first = start({ goodMs: 0 })
    await first.says('ready')
    await stop(first)
    writeFileSync(join(state, 'breaks'), '')
    for (const [id, code] of Object.entries({ a_new: '', changed: sudden, innocent: '' })) put(id, code)
    const second = start()
    const output = await second.says(/with a_new innocent old\n/)
    expect(output).toContain('Restarting without a_new, changed, innocent, to find the cause.')
    expect(output.match(/ready \d+ (with .*)/g)?.map((line) => line.split(' with ')[1])).toEqual(['old', 'a_new old', 'a_new innocent old'])
    expect(quarantined()).toMatchObject([{ id: 'changed', reason: expect.stringContaining('before it was ready'), stage: 'start' }])
    await stop(second)
    put('changed', 'export const fixed = true')
    const third = start()
    await third.says('with a_new changed innocent old\n')
    await stop(third)
  })

  it('repeats a start that somebody kills while it looks for the cause', async () => {
    const killedOnce = `import { existsSync, readFileSync, writeFileSync } from 'node:fs'
      import { execFileSync } from 'node:child_process'
      export const beforeReady = ({ setup: { folder } }) => {
        if (readFileSync(folder + '/loaded.json', 'utf8').includes('"broken"') || existsSync(folder + '/killed')) return
        writeFileSync(folder + '/killed', '')
        execFileSync('/bin/sh', ['-c', 'kill -9 ' + process.pid])
      }`
    const { start, state, quarantined } = scene({ an_innocent: killedOnce, broken: sudden })
    mkdirSync(state)
    writeFileSync(join(state, 'breaks'), '')
    const running = start()
    expect(await running.says('with an_innocent\n')).toContain('Repeating this start.')
    await running.says('It starts without broken.')
    await stop(running)
    expect(quarantined()).toMatchObject([{ id: 'broken' }])
  })

  it('blames nobody if the kernel breaks without the changed extensions, too', async () => {
    const { start, put, state, quarantined } = scene({ old: sudden })
    const first = start({ goodMs: 0 })
    await first.says('ready')
    await stop(first)
    writeFileSync(join(state, 'breaks'), '')
    put('a_new', '')
    const output = await start().ended
    expect(output).toContain('Restarting without a_new, to find the cause.')
    expect(output).toMatch(/end \{"kind":"gave_up","crashes":5,"last":"SIGKILL","changed":\["a_new"\]\}\n$/)
    expect(quarantined()).toEqual([])
  })

  it('refuses the restarts of an extension that requests one at each start', async () => {
    const eager = `export const start = ({ kernel, say }) => kernel.requestRestart('again').catch(({ message, remedy }) => say(message + ' ' + remedy))`
    const { start, quarantined } = scene({ eager })
    const running = start()
    const output = await running.says(/too often, and this request was refused. Ask again in 5 min, or run: troupe extensions reload/)
    expect(output.match(/Restarting: again/g)).toHaveLength(5)
    expect(quarantined()).toEqual([])
    await stop(running)
  })

  it('loads the extensions again when a person asks for it', async () => {
    const { start, put, state } = scene({ a: '' })
    expect(await requestReload(state)).toBeUndefined()
    const running = start()
    await running.says('with a\n')
    put('b', '')
    expect(await requestReload(state)).toBe(true)
    await running.says('with a b\n')
    await stop(running)
  })

  it('waits longer after each crash without a cause, and gives up', async () => {
    const broken = scene().start({}, ['--import', 'data:text/javascript,process.kill(process.pid)'])
    const output = await broken.ended
    expect(output.match(/Restarting in [\d.]+ s/g)).toEqual([0.01, 0.02, 0.03, 0.04].map((delay) => `Restarting in ${delay} s`))
    expect(output).toMatch(/end \{"kind":"gave_up","crashes":5,"last":"SIGTERM","changed":\[\]\}\n$/)
  })

  it('ends with the kernel if its configuration is wrong', async () => {
    const output = await scene().start({}, ['--import', 'data:text/javascript,process.exit(2)']).ended
    expect(output).toBe('end {"kind":"refused","code":2}\n')
  })

  it('works with a damaged state file', async () => {
    const { start, state, quarantined } = scene({ bad: 'process.exit(0)' })
    mkdirSync(state)
    writeFileSync(join(state, 'supervisor.json'), '{"quarantined": [{"id": 1}, null, "x"], "lastGood": [')
    const running = start()
    await running.says('with nothing\n')
    await stop(running)
    expect(quarantined()).toMatchObject([{ id: 'bad' }])
  })

  it('is alone in its folder', async () => {
    const { start } = scene()
    const first = start()
    const pid = pidIn(await first.says('ready'))
    expect(await start().ended).toBe('error Another `troupe up` runs in this folder.\n')
    expect(isAlive(pid)).toBe(true)
    // A lock whose owner was killed is free.
    first.child.kill('SIGKILL')
    await first.ended
    const third = start()
    await third.says('ready')
    await stop(third)
  })

  const child = `import { spawn } from 'node:child_process'
    export const start = ({ say }) => say('child ' + spawn('/bin/sleep', ['600']).pid)`
  const childIn = (output: string): number => Number(/child (\d+)/.exec(output)?.[1])

  /** Neither the supervisor nor a signal can stop it. */
  const deaf = `${child}\nsetTimeout(() => { console.log('blocks'); for (;;); }, 50)`

  it.each([
    ['kernel', child, 'child'],
    ['blocked kernel', deaf, 'blocks'],
  ])('leaves no %s and no child behind when it is killed', async (_, code, last) => {
    const running = scene({ a: code }).start({ blockedMs: 60_000 })
    const output = await running.says(last)
    running.child.kill('SIGKILL')
    await until(() => ![pidIn(output), childIn(output)].some(isAlive))
  })

  it('kills a kernel that does not stop in time, with its children; a second request does it immediately', async () => {
    const slow = scene({ a: deaf }).start({ blockedMs: 60_000, stopMs: 300 })
    const output = await slow.says('blocks')
    expect(await stop(slow)).toMatch(/end \{"kind":"stopped"\}\n$/)
    await until(() => ![pidIn(output), childIn(output)].some(isAlive))
    const forced = scene({ a: deaf }).start({ blockedMs: 60_000, stopMs: 60_000 })
    await forced.says('blocks')
    forced.child.kill('SIGTERM')
    await forced.says('asked to stop')
    forced.child.kill('SIGTERM')
    expect(await forced.ended).toMatch(/end \{"kind":"stopped"\}\n$/)
  })
})
