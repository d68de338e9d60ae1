import { describe, expect, it } from 'vitest'
import {
  addSpent,
  type InteractionEvent,
  noUsage,
  type Spent,
  type Store,
  type TreeId,
  type TurnRecord,
} from '../../src/contracts/index.ts'
import { foldTree } from '../../src/runtime/journal/tree-state.ts'
import { TurnRecordFold } from '../../src/runtime/journal/turn-record.ts'
import { memoryStore } from '../../src/stores/memory/index.ts'
import { FakeClock, gate, ScriptedModel, sequentialIds } from '../../src/testing/index.ts'
import { handoffTeam } from '../kernel/handoff/handoff-team.ts'
import { changedStore } from '../runtime/changed-store.ts'
import { runtimeWith, tool } from '../runtime/helpers.ts'
import { storeOf } from '../runtime/journals.ts'
import { settle } from '../settle.ts'
import { eventfulSession, eventfulTeam } from './eventful-session.ts'

/** A store that also keeps the records of every batch, in their order. */
function recording(records: TurnRecord[]): Store {
  const store = memoryStore()
  return changedStore(store, {
    append: (batch) => {
      records.push(...(batch.turns ?? []))
      return store.journal.append(batch)
    },
  })
}

const journalOf = async (store: Store, id: string) => store.journal.read(id as TreeId, 0)

function folded(events: readonly InteractionEvent[]): readonly TurnRecord[] {
  const fold = new TurnRecordFold()
  foldTree(events, undefined, fold.observe)
  return fold.records
}

const nothing: Spent = { usage: noUsage, cost: 0 }
/** The sum of all turns of the root, which contain those of its children. */
const spentByRoot = (events: readonly InteractionEvent[]): Spent =>
  events.reduce((sum, event) => {
    const isEnd = 'totals' in event && event.agentPath === 'root' && event.type.startsWith('interaction.turn.')
    return isEnd ? addSpent(sum, event.totals.usage, event.totals.cost) : sum
  }, nothing)
const spentIn = (records: readonly TurnRecord[]): Spent =>
  records
    .flatMap(({ models = [] }) => models)
    .reduce((sum, { usage, costUsd, unpriced }) => addSpent(sum, usage, unpriced > 0 ? 'unknown' : costUsd), nothing)

