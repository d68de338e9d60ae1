import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it, onTestFinished } from 'vitest'
import { type Hook, type HookPoint, hookPoints, type JsonObject, type SessionPlace } from '../../src/contracts/index.ts'
import { memoryStore } from '../../src/stores/memory/index.ts'
import { FakeClock, ScriptedModel } from '../../src/testing/index.ts'
import { type HookDefinition, hooksFrom } from '../../src/tools/hooks/index.ts'
import { exportNames } from '../../src/tools/hooks/module-hook.ts'
import { schemaValidator } from '../../src/tools/index.ts'
import { documentOf, exampleModule, exampleProgram, kindsAt, points, session } from '../cli/reference-hooks.ts'
import { exampleInputs, toolsByName } from '../cli/reference-tools.ts'
import { runtimeWith, tool } from '../runtime/helpers.ts'
import { settle } from '../settle.ts'

// What docs/reference/hooks.md and tools.md say by example is tried.

const folder = mkdtempSync(join(tmpdir(), 'troupe-hook-reference-'))
afterAll(() => rmSync(folder, { recursive: true }))

const heeded = { ...(session as unknown as SessionPlace), signal: new AbortController().signal }
const ask = (hook: Hook, point: HookPoint): unknown =>
  (hook[exportNames[point] as 'beforeCall'] as ((view: object, context: object) => unknown) | undefined)?.(points[point].question, heeded)

async function built(more: Partial<HookDefinition>): Promise<Hook> {
  const definition = { name: 'guard', on: ['before_call'], onFailure: 'closed', ...more } as HookDefinition
  const [hook] = await hooksFrom([definition], { baseDir: folder, environment: { PATH: process.env.PATH ?? '' }, clock: new FakeClock() })
  // Modules have a thread.
  onTestFinished(() => (hook as { close?(): void } | undefined)?.close?.())
  return hook ?? expect.unreachable()
}

it('a program finds what the reference shows', async () => {
  const asked = join(folder, 'asked')
  const hook = await built({ on: hookPoints, command: ['/bin/sh', '-c', `cat >> ${asked}`] })
  for (const point of hookPoints) await ask(hook, point)
  expect(readFileSync(asked, 'utf8')).toBe(hookPoints.map((point) => `${documentOf(point)}\n`).join(''))
})

const values: { readonly [kind: string]: object } = {
  continue: {},
  change: { input: { q: 'b' }, reason: 'r' },
  block: { reason: 'r' },
  context: { text: 't' },
  resume: { reason: 'r' },
}

describe.each(hookPoints)('at %s', (point) => {
  const run = async (answer: object) => {
    const [store, clock] = [memoryStore(), new FakeClock()]
    const target = tool('target', { inputSchema: { type: 'object', properties: { q: { type: 'string' } } } })
    const model = new ScriptedModel([{ calls: [{ tool: 'target', input: { q: 'a' } }] }, ...Array(5).fill({ text: 'Done.' })])
    const hook: Hook = { name: 'guard', onFailure: 'open', [exportNames[point]]: () => answer }
    const outcome = await settle(runtimeWith(model, { tools: [target], hooks: [hook], store, clock }).run('Go.'), clock)
    const events = await store.journal.read(outcome.sessionId, 0)
    return events.flatMap((event) => (event.type === 'interaction.hook.completed' ? [event.verdict] : []))
  }

  it('may be answered what the reference says, and nothing else', async () => {
    for (const [kind, more] of Object.entries(values)) {
      const hasFailed = (await run({ kind, ...more })).includes('failed')
      expect([kind, hasFailed]).toEqual([kind, !(kindsAt(point) as readonly string[]).includes(kind)])
    }
  })
})

it('the programs that the reference shows do what they say', async () => {
  writeFileSync(join(folder, 'guard.mjs'), exampleProgram)
  writeFileSync(join(folder, 'module.mjs'), exampleModule)
  const hooks = [
    await built({ command: [process.execPath, './guard.mjs'] }),
    await built({ module: './module.mjs', on: ['before_call', 'at_stop'] }),
  ]
  for (const hook of hooks) {
    expect(await ask(hook, 'before_call')).toEqual({ kind: 'block', reason: 'A person publishes.' })
    const input: JsonObject = { command: 'npm test' }
    expect(await hook.beforeCall?.({ tool: 'shell', input }, heeded)).toEqual({
      kind: 'change',
      input: { command: 'npm test', timeout: 60 },
      reason: 'a minute is enough',
    })
  }
  expect(await ask(hooks[1] as Hook, 'at_stop')).toBeUndefined()
  expect(await hooks[1]?.atStop?.({ agent: 'a', text: 'It is probably so.', resumed: 0 }, heeded)).toMatchObject({ kind: 'resume' })
})

it.each(Object.entries(exampleInputs))('the example for %s fits its schema', async (name, input) => {
  const { inputSchema } = toolsByName.get(name) ?? expect.unreachable()
  const validate = await schemaValidator().compile(inputSchema)
  expect(validate(input)).toEqual({ ok: true, value: input })
})
