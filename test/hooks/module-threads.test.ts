import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { afterAll, describe, expect, it } from 'vitest'
import type { Hook, TroupeError } from '../../src/contracts/index.ts'
import { systemClock } from '../../src/runtime/index.ts'
import { FakeClock, ScriptedModel } from '../../src/testing/index.ts'
import { type HookDefinition, type HookPlace, hookHashes, hooksFrom } from '../../src/tools/hooks/index.ts'
import { somePlace } from '../fixtures/session-place.ts'
import { runtimeWith, tool } from '../runtime/helpers.ts'
import { isAlive, pidsIn, until } from './processes.ts'

const folder = realpathSync(mkdtempSync(join(tmpdir(), 'troupe-hook-threads-')))
const at = (name: string): string => join(folder, name)
const made: Hook[] = []
afterAll(() => {
  for (const hook of made) void hook.close?.()
  rmSync(folder, { recursive: true, force: true })
})

let written = 0
function put(body: string, ending = 'mjs'): string {
  const name = `./module-${written++}.${ending}`
  writeFileSync(at(name), body)
  return name
}
const place: HookPlace = { baseDir: folder, environment: { GREETING: 'hello' }, clock: systemClock }

async function build(module: string, more: Partial<HookPlace> = {}): Promise<Hook> {
  const definition: HookDefinition = { name: 'guard', on: ['before_call'], module, onFailure: 'closed' }
  const [hook] = await hooksFrom([definition], { ...place, ...more })
  made.push(hook as Hook)
  return hook as Hook
}
const patient = new AbortController().signal
const ask = async (hook: Hook, wish: string, signal = patient): Promise<unknown> =>
  hook.beforeCall?.({ tool: 'shell', input: { wish } }, { ...somePlace, signal })

/** Does what it is asked to, and knows how often it was asked. */
const obliging = `
import { writeFileSync } from 'node:fs'
let count = 0
const display = {
  count: () => ({ kind: 'block', reason: String(count) }),
  loop: () => { writeFileSync(${JSON.stringify(at('begun'))}, ''); while (true) {} },
  exit: () => { console.error('first'); console.error('last'); process.exit(0) },
  throw: () => { setTimeout(() => { throw new Error('from a timer') }); return new Promise(() => {}) },
  reject: () => { Promise.reject(new Error('nobody handles it')); return { kind: 'continue' } },
  flood: () => { for (let i = 0; i < 10; i++) console.log('x'.repeat(10_000)); return new Promise(() => {}) },
  print: () => { console.log('fine'); process.stderr.write('fine', () => {}) },
  fail: () => { throw new TypeError('not now') },
  later: () => Promise.reject('not now'),
  function: () => () => {},
  nan: () => Number.NaN,
  circle: () => { const circle = {}; circle.circle = circle; return circle },
  nonsense: async () => { (await import('node:worker_threads')).parentPort.postMessage(null); return new Promise(() => {}) },
  environment: () => ({ kind: 'block', reason: Object.keys(process.env).sort().join() }),
}
export function beforeCall({ input }) { count++; return display[input.wish]() }
`