describe('records of turns', () => {
  it('are those that the journal gives again; their sums are what the turns of the root have spent', async () => {
    const records: TurnRecord[] = []
    const store = recording(records)
    const id = await eventfulSession(store)
    const events = await journalOf(store, id)
    expect(records.length).toBeGreaterThan(6)
    expect(folded(events)).toEqual(records)
    expect(spentIn(records)).toEqual(spentByRoot(events))
    expect(records.filter(({ isChild }) => !isChild).map(({ texts }) => texts.map(({ text }) => text))).toEqual([
      ['one', 'First.'],
      ['two', 'Second.'],
      ['three', 'Third.'],
    ])
    // What parents and children say to each other is no message of a person.
    expect(records.filter(({ isChild }) => isChild).flatMap(({ texts }) => texts)).toEqual([])
    expect(new Set(records.map(({ agent }) => agent))).toEqual(new Set(['boss', 'clerk', 'scout']))
  })

  it('of a fork have the texts, and nothing that the original has paid for', async () => {
    const records: TurnRecord[] = []
    const store = recording(records)
    const id = await eventfulSession(store)
    const { runtime } = eventfulTeam(store, { ids: sequentialIds('fork') })
    const [last] = (await journalOf(store, id)).slice(-1)
    for (const seq of [8, Math.floor((last?.seq ?? 0) / 2), last?.seq ?? 0]) {
      records.length = 0
      const forkId = await runtime.sessions.fork(id, { seq })
      const copied = records.length
      expect(records.filter(({ models }) => models)).toEqual([])
      await runtime.sessions.send(forkId, 'What now?')
      await runtime.sessions.outcome(forkId)
      expect(records.slice(copied).every(({ models }) => models)).toBe(true)
      const again = await runtime.sessions.fork(forkId)
      await runtime.sessions.delete(again)
      expect(folded(await journalOf(store, forkId))).toEqual(records.slice(0, folded(await journalOf(store, forkId)).length))
    }
    await runtime.close()
  })

  it('of a fork of an older version, which does not say where the copy ends, are no usage either', async () => {
    const store = memoryStore()
    const id = await eventfulSession(store)
    const { runtime } = eventfulTeam(store, { ids: sequentialIds('fork') })
    const steps = (await journalOf(store, id)).filter(({ type }) => type === 'interaction.step.completed')
    for (const { seq } of steps) {
      const forkId = await runtime.sessions.fork(id, { seq })
      const copy = await journalOf(store, forkId)
      await runtime.sessions.send(forkId, 'What now?')
      await runtime.sessions.outcome(forkId)
      const older = (await journalOf(store, forkId)).map((event): InteractionEvent => {
        if (event.type !== 'interaction.session.created' || !event.forkedFrom) return event
        const { last: _, ...forkedFrom } = event.forkedFrom
        return { ...event, forkedFrom }
      })
      const paid = folded(older).filter(({ models }) => models)
      expect(paid.length).toBeGreaterThan(0)
      expect(paid.filter((record) => record.seq <= copy.length)).toEqual([])
    }
    await runtime.close()
  })

  it('are written before a session that waits, or whose process has died, is deleted', async () => {
    const store = memoryStore()
    const usage = { input: 100, output: 10 }
    const pay = tool('pay', { approval: () => ({ keys: [{ key: 'pay', label: 'Pay' }], summary: 'Pay' }) })
    const model = () => new ScriptedModel([{ calls: [{ tool: 'pay' }], usage, costUsd: 0.25 }])
    const first = runtimeWith(model(), { store, tools: [pay], approver: { decide: () => 'suspend' } })
    const waiting = await first.run('Pay it')
    const dead = await storeOf(await journalOf(store, waiting.sessionId))
    await first.close()
    for (const each of [store, dead]) {
      const runtime = runtimeWith(model(), { store: each, tools: [pay] })
      await runtime.sessions.delete(waiting.sessionId)
      expect(await runtime.sessions.get(waiting.sessionId)).toBeUndefined()
      expect((await runtime.sessions.usage({ by: 'day' })).total).toMatchObject({ turns: 1, requests: 1, costUsd: 0.25 })
      await runtime.close()
    }
  })

  it('have what a person says to an agent that took over', async () => {
    const records: TurnRecord[] = []
    const store = recording(records)
    const { runtime } = handoffTeam(undefined, { store })
    const { sessionId } = await runtime.run('Hello')
    for (const text of ['one', 'done']) {
      await runtime.sessions.send(sessionId, text)
      await runtime.sessions.outcome(sessionId)
    }
    const texts = records.flatMap(({ agent, texts: said }) => said.map(({ kind, text }) => `${agent} ${kind}: ${text}`))
    expect(texts).toContain('coach message: one')
    expect(texts).toContain('coach answer: heard one')
    expect(texts).toContain('boss message: Hello')
    expect(folded(await journalOf(store, sessionId))).toEqual(records)
    await runtime.close()
  })

  it('count failed requests, those without a price, and work without waiting', async () => {
    const records: TurnRecord[] = []
    const clock = new FakeClock()
    const answer = gate()
    const usage = { input: 100, output: 10 }
    const model = new ScriptedModel([
      { fault: { class: 'network', message: 'no' } },
      { calls: [{ tool: 'pay' }], usage, costUsd: 0.25 },
      { text: 'Paid.', usage },
    ])
    const pay = tool('pay', { approval: () => ({ keys: [{ key: 'pay', label: 'Pay' }], summary: 'Pay' }) })
    const approver = {
      decide: async () => {
        await answer.promise
        return { decision: { kind: 'approve', breadth: 'once' }, by: 'ann' } as const
      },
    }
    const store = recording(records)
    const runtime = runtimeWith(model, { store, tools: [pay], clock, approver })
    clock.after(60_000, () => answer.open())
    const outcome = await settle(runtime.run('Pay it'), clock)
    expect(outcome.status).toBe('completed')
    expect(records).toMatchObject([
      {
        agent: 'clerk',
        status: 'completed',
        models: [{ model: 'scripted/model', requests: 3, failed: 1, costUsd: 0.25, unpriced: 2, usage: { output: 20 } }],
      },
    ])
    const [end] = (await journalOf(store, outcome.sessionId)).filter(({ type }) => type === 'interaction.turn.completed')
    expect(end).toMatchObject({ totals: { waitedMs: expect.closeTo(59_000, -4) } })
    expect(records[0]?.workMs).toBeLessThan(30_000)
    expect(records[0]?.workMs).toBeGreaterThanOrEqual(0)
  })
})
