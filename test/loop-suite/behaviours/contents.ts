import { expect } from 'vitest'
import { memoryStore } from '../../../src/stores/memory/index.ts'
import { bounded, until } from '../../acceptance/support.ts'
import type { Behaviour } from '../behaviour.ts'
import { type LoopAdapter, pngPixel } from '../conversation.ts'
import { look, lookCall, ran, stage, textIn } from '../stage.ts'
import { unmarked } from './calls.ts'

const schema = { type: 'object', properties: { colour: { type: 'string' } }, required: ['colour'], additionalProperties: false }
const output = { format: 'json', schema } as const

export const contents: readonly Behaviour[] = [
  {
    name: 'images',
    shows: 'reach the far side as they are',
    async run(adapter) {
      const input = [
        { type: 'text', text: 'What is this?' },
        { type: 'image', mediaType: 'image/png', data: pngPixel },
      ] as const
      const { outcome, played } = await ran(adapter, { replies: [{ text: 'A pixel.' }] }, input)
      expect(outcome).toMatchObject({ status: 'completed', report: { text: 'A pixel.' } })
      const sent = textIn(adapter.messagesIn(played.requests[0]))
      expect(sent).toContain(pngPixel)
      expect(sent).toContain('image/png')
    },
  },
  {
    name: 'JSON answer',
    shows: 'is asked for with its schema and given as a value',
    async run(adapter) {
      const { outcome, played } = await ran(adapter, { replies: [{ text: '{"colour":"blue"}' }], agent: { output } })
      expect(outcome).toMatchObject({ status: 'completed', report: { format: 'json', value: { colour: 'blue' } } })
      expect(textIn(played.requests[0])).toContain('colour')
    },
  },
  {
    name: 'wrong JSON',
    shows: 'is sent back with what is wrong with it',
    async run(adapter) {
      const replies = [{ text: '{"color":"blue"}' }, { text: '```json\n{"colour":"blue"}\n```' }]
      const { outcome, played } = await ran(adapter, { replies, agent: { output } })
      expect(outcome).toMatchObject({ status: 'completed', report: { format: 'json', value: { colour: 'blue' } } })
      expect(textIn(adapter.messagesIn(played.requests[1]))).toContain('Your answer is invalid: ')
    },
  },
  {
    name: 'sealed reasoning',
    shows: 'goes back to the far side with its seal',
    async run(adapter) {
      const replies = [{ reasoning: 'They ask for the sky.', text: 'Let me see.', calls: [lookCall('sky')] }, { text: 'Blue.' }]
      const { outcome, played } = await ran(adapter, { replies, tools: [look()] })
      expect(outcome.status).toBe('completed')
      const sent = textIn(adapter.messagesIn(played.requests[1]))
      expect(sent).toContain(adapter.seal ?? expect.unreachable('neither a seal nor a reason for having none'))
    },
  },
  {
    name: 'resume',
    shows: 'a conversation from the journal is put to the model word for word as one that never stopped',
    async run(adapter) {
      const whole = await secondTurn(adapter, 'goes on')
      const resumed = await secondTurn(adapter, 'is taken up')
      expect(resumed).toEqual(whole)
      expect(textIn(resumed)).toMatch(/found sky.*Blue\..*And at night\?/)
    },
  },
]

/** What the model is asked in a second turn, by the runtime of the first or by one that has only the journal. */
async function secondTurn(adapter: LoopAdapter, how: 'goes on' | 'is taken up'): Promise<readonly unknown[]> {
  const first = [
    { reasoning: 'They ask for the sky.', text: 'Let me see.', calls: [lookCall('sky')] },
    { reasoning: 'Seen.', text: 'Blue.' },
  ]
  const second = [{ text: 'Black.' }]
  const store = memoryStore()
  const before = await stage(adapter, { replies: how === 'goes on' ? [...first, ...second] : first, tools: [look()], store })
  const { sessionId: treeId, status } = await bounded(before.runtime.run('How is the sky?'), 'the first turn')
  expect(status).toBe('completed')
  if (how === 'is taken up') await before.runtime.close()
  const after = how === 'goes on' ? before : await stage(adapter, { replies: second, tools: [look()], store })
  const handle = await after.runtime.open(treeId)
  await handle.send('And at night?')
  const outcome = await bounded(handle.outcome, 'the second turn')
  expect(outcome).toMatchObject({ status: 'completed', report: { text: 'Black.' } })
  await until('the request', () => after.played.requests.length > 0)
  return adapter.messagesIn(after.played.requests.at(-1)).map(unmarked)
}