describe('a module', () => {
  it('remembers what it was asked, until it is ended', async () => {
    const hook = await build(put(obliging))
    expect([await ask(hook, 'count'), await ask(hook, 'count')]).toEqual([
      { kind: 'block', reason: '1' },
      { kind: 'block', reason: '2' },
    ])
    await hook.close?.()
    expect(await ask(hook, 'count')).toEqual({ kind: 'block', reason: '1' })
  })

  it('that ends, breaks off, floods or talks nonsense has failed, and is started anew for the next question', async () => {
    const hook = await build(put(obliging))
    const faults = {
      exit: 'it exited with code 0: last',
      throw: 'it crashed: from a timer',
      reject: 'it crashed: nobody handles it',
      flood: 'it printed more than 65536 bytes',
      nonsense: 'it sent an invalid message',
    }
    for (const [wish, message] of Object.entries(faults)) {
      await expect(ask(hook, wish)).rejects.toThrow(message)
      expect(await ask(hook, 'count')).toEqual({ kind: 'block', reason: '1' })
    }
  })

  it('that fails, or answers what is no JSON, has failed, and stays', async () => {
    const hook = await build(put(obliging))
    await expect(ask(hook, 'fail')).rejects.toThrow('not now')
    await expect(ask(hook, 'later')).rejects.toThrow('not now')
    await expect(ask(hook, 'function')).rejects.toThrow('it answered a function, expected an object')
    await expect(ask(hook, 'nan')).rejects.toThrow('it answered NaN, expected an object')
    await expect(ask(hook, 'circle')).rejects.toThrow('circular')
    expect(await ask(hook, 'print')).toBeUndefined()
    expect(await ask(hook, 'count')).toEqual({ kind: 'block', reason: '7' })
  })

  it('has the environment that is given, a mark and no other', async () => {
    expect(await ask(await build(put(obliging)), 'environment')).toEqual({ kind: 'block', reason: 'GREETING,TROUPE_HOOK' })
  })

  it('may be TypeScript, and import what lies beside it', async () => {
    writeFileSync(at('beside.ts'), `export const reason: string = 'from beside'`)
    const hook = await build(
      put(`import { reason } from './beside.ts'\nexport const beforeCall = (_: object): object => ({ kind: 'block', reason })`, 'ts'),
    )
    expect(await ask(hook, '')).toEqual({ kind: 'block', reason: 'from beside' })
  })

  it('is held against what was trusted before each start', async () => {
    const module = put(obliging)
    const hook = await build(module, { trusted: { hashes: hookHashes([{ module }], folder) } })
    writeFileSync(at(module), `export const beforeCall = () => ({ kind: 'continue' })`)
    expect(await ask(hook, 'count')).toEqual({ kind: 'block', reason: '1' })
    await expect(ask(hook, 'exit')).rejects.toThrow('it exited with code 0')
    await expect(ask(hook, 'count')).rejects.toThrow('is not run because it has changed since it was trusted')
    writeFileSync(at(module), obliging)
    expect(await ask(hook, 'count')).toEqual({ kind: 'block', reason: '1' })
  })

  it('that never loads is reported at the start', async () => {
    const clock = new FakeClock()
    const built = build(put(`while (true) {}\nexport const beforeCall = () => {}`), { clock }).catch((error: TroupeError) => error.message)
    await until(() => clock.pending === 1)
    await clock.elapse(30_000)
    expect(await built).toContain('cannot be loaded: it did not load within 30000 ms')
  })
})

describe('a module that is given up', () => {
  it('in a loop without end is ended by the loop at its time limit, and the call is blocked', async () => {
    const clock = new FakeClock()
    const hook = await build(put(obliging))
    const model = new ScriptedModel([{ calls: [{ tool: 'target', input: { wish: 'loop' } }] }, { text: 'Done.' }])
    const tools = [tool('target', { execute: () => expect.unreachable() })]
    const outcome = runtimeWith(model, { tools, hooks: [hook], clock }).run('Go.')
    await until(() => existsSync(at('begun')))
    await clock.elapse(60_000)
    expect(await outcome).toMatchObject({ status: 'completed' })
    expect(JSON.stringify(model.requests[1]?.messages)).toContain('did not answer within 60000 ms')
    expect(await ask(hook, 'count')).toEqual({ kind: 'block', reason: '1' })
  })

  const waiting = (name: string) => `
    import { writeFileSync } from 'node:fs'
    let isOpen
    const opened = new Promise((resolve) => { isOpen = resolve })
    export async function beforeCall({ input }, { signal }) {
      if (input.wish === 'heed') await new Promise((resolve) => {
        signal.addEventListener('abort', () => { writeFileSync(${JSON.stringify(at(name))}, ''); isOpen(); resolve() })
        writeFileSync(${JSON.stringify(at(`${name}-waits`))}, '')
      })
      if (input.wish === 'wait') await opened
      return { kind: 'block', reason: input.wish }
    }`

  it('is reported, answers its other questions, and takes no further one', async () => {
    const clock = new FakeClock()
    const hook = await build(put(waiting('told')), { clock })
    const controller = new AbortController()
    const heeding = ask(hook, 'heed', controller.signal)
    const other = ask(hook, 'wait')
    expect(await ask(hook, 'at once')).toEqual({ kind: 'block', reason: 'at once' })
    await until(() => existsSync(at('told-waits')))
    controller.abort()
    await expect(heeding).rejects.toThrow('it was cancelled')
    expect(await other).toEqual({ kind: 'block', reason: 'wait' })
    expect(existsSync(at('told'))).toBe(true)
    // In the thread that was told everybody may pass; in another one nobody has opened.
    const asked = new AbortController()
    const again = ask(hook, 'wait', asked.signal)
    expect(await ask(hook, 'at once')).toEqual({ kind: 'block', reason: 'at once' })
    asked.abort()
    await expect(again).rejects.toThrow('it was cancelled')
    await clock.elapse(500)
    expect(clock.pending).toBe(0)
  })

  it('is not asked at all where nobody waits', async () => {
    await expect(ask(await build(put(obliging)), 'count', AbortSignal.abort())).rejects.toThrow('it was cancelled')
  })
})

