import { expect } from 'vitest'
import type { Outcome, RunHandle } from '../../../src/index.ts'
import { bounded, collect, durable, elapsing, expectLegal, ofType, until } from '../../acceptance/support.ts'
import type { Behaviour } from '../behaviour.ts'
import { look, lookCall, ran, type Stage, stage } from '../stage.ts'

export const faults: readonly Behaviour[] = [
  {
    name: 'cut stream',
    shows: 'is asked again, and runs no tool from what had come',
    async run(adapter) {
      const asked: unknown[] = []
      const replies = [
        { text: 'Let me see what there is.', calls: [lookCall('a rather long question')], fault: 'cut' as const },
        { calls: [lookCall('sky')] },
        { text: 'Blue.' },
      ]
      const { runtime, clock } = await stage(adapter, { replies, tools: [look(asked)] })
      const handle = runtime.stream('Go.')
      const events = await elapsing(clock, collect(handle))
      expect(await handle.outcome).toMatchObject({ status: 'completed', report: { text: 'Blue.' } })
      expectLegal(durable(events))
      expect(asked).toEqual([{ q: 'sky' }])
      const [failed, ...more] = ofType(events, 'interaction.step.failed')
      expect(more).toEqual([])
      expect(failed?.failure.class).toMatch(/^(?:network|invalid_response)$/)
      expect(failed?.delayMs).toBeGreaterThan(0)
    },
  },
  {
    name: 'rate limit',
    shows: 'is waited out exactly as long as the server asks',
    async run(adapter) {
      const staged = await stage(adapter, { replies: [{ fault: { limitedForSeconds: 7 } }, { text: 'Blue.' }] })
      const handle = staged.runtime.stream('Go.')
      const events = collect(handle)
      await pauseEntered(staged, handle)
      await staged.clock.elapse(6999)
      expect(staged.played.requests).toHaveLength(1)
      await staged.clock.elapse(1)
      expect(await bounded(handle.outcome)).toMatchObject({ status: 'completed', report: { text: 'Blue.' } })
      expect(staged.played.requests).toHaveLength(2)
      expect(ofType(await events, 'interaction.step.failed')).toMatchObject([
        { failure: { class: 'rate_limit' }, delayMs: 7000, usage: { input: 0 } },
      ])
    },
  },
  {
    name: 'wrong key',
    shows: 'drops the model and goes on with the next one',
    async run(adapter) {
      const { outcome, played, other } = await ran(adapter, { replies: [{ fault: 'unauthorized' }], others: [{ text: 'Blue.' }] })
      expect(outcome).toMatchObject({ status: 'completed', report: { text: 'Blue.' } })
      expect(modelEntries(outcome)).toMatchObject([{ status: 'failed', failure: { class: 'auth' } }, { status: 'completed' }])
      expect([played.requests.length, other?.requests.length]).toEqual([1, 1])
    },
  },
  {
    name: 'last answer',
    shows: 'is asked for with the tools switched off',
    async run(adapter) {
      const replies = [{ calls: [lookCall('sky')] }, { text: 'As far as I got.' }]
      const { outcome, played } = await ran(adapter, { replies, tools: [look()], limits: { maxToolTurns: 1 } })
      expect(outcome).toMatchObject({ status: 'partial', reason: 'steps', report: { text: 'As far as I got.' } })
      expect(played.requests.map((request) => adapter.toolsAreOff(request))).toEqual([false, true])
    },
  },
  {
    name: 'interrupt',
    shows: 'ends the turn in the middle of a stream, with what was said',
    async run(adapter) {
      const staged = await interrupted(adapter)
      expect(staged.outcome).toMatchObject({ status: 'interrupted', reason: 'interrupted' })
      const texts = ofType(staged.events, 'interaction.item.completed').flatMap(({ item }) => (item.kind === 'text' ? [item] : []))
      expect(texts).toMatchObject([{ type: 'agent_message', status: 'interrupted' }])
      expect('One moment, I am still'.startsWith(texts[0]?.text ?? '?')).toBe(true)
    },
  },
  {
    name: 'gives up its request',
    shows: 'when the turn is interrupted',
    async run(adapter) {
      const { played } = await interrupted(adapter)
      await bounded(played.abandoned(), 'giving up')
    },
  },
]

async function interrupted(
  adapter: Parameters<Behaviour['run']>[0],
): Promise<Stage & { outcome: Outcome; events: Awaited<ReturnType<typeof collect>> }> {
  const staged = await stage(adapter, { replies: [{ text: 'One moment, I am still', fault: 'silence' }] })
  const handle = staged.runtime.stream('Go.')
  const events: Awaited<ReturnType<typeof collect>> = []
  for await (const event of handle) {
    events.push(event)
    if (events.filter(({ type }) => type === 'interaction.item.delta').length === 1 && event.type === 'interaction.item.delta')
      await handle.interrupt()
  }
  return { ...staged, events, outcome: await bounded(handle.outcome) }
}

/** The failure is recorded, and the clock has been told when to go on: from here on time counts. */
async function pauseEntered({ clock, store }: Stage, { sessionId: treeId }: RunHandle): Promise<void> {
  const hasFailed = async () => (await store.journal.read(treeId, 0)).some(({ type }) => type === 'interaction.step.failed')
  await until('the pause', async () => (await hasFailed()) && clock.pending > 0)
}

const modelEntries = ({ accounting }: Outcome) => accounting.filter(({ kind }) => kind === 'model')
