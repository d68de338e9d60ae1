import { expect } from 'vitest'
import { gate } from '../../../src/testing/index.ts'
import { durable, expectLegal } from '../../acceptance/support.ts'
import { broken } from '../adapters/wire.ts'
import type { Behaviour } from '../behaviour.ts'
import { look, lookCall, ran, textIn } from '../stage.ts'

export const calls: readonly Behaviour[] = [
  {
    name: 'one call',
    shows: 'is run, and its result is shown to the model, which answers',
    async run(adapter) {
      const asked: unknown[] = []
      const replies = [{ text: 'Let me see.', calls: [lookCall('sky')] }, { text: 'Blue.' }]
      const { outcome, events, played } = await ran(adapter, { replies, tools: [look(asked)] })
      expect(outcome).toMatchObject({ status: 'completed', report: { text: 'Blue.' } })
      expectLegal(durable(events))
      expect(asked).toEqual([{ q: 'sky' }])
      expect(textIn(adapter.messagesIn(played.requests[1]))).toContain('found sky')
      expect(outcome.accounting.map((entry) => [entry.kind, entry.status])).toEqual([
        ['model', 'completed'],
        ['call', 'completed'],
        ['model', 'completed'],
      ])
    },
  },
  {
    name: 'parallel calls',
    shows: 'run together, and are answered in their order',
    async run(adapter) {
      const second = gate()
      const asked: { q: string }[] = []
      const tool = look(asked, async ({ q }) => {
        if (q === 'first') await second.promise
        else second.open()
        return `found ${q}`
      })
      const replies = [{ calls: [lookCall('first'), lookCall('second')] }, { text: 'Both.' }]
      const { outcome, played } = await ran(adapter, { replies, tools: [tool] })
      expect(outcome).toMatchObject({ status: 'completed', report: { text: 'Both.' } })
      expect(asked.map(({ q }) => q)).toEqual(['first', 'second'])
      const shown = textIn(adapter.messagesIn(played.requests[1]))
      expect(shown.indexOf('found first')).toBeGreaterThan(0)
      expect(shown.indexOf('found second')).toBeGreaterThan(shown.indexOf('found first'))
    },
  },
  {
    name: 'several steps',
    shows: 'each request begins with the one before it',
    async run(adapter) {
      const replies = [{ calls: [lookCall('one')] }, { text: 'And more.', calls: [lookCall('two')] }, { text: 'Done.' }]
      const asked: unknown[] = []
      const { outcome, played } = await ran(adapter, { replies, tools: [look(asked)] })
      expect(outcome).toMatchObject({ status: 'completed', report: { text: 'Done.' } })
      expect(asked).toEqual([{ q: 'one' }, { q: 'two' }])
      const [first = [], second = [], third = []] = played.requests.map((request) => adapter.messagesIn(request).map(unmarked))
      expect(second.slice(0, first.length)).toEqual(first)
      expect(third.slice(0, second.length)).toEqual(second)
      expect(third.length).toBeGreaterThan(second.length)
    },
  },
  {
    name: 'failing tool',
    shows: 'the model is told what went wrong, and goes on',
    async run(adapter) {
      const tool = look([], () => ({ ok: false, error: { class: 'failed', message: 'the sky is out of order', remedy: 'Look later.' } }))
      const { outcome, played } = await ran(adapter, { replies: [{ calls: [lookCall('sky')] }, { text: 'No luck.' }], tools: [tool] })
      expect(outcome).toMatchObject({ status: 'completed', report: { text: 'No luck.' } })
      expect(textIn(adapter.messagesIn(played.requests[1]))).toContain('the sky is out of order')
      expect(outcome.accounting).toContainEqual(expect.objectContaining({ kind: 'call', status: 'failed', error: 'failed' }))
    },
  },
  {
    name: 'unknown tool',
    shows: 'the model is told which ones there are',
    async run(adapter) {
      const asked: unknown[] = []
      const replies = [{ calls: [{ id: 'call_1', name: 'lok', input: { q: 'sky' } }] }, { text: 'Sorry.' }]
      const { outcome, played } = await ran(adapter, { replies, tools: [look(asked)] })
      expect(outcome).toMatchObject({ status: 'completed', report: { text: 'Sorry.' } })
      expect(asked).toEqual([])
      expect(textIn(adapter.messagesIn(played.requests[1]))).toMatch(/lok.*look/)
    },
  },
  {
    name: 'broken arguments',
    shows: 'are mended where the reply was whole',
    async run(adapter) {
      const asked: unknown[] = []
      const replies = [{ calls: [{ id: 'call_1', name: 'look', input: broken }] }, { text: 'Found.' }]
      const { outcome } = await ran(adapter, { replies, tools: [look(asked)] })
      expect(outcome).toMatchObject({ status: 'completed', report: { text: 'Found.' } })
      expect(asked).toEqual([{ q: 'QQ' }])
    },
  },
]

/** Marks for a provider's cache move on with the conversation: they are not part of what is said. */
export function unmarked(message: unknown): unknown {
  return JSON.parse(JSON.stringify(message, (key, value) => (key === 'cache_control' || key === 'cacheControl' ? undefined : value)))
}
