import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { defineTool, type Hook, type Model, type ProjectGrants, type RunOptions, type Sandbox, type Tool } from '../../src/index.ts'
import { approverOf, bounded, type Setup, settle, tool, world } from '../acceptance/support.ts'
import { settle as settled } from '../settle.ts'

// Code of users whose promise never settles: everything of theirs that the runtime awaits. A turn waits for it no longer than its
// time budget and the time of the code allow, and neither an interrupt nor the end of the runtime waits for it.

const never = () => new Promise<never>(() => {})
const unsettled = z.object({}).refine(never)
const asking = [{ calls: [{ tool: 't' }] }, { text: 'Done.' }]
const answering = [{ text: '{}' }, { text: '{}' }, { text: '{}' }, { text: '{}' }, { text: '{}' }]
const yes = (breadth: 'once' | 'project') => approverOf(() => ({ kind: 'approve', breadth, by: 'ann' }))
const silent = { id: 'm', abilities: [], stream: () => ({ [Symbol.asyncIterator]: () => ({ next: never }) }) } as unknown as Model
const confined = { confinement: { kind: 'sandbox', name: 'test' } } as unknown as Sandbox
const change: Hook = { name: 'change', onFailure: 'closed', beforeCall: () => ({ kind: 'change', input: {}, reason: 'r' }) }
/** Lets the first check of the arguments pass. */
function settlingOnce() {
  let checks = 0
  return z.object({}).refine(() => (checks++ === 0 ? true : never()))
}

interface Case extends Setup {
  readonly run?: RunOptions
}
const withTool = (shape: Partial<Tool>, more: Case = {}): Case => ({
  tools: [tool('t', shape)],
  steps: asking,
  approver: yes('once'),
  ...more,
})
const defined = (input: z.ZodObject, output = z.object({})): Tool =>
  defineTool({ name: 't', description: 'Does t.', input, output, execute: () => ({}) })
const grants = (port: Partial<ProjectGrants>): ProjectGrants => ({ list: () => [], add: async () => {}, ...port })
const wish = { approval: () => ({ summary: 'Call t', keys: [{ key: 'k', label: 'k' }] }) }
const hook = (point: Partial<Hook>): Case => withTool({}, { hooks: [{ name: 'h', onFailure: 'closed', ...point }] })

const cases: readonly (readonly [string, () => Case])[] = [
  ['the check of the arguments of a call', () => ({ tools: [defined(unsettled)], steps: asking })],
  ['the check of arguments that a hook has changed', () => ({ tools: [defined(settlingOnce())], steps: asking, hooks: [change] })],
  ['the check of an answer', () => ({ steps: answering, run: { output: unsettled } })],
  ['the check that makes the value of an answer', () => ({ steps: answering, run: { output: settlingOnce() } })],
  ['approval()', () => withTool({ approval: never })],
  ['view()', () => withTool({ view: never })],
  ['concurrency.key()', () => withTool({ concurrency: { key: never } })],
  ['unavailable()', () => withTool({ ...wish, unavailable: never }, { sandbox: confined })],
  ['execute()', () => withTool({ execute: never })],
  ['the check of a result', () => ({ tools: [defined(z.object({}), unsettled)], steps: asking })],
  ['beforeCall of a hook', () => hook({ beforeCall: never })],
  ['afterCall of a hook', () => hook({ afterCall: never })],
  ['beforeRequest of a hook', () => hook({ beforeRequest: never })],
  ['atStop of a hook', () => hook({ atStop: never })],
  ['the list of grants', () => withTool(wish, { grants: grants({ list: never }) })],
  ['the storage of a grant', () => withTool(wish, { grants: grants({ add: never }), approver: yes('project') })],
  ['an approver', () => withTool(wish, { approver: { decide: never } })],
  ['the stream of a model', () => ({ adapter: silent })],
  ['the adapter of models', () => ({ adapter: { resolve: never } })],
  ['the list of a source', () => ({ tools: [{ list: never }], steps: asking })],
  ['the close of a source', () => ({ tools: [{ list: async () => [], close: never }], steps: answering })],
  ['the budget of an owner', () => ({ budgetOf: never, steps: answering, run: { principal: { id: 'ann', kind: 'person' } } })],
]
/** Work of a person: no time of the turn passes. */
const waitsForPerson = new Set(['an approver'])

describe.each(cases)('%s never settles', (name, made) => {
  it.skipIf(waitsForPerson.has(name))('the run ends without help, and within minutes', async () => {
    const { run, ...setup } = made()
    const { runtime, clock } = world(setup)
    const began = clock.monotonic()
    await settled(runtime.run('go', run), clock, 1_000)
    expect(clock.monotonic() - began).toBeLessThanOrEqual(6 * 60_000)
  })

  it('an interrupt ends the run', async () => {
    const { run, ...setup } = made()
    const { runtime, clock } = world(setup)
    const handle = runtime.stream('go', run)
    const ended = handle.outcome
    await settle(20)
    const began = clock.monotonic()
    await bounded(handle.interrupt(), 'interrupt()')
    const outcome = await settled(ended, clock, 100)
    expect(clock.monotonic() - began).toBeLessThanOrEqual(2_000)
    expect(['interrupted', 'completed']).toContain(outcome.status)
  })

  it('close() ends', async () => {
    const { run, ...setup } = made()
    const { runtime, clock } = world(setup)
    const ended = runtime.stream('go', run).outcome
    await settle(20)
    const began = clock.monotonic()
    await settled(runtime.close(), clock, 100)
    await bounded(ended)
    expect(clock.monotonic() - began).toBeLessThanOrEqual(6_000)
  })
})