/** A process of its own that asks a module, and what it has printed by its end. */
async function processWith(module: string, rest: string): Promise<{ readonly printed: string; readonly code: unknown }> {
  const source = (path: string): string => JSON.stringify(join(import.meta.dirname, '../../src', path))
  const asker = put(`
    import { hooksFrom } from ${source('tools/hooks/index.ts')}
    import { systemClock } from ${source('runtime/index.ts')}
    const definition = { name: 'guard', on: ['before_call'], module: ${JSON.stringify(module)}, onFailure: 'closed' }
    const environment = { PATH: '/usr/bin:/bin' }
    const [hook] = await hooksFrom([definition], { baseDir: ${JSON.stringify(folder)}, environment, clock: systemClock })
    const ask = (signal) => hook.beforeCall({ tool: 'shell', input: {} }, { signal })
    ${rest}`)
  const asking = spawn(process.execPath, [at(asker)], { stdio: ['ignore', 'pipe', 'pipe'] })
  const ended = once(asking, 'exit')
  const [out, error] = await Promise.all([text(asking.stdout), text(asking.stderr)])
  return { printed: out + error, code: (await ended)[0] }
}

describe('a process with a module', () => {
  it('ends when it is done, and prints nothing of what the module does, also where that breaks off between questions', async () => {
    const broken = JSON.stringify(at('broken'))
    const module = put(`
      import { existsSync, writeFileSync } from 'node:fs'
      let count = 0
      setInterval(() => {}, 1e6)
      console.log('NOISE at the top')
      function breakOff() { writeFileSync(${broken}, ''); throw new Error('late') }
      export function beforeCall() {
        console.log('NOISE'); console.error('NOISE'); process.stdout.write('NOISE')
        if (!existsSync(${broken})) setTimeout(breakOff)
        return { kind: 'block', reason: String(++count) }
      }`)
    const rest = `
      import { existsSync } from 'node:fs'
      const { signal } = new AbortController()
      await ask(signal).catch(() => {})
      while (!existsSync(${broken})) await new Promise((resolve) => setTimeout(resolve, 5))
      const count = async () => (await ask(signal).catch(() => ({}))).reason
      while ((await count()) !== '1');
      console.log('done')`
    expect(await processWith(module, rest)).toEqual({ printed: 'done\n', code: 0 })
    expect(existsSync(at('broken'))).toBe(true)
  })

  it.runIf(existsSync('/proc/self/environ'))('does not wait for a program that the module waits for', async () => {
    const pids = at('pids')
    const module = put(`
      import { execFileSync } from 'node:child_process'
      export function beforeCall() { execFileSync('setsid', ['sh', '-c', 'echo $$ > ${pids}; sleep 100; true']) }`)
    const rest = `
      import { existsSync } from 'node:fs'
      void ask(new AbortController().signal).catch(() => {})
      while (!existsSync(${JSON.stringify(pids)})) await new Promise((resolve) => setTimeout(resolve, 5))
      process.exit(3)`
    expect(await processWith(module, rest)).toEqual({ printed: '', code: 3 })
    expect(readFileSync(pids, 'utf8')).toMatch(/\d/)
    await until(() => !pidsIn(pids).some(isAlive))
  })
})
