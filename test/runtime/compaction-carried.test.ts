import { describe, expect, it } from 'vitest'
import type { ModelRequest, Tool } from '../../src/contracts/index.ts'
import { memoryStore } from '../../src/stores/memory/index.ts'
import { FakeClock, type ScriptedStep, type ScriptedStepSource } from '../../src/testing/index.ts'
import { settle } from '../settle.ts'
import { runtimeWith, tool } from './helpers.ts'
import { storeOf } from './journals.ts'
import { asksForSummary, textOf, windowed } from './windows.ts'

const window = 4_000
const look = tool('look', { effect: 'read', execute: ({ q }) => `saw ${String(q)} ${'x'.repeat(2_600)}` })
const write = tool('write', { execute: ({ q }) => `wrote ${String(q)}` })
const call = (name: string, q: string): ScriptedStep => ({ calls: [{ tool: name, input: { q } }] })
const looks = (count: number): readonly ScriptedStep[] => Array.from({ length: count }, (_, i) => call('look', `${i}`))
const words = ({ messages }: ModelRequest): string => messages.map(textOf).join('\n')

/** Works step by step, and says what it knows whenever it is asked to sum up. */
async function run(work: readonly ScriptedStep[], tools: readonly Tool[] = [look, write]) {
  let done = 0
  const next: ScriptedStepSource = (request) =>
    asksForSummary(request) ? { text: 'The lid is green.' } : (work[done++] ?? { text: 'Done.' })
  const model = windowed(
    window,
    Array.from({ length: 40 }, () => next),
  )
  const [store, clock] = [memoryStore(), new FakeClock()]
  const { sessionId: treeId } = await settle(
    runtimeWith(model, { tools, store, clock, limits: { maxToolTurns: 60 } }).run('What is inside?'),
    clock,
  )
  return { treeId, events: await store.journal.read(treeId, 0) }
}

describe('what a compaction carries over', () => {
  it('is data: a journal with other texts continues with all of it, once', async () => {
    const first = await run([call('write', 'ink'), ...looks(6), { text: 'Done.' }])
    const at = first.events.findIndex(({ type }) => type === 'interaction.context.compacted')
    const other = { role: 'user', parts: [{ type: 'text', text: 'Made shorter in words of another version.' }] } as const
    const events = first.events.slice(0, at + 1).map((event) => {
      if (event.type !== 'interaction.context.compacted') return event
      return { ...event, messages: event.messages.with(event.carried.length - 1, other) }
    })
    const store = await storeOf(events)
    const clock = new FakeClock()
    const model = windowed(window, [
      ...looks(10).map(
        (step): ScriptedStepSource =>
          (request) =>
            asksForSummary(request) ? { fault: { class: 'model', message: 'no' } } : step,
      ),
      { text: 'Done.' },
    ])
    const runtime = runtimeWith(model, { tools: [look, write], store, clock, limits: { maxToolTurns: 60, maxRetries: 0 } })
    const handle = await runtime.open(first.treeId)
    expect((await settle(handle.outcome, clock)).status).toBe('completed')
    const after = words(model.requests.at(-1) as ModelRequest)
    for (const text of ['wrote ink', 'The lid is green.']) expect(after.split(text)).toHaveLength(2)
    expect(after).not.toContain('another version')
  })

  it('knows tools by their effects, not by their names', async () => {
    const named = tool('update_plan', { execute: () => 'sent' })
    const planner = tool('planner', { effect: 'read', execute: () => 'planned' })
    const { events } = await run([call('update_plan', '1'), call('planner', '2'), ...looks(5), { text: 'Done.' }], [look, named, planner])
    expect(events.flatMap((event) => (event.type === 'interaction.context.compacted' ? event.carried.lines : []))).toEqual([
      '- update_plan {"q":"1"}: ok, sent',
    ])
  })
})
