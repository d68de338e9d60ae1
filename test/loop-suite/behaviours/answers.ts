import { expect } from 'vitest'
import { durable, expectLegal, expectWhole, ofType } from '../../acceptance/support.ts'
import type { Behaviour } from '../behaviour.ts'
import { usual } from '../conversation.ts'
import { look, lookCall, ran, textIn } from '../stage.ts'

const answer = 'It is sunny in Zürich, and it will stay so.'

export const answers: readonly Behaviour[] = [
  {
    name: 'plain answer',
    shows: 'is streamed in pieces, and is the report',
    async run(adapter) {
      const { outcome, events, played } = await ran(adapter, { replies: [{ text: answer }] }, 'How is the weather?')
      expect(outcome).toMatchObject({ status: 'completed', report: { format: 'markdown', text: answer } })
      expectWhole(outcome)
      expectLegal(durable(events))
      const deltas = ofType(events, 'interaction.item.delta')
      expect(deltas.length).toBeGreaterThan(1)
      expect(deltas.every(({ kind }) => kind === 'text')).toBe(true)
      expect(deltas.map(({ text }) => text).join('')).toBe(answer)
      expect(played.requests).toHaveLength(1)
      expect(textIn(played.requests[0])).toContain('You are a clerk.')
      expect(textIn(adapter.messagesIn(played.requests[0]))).toContain('How is the weather?')
    },
  },
  {
    name: 'reasoning',
    shows: 'is streamed apart from the answer and kept in the history',
    async run(adapter) {
      const { outcome, events } = await ran(adapter, { replies: [{ reasoning: 'They ask for the sky.', text: 'Blue.' }] })
      expect(outcome).toMatchObject({ status: 'completed', report: { text: 'Blue.' } })
      const thought = ofType(events, 'interaction.item.delta').filter(({ kind }) => kind === 'reasoning')
      expect(thought.map(({ text }) => text).join('')).toBe('They ask for the sky.')
      const items = ofType(events, 'interaction.item.completed').flatMap(({ item }) =>
        item.kind === 'text' ? [[item.type, item.text]] : [],
      )
      expect(items).toEqual([
        ['reasoning', 'They ask for the sky.'],
        ['agent_message', 'Blue.'],
      ])
      expect(outcome.snapshot.history.at(-1)).toMatchObject({
        parts: [{ type: 'reasoning', text: 'They ask for the sky.' }, { text: 'Blue.' }],
      })
    },
  },
  {
    name: 'usage and cost',
    shows: 'are the sums of what the provider reports',
    async run(adapter) {
      const replies = [
        { calls: [lookCall('sky')], usage: usual },
        { text: 'Blue.', usage: usual },
      ]
      const { outcome } = await ran(adapter, { replies, tools: [look()], costOf: ({ input, output }) => input * 0.01 + output * 0.1 })
      const uncounted = Object.fromEntries((adapter.uncounted ?? []).map((figure) => [figure, 0]))
      expect(outcome.usage).toEqual({ input: 240, output: 120, cacheRead: 40, cacheWrite: 0, reasoning: 20, ...uncounted })
      expect(outcome.cost).toBeCloseTo(14.4, 10)
    },
  },
  {
    name: 'length',
    shows: 'makes the answer a partial one, with a warning',
    async run(adapter) {
      const { outcome } = await ran(adapter, { replies: [{ text: 'It is', finish: 'length' }] })
      expect(outcome).toMatchObject({
        status: 'partial',
        reason: 'tokens',
        report: { text: 'It is' },
        diagnostics: [{ code: 'answer_truncated' }],
      })
    },
  },
  {
    name: 'content filter',
    shows: 'is a failure of the model, not an answer',
    async run(adapter) {
      const { outcome } = await ran(adapter, { replies: [{ text: 'I', finish: 'content-filter' }], limits: { maxRetries: 0 } })
      expect(outcome).toMatchObject({
        status: 'failed',
        reason: 'model',
        failure: { class: 'model', message: expect.stringContaining('filter') },
      })
    },
  },
  {
    name: 'settings',
    shows: 'reach the far side, or it is told that they do not',
    async run(adapter) {
      const { outcome, played } = await ran(adapter, { replies: [{ text: 'Blue.' }], agent: { parameters: { temperature: 0.625 } } })
      expect(outcome.status).toBe('completed')
      const told = outcome.diagnostics.filter(({ code, message }) => code === 'model_notice' && /temperature/i.test(message))
      expect([textIn(played.requests[0]).includes('0.625'), told.length > 0]).toContain(true)
    },
  },
]
