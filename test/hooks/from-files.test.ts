import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import type { CallView, Hook, OutputView, TroupeError } from '../../src/contracts/index.ts'
import { systemClock } from '../../src/runtime/index.ts'
import { FakeClock, ScriptedModel } from '../../src/testing/index.ts'
import { type HookDefinition, hooksFrom } from '../../src/tools/hooks/index.ts'
import { somePlace } from '../fixtures/session-place.ts'
import { runtimeWith, tool } from '../runtime/helpers.ts'
import { isAlive, pidsIn, until } from './processes.ts'

const folder = mkdtempSync(join(tmpdir(), 'troupe-hooks-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))
const environment = { PATH: '/usr/local/bin:/usr/bin:/bin', GREETING: 'hello' }

let written = 0
function script(body: string): string {
  const file = join(folder, `hook-${written++}.sh`)
  writeFileSync(file, `#!/bin/sh\n${body}\n`)
  chmodSync(file, 0o755)
  return file
}
function module(body: string): string {
  const name = `./module-${written++}.mjs`
  writeFileSync(join(folder, name), body)
  return name
}
const place = { baseDir: folder, environment, clock: systemClock }
const define = (more: Partial<HookDefinition>): HookDefinition =>
  ({ name: 'guard', on: ['before_call'], onFailure: 'closed', ...more }) as HookDefinition
const build = async (more: Partial<HookDefinition>): Promise<Hook> => (await hooksFrom([define(more)], place))[0] ?? expect.unreachable()

type Heeding<V> = (view: V, context?: object) => Promise<unknown>
const view: CallView = { tool: 'shell', input: { command: 'ls' } }
const heeded = { ...somePlace, signal: new AbortController().signal }
const ask = async (body: string): Promise<unknown> => (await build({ command: [script(body)] })).beforeCall?.(view, heeded)

describe('a hook that is a program', () => {
  it('finds one JSON document on its standard input, for each point', async () => {
    const out = join(folder, 'asked.jsonl')
    const hook = await build({ on: ['before_call', 'after_call', 'before_request', 'at_stop'], command: [script(`cat >> ${out}`)] })
    const bad: OutputView = { ok: false, error: { class: 'failed', message: 'broke' }, partial: 'half' }
    expect(await hook.beforeCall?.(view, heeded)).toEqual({ kind: 'continue' })
    const more: OutputView & { readonly value: object } = { ok: true, content: 'files', value: { secret: 'not told' } }
    await hook.afterCall?.({ ...view, output: more }, heeded)
    await hook.afterCall?.({ ...view, output: bad }, heeded)
    await hook.afterCall?.({ ...view, output: { ok: true, content: 'x'.repeat(300_000) } }, heeded)
    const cut = { ok: true, content: 'x', cut: true } as const
    await hook.afterCall?.({ ...view, output: cut }, heeded)
    await hook.beforeRequest?.({ agent: 'clerk', model: 'a/b', size: 12, step: 1 }, heeded)
    await hook.atStop?.({ agent: 'clerk', text: 'Done.', resumed: 1 }, heeded)
    const asked = readFileSync(out, 'utf8')
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line))
    const { principal: _, ...session } = somePlace
    const base = { version: 1, hook: 'guard', session }
    expect(asked).toEqual([
      { ...base, on: 'before_call', ...view },
      { ...base, on: 'after_call', ...view, output: { ok: true, content: 'files' } },
      { ...base, on: 'after_call', ...view, output: bad },
      { ...base, on: 'after_call', ...view, output: { ok: true, content: 'x'.repeat(262_144), cut: true } },
      { ...base, on: 'after_call', ...view, output: cut },
      { ...base, on: 'before_request', agent: 'clerk', model: 'a/b', size: 12, step: 1 },
      { ...base, on: 'at_stop', agent: 'clerk', text: 'Done.', resumed: 1 },
    ])
  })

  it('answers by what it prints, or by nothing', async () => {
    expect(await ask('exit 0')).toEqual({ kind: 'continue' })
    expect(await ask(`echo '{"kind":"block","reason":"No."}'`)).toEqual({ kind: 'block', reason: 'No.' })
    expect(await ask(`printf '\\n{"kind":"change",\\n"input":{"command":"pwd"},"reason":"r"}\\n'`)).toMatchObject({ kind: 'change' })
  })

  it('says no by its code, and why on standard error', async () => {
    expect(await ask('echo "Not on a Sunday." >&2; exit 2')).toEqual({ kind: 'block', reason: 'Not on a Sunday.' })
    expect(await ask('exit 2')).toEqual({ kind: 'block', reason: 'no reason was given' })
    const hook = await build({ on: ['after_call', 'before_request', 'at_stop'], command: [script('echo Tests fail. >&2; exit 2')] })
    expect(await hook.afterCall?.({ ...view, output: { ok: true, content: '' } }, heeded)).toEqual({ kind: 'context', text: 'Tests fail.' })
    expect(await hook.atStop?.({ agent: 'a', text: '', resumed: 0 }, heeded)).toEqual({ kind: 'resume', reason: 'Tests fail.' })
    await expect(hook.beforeRequest?.({ agent: 'a', model: 'm', size: 1, step: 1 }, heeded)).rejects.toThrow(
      'it refused the request: Tests fail.',
    )
  })

  it.each([
    ['another code', 'echo first >&2; echo last >&2; exit 7', /it exited with code 7: last/],
    ['a signal', 'kill -9 $$', /it exited with SIGKILL/],
    ['words', 'echo fine', /it printed "fine", expected one JSON object/],
    ['a list', 'echo "[]"', /expected one JSON object/],
    ['two documents', `echo '{"kind":"continue"}'; echo '{}'`, /expected one JSON object/],
    ['too much', 'yes | head -c 10000000; exit 0', /it printed more than 65536 bytes/],
    ['too many complaints', 'yes >&2', /it printed more than 65536 bytes/],
  ])('fails with %s', async (_, body, message) => {
    await expect(ask(body)).rejects.toThrow(message)
  })

  it('runs in the folder of its definition, with the environment that is given, a mark and no other', async () => {
    const shown = join(folder, 'environment.txt')
    await ask(`pwd > ${shown}; env >> ${shown}`)
    const [cwd, ...variables] = readFileSync(shown, 'utf8').trim().split('\n')
    expect(cwd).toBe(folder)
    const names = variables.map((line) => line.split('=')[0]).filter((name) => !['PWD', 'SHLVL', '_', 'OLDPWD'].includes(name ?? ''))
    expect(names.toSorted()).toEqual(['GREETING', 'PATH', 'TROUPE_HOOK'])
  })

  it('gets no shell: its arguments are its arguments', async () => {
    const hook = await build({ command: ['printf', '%s', '{"kind":"block","reason":"$HOME;`id`"}'] })
    expect(await hook.beforeCall?.(view, heeded)).toEqual({ kind: 'block', reason: '$HOME;`id`' })
  })

  it('need not read what it is asked, and may close what it does not need', async () => {
    const big = { tool: 'shell', input: { command: 'x'.repeat(500_000) } }
    const hook = await build({ command: [script('exec <&-; exit 0')] })
    expect(await hook.beforeCall?.(big, heeded)).toEqual({ kind: 'continue' })
  })
})

