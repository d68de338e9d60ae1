import { describe, expect, it } from 'vitest'
import type { Tool } from '../../src/index.ts'
import { approverOf, bounded, journalOf, ofType, settle, tool, world } from '../acceptance/support.ts'
import { settle as settled } from '../settle.ts'

// What tools are asked before a call runs: other people's code, which may throw or never answer.

const never = () => new Promise<never>(() => {})
const questions: readonly (readonly [string, Partial<Tool>])[] = [
  ['approval', { approval: never }],
  ['view', { view: never }],
  ['concurrency.key', { concurrency: { key: never } }],
]

const steps = [{ calls: [{ tool: 't' }] }, { text: 'Done.' }]
const yes = approverOf(() => ({ kind: 'approve', breadth: 'once', by: 'ann' }))

describe.each(questions)('a tool that never answers: %s', (_, question) => {
  it('is waited for no longer than the turn has time', async () => {
    const { runtime, clock } = world({ tools: [tool('t', question)], steps, limits: { timeBudget: 1_000 }, approver: yes })
    const began = clock.monotonic()
    const outcome = await settled(runtime.run('go'), clock, 100)
    expect(['completed', 'partial']).toContain(outcome.status)
    expect(clock.monotonic() - began).toBeLessThanOrEqual(1_200)
  })

  it('is waited for no longer than the turn continues', async () => {
    const { runtime, clock } = world({ tools: [tool('t', question)], steps, approver: yes })
    const handle = runtime.stream('go')
    await settle(20)
    const began = clock.monotonic()
    await handle.stop()
    const outcome = await bounded(handle.outcome, 'the turn', 3_000)
    expect([outcome.report?.text, clock.monotonic() - began]).toEqual(['Done.', 0])
  })
})

it.each([
  [true, 'it returned true'],
  [{ summary: 'Delete' }, 'it returned {"summary":"Delete"}'],
  [{ summary: 'Delete', keys: [{ key: 'tool:other', label: 'x' }] }, 'its key "tool:other" is reserved'],
])('a tool whose approval() returns %j leaves a diagnostic that says so', async (wrong, why) => {
  const approver = approverOf(() => ({ kind: 'approve', breadth: 'once', by: 'ann' }))
  const { runtime } = world({
    tools: [tool('t', { approval: () => wrong as never })],
    steps: [{ calls: [{ tool: 't' }] }, { text: 'Done.' }],
    approver,
  })
  const { diagnostics } = await bounded(runtime.run('go'))
  expect(diagnostics.map(({ message }) => message)).toEqual([
    `approval() of the tool "t" failed: ${why}. The approval covers the whole tool.`,
  ])
})

it('a time budget that ends inside approval() ends the turn, and nobody is asked about a call that may need no approval', async () => {
  let executed = 0
  const slow = tool('t', { approval: never, execute: () => `${++executed}` })
  const { runtime, clock, store } = world({ tools: [slow], steps, limits: { timeBudget: 1_000 }, approver: { decide: () => 'suspend' } })
  const { status, reason, sessionId, report } = await settled(runtime.run('go'), clock, 100)
  expect([status, reason, report?.text, executed]).toEqual(['partial', 'time', 'Done.', 0])
  const events = await journalOf(store, sessionId as never)
  expect(ofType(events, 'interaction.approval.requested')).toEqual([])
  expect(
    ofType(events, 'interaction.item.completed').flatMap(({ item }) => (item.kind === 'call' ? [[item.status, item.content]] : [])),
  ).toEqual([
    [
      'skipped',
      'Error (budget): The call was not run: the time budget ran out while its approval was determined. Answer with what you have.',
    ],
  ])
})

it('approval() is awaited for the time of its call, and then the whole tool is asked about', async () => {
  const { runtime, clock } = world({ tools: [tool('t', { approval: never, timeoutMs: 5_000 })], steps, approver: yes })
  const began = clock.monotonic()
  const { status, diagnostics } = await settled(runtime.run('go'), clock, 1_000)
  expect([status, clock.monotonic() - began]).toEqual(['completed', 5_000])
  expect(diagnostics.map(({ message }) => message)).toEqual([
    'approval() of the tool "t" failed: it did not answer within 5 s. The approval covers the whole tool.',
  ])
})

it('a tool that throws when it is asked for an approval leaves a diagnostic, once, and is asked about as a whole', async () => {
  const approval = () => {
    throw new TypeError('cannot read x of undefined')
  }
  const asked: string[] = []
  const approver = approverOf(({ summary }) => {
    asked.push(summary)
    return { kind: 'approve', breadth: 'once', by: 'ann' }
  })
  const twice = [{ calls: [{ tool: 't' }] }, { calls: [{ tool: 't', input: { again: true } }] }, { text: 'Done.' }]
  const { runtime } = world({ tools: [tool('t', { approval })], steps: twice, approver })
  const { status, diagnostics } = await bounded(runtime.run('go'))
  expect([status, asked]).toEqual(['completed', ['Call t', 'Call t']])
  expect(diagnostics).toEqual([
    {
      code: 'tool_approval_failed',
      severity: 'warning',
      message: 'approval() of the tool "t" failed: cannot read x of undefined. The approval covers the whole tool.',
      remedy: 'Return { summary, keys } from approval(), or undefined if the call needs no approval.',
    },
  ])
})