describe('a program that does not end', () => {
  it.each([
    ['and its children', 'sleep 100 & echo $! >> PIDS; echo $$ >> PIDS; wait', 2],
    ['that heeds no request to', `trap '' TERM; echo $$ >> PIDS; while :; do sleep 0.05; done`, 1],
  ])('%s is killed with its group when nobody waits any more', async (_, body, count) => {
    const pids = join(folder, `pids-${written++}`)
    const hook = await build({ command: [script(body.replaceAll('PIDS', pids))] })
    const controller = new AbortController()
    const asked = (hook.beforeCall as Heeding<CallView>)(view, { ...somePlace, signal: controller.signal })
    await until(() => pidsIn(pids).length === count)
    controller.abort()
    await expect(asked).rejects.toThrow(/it exited with SIG/)
    await until(() => !pidsIn(pids).some(isAlive))
  })

  it('leaves nothing behind that it has started, also where it ends well', async () => {
    const pids = join(folder, `pids-${written++}`)
    expect(await ask(`sleep 100 & echo $! > ${pids}; exit 0`)).toEqual({ kind: 'continue' })
    await until(() => !pidsIn(pids).some(isAlive))
  })

  it('is not waited for by way of what has left its group and holds on to its output', async () => {
    const pids = join(folder, `pids-${written++}`)
    const escapes = `setsid sh -c 'echo $$ > ${pids}; exec sleep 100' & while [ ! -s ${pids} ]; do :; done; exit 0`
    expect(await ask(escapes)).toEqual({ kind: 'continue' })
    const [pid = 0] = pidsIn(pids)
    expect(isAlive(pid)).toBe(true)
    process.kill(pid, 'SIGKILL')
  })

  it.runIf(existsSync('/proc/self/environ')).each([
    ['waits for', `setsid sh -c 'echo $$ > PIDS; exec sleep 100'`],
    ['has forgotten', `(setsid sh -c 'echo $$ > PIDS; exec sleep 100' &); sleep 100`],
  ])('is ended with what it %s in a session of its own when nobody waits any more', async (_, body) => {
    const pids = join(folder, `pids-${written++}`)
    const hook = await build({ command: [script(body.replaceAll('PIDS', pids))] })
    const controller = new AbortController()
    const asked = (hook.beforeCall as Heeding<CallView>)(view, { ...somePlace, signal: controller.signal })
    await until(() => pidsIn(pids).length === 1)
    controller.abort()
    await expect(asked).rejects.toThrow(/it exited with SIG/)
    await until(() => !pidsIn(pids).some(isAlive))
  })

  it('is not started at all where nobody waits', async () => {
    const hook = await build({ command: [script(`touch ${join(folder, 'started')}`)] })
    await expect((hook.beforeCall as Heeding<CallView>)(view, { ...somePlace, signal: AbortSignal.abort() })).rejects.toThrow(
      'it was cancelled',
    )
    expect(existsSync(join(folder, 'started'))).toBe(false)
  })

  it('is ended by the loop at its time limit, and the call is blocked', async () => {
    const pids = join(folder, `pids-${written++}`)
    const hook = await build({ command: [script(`echo $$ > ${pids}; exec sleep 100`)], timeout: '30s' })
    expect(hook.timeoutMs).toBe(30_000)
    const clock = new FakeClock()
    const model = new ScriptedModel([{ calls: [{ tool: 'target' }] }, { text: 'Done.' }])
    const outcome = runtimeWith(model, { tools: [tool('target', { execute: () => expect.unreachable() })], hooks: [hook], clock }).run(
      'Go.',
    )
    await until(() => pidsIn(pids).length === 1)
    await clock.elapse(30_000)
    expect(await outcome).toMatchObject({ status: 'completed' })
    expect(JSON.stringify(model.requests[1]?.messages)).toContain('did not answer within 30000 ms')
    await until(() => !pidsIn(pids).some(isAlive))
  })
})

it.each([
  ['30s', 30_000],
  [1_500, 1_500],
  [undefined, undefined],
])('a hook with the timeout %j has %j ms', async (timeout, timeoutMs) => {
  const hook = await build({ command: ['true'], ...(timeout !== undefined && { timeout }) })
  expect(hook.timeoutMs).toBe(timeoutMs)
})

describe('a hook that is a module', () => {
  it('answers by its exports', async () => {
    const hook = await build({
      on: ['before_call', 'at_stop'],
      module: module(`export const beforeCall = ({ tool }) => ({ kind: 'block', reason: tool })
        export async function atStop({ text }, { signal, agentPath }) { return { kind: 'resume', reason: text + signal.aborted + agentPath } }`),
    })
    expect(await hook.beforeCall?.(view, heeded)).toEqual({ kind: 'block', reason: 'shell' })
    expect(await hook.atStop?.({ agent: 'a', text: 'Done.', resumed: 0 }, heeded)).toEqual({ kind: 'resume', reason: 'Done.falseroot' })
    expect(Object.keys(hook).toSorted()).toEqual(['atStop', 'beforeCall', 'close', 'name', 'onFailure'])
  })
})

describe('problems are reported at the start', () => {
  const problemsOf = async (definitions: readonly HookDefinition[]) =>
    hooksFrom(definitions, { ...place, place: '.ai-agent.json: hooks' }).then(
      () => expect.unreachable(),
      (error: TroupeError) => ({ code: error.code, problems: error.problems }),
    )

  it('all together, with place and remedy', async () => {
    const { code, problems } = await problemsOf([
      define({ name: 'a', module: './not-there.mjs' }),
      define({ name: 'b', module: module('export const beforeCall = (') }),
      define({ name: 'c', module: module('throw new Error("at the top")') }),
      define({ name: 'd', module: module('export const beforecall = () => {}') }),
      define({ name: 'e', command: ['no-such-program'] }),
      define({ name: 'f', command: ['./not-there.sh'] }),
      define({ name: 'g', command: ['true'] }),
    ])
    expect(code).toBe('config_invalid')
    expect(problems.map((problem) => [problem.place.slice('.ai-agent.json: '.length), problem.message])).toEqual([
      ['hooks[0].module', expect.stringMatching(/not-there\.mjs cannot be loaded: Cannot find module '[^']*not-there\.mjs'$/)],
      ['hooks[1].module', expect.stringContaining('cannot be loaded')],
      ['hooks[2].module', expect.stringContaining('at the top')],
      ['hooks[3].module', expect.stringContaining('exports no function beforeCall')],
      ['hooks[4].command', 'program "no-such-program" not found'],
      ['hooks[5].command', 'program "./not-there.sh" not found'],
    ])
    for (const { remedy } of problems) expect(remedy).toMatch(/\w/)
  })

  it('definitions come first: nothing is loaded where one is wrong', async () => {
    const { problems } = await problemsOf([
      define({ module: module(`import('node:fs').then((fs) => fs.writeFileSync('${join(folder, 'loaded')}', ''))`) }),
      define({ name: '' }),
    ])
    expect(problems.length).toBeGreaterThan(0)
    expect(existsSync(join(folder, 'loaded'))).toBe(false)
  })
})
