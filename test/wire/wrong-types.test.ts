import { describe, expect, it } from 'vitest'
import type { PlainChunk } from '../../src/testing/index.ts'
import { formats, type WireFormat } from './formats.ts'
import { answering, asking, expectFailure, turnOver } from './turn.ts'

// Events whose fields are of another type than their format says, each in the place of the fourth event of a whole reply.

const chat = (choice: unknown, more: object = {}): PlainChunk => ({
  data: { id: 'x', object: 'chat.completion.chunk', choices: choice, ...more },
})
const delta = (value: unknown): PlainChunk => chat([{ index: 0, delta: value, finish_reason: null }])
const chatCases: readonly (readonly [string, PlainChunk])[] = [
  ['choices: "x"', chat('x')],
  ['choices: null', chat(null)],
  ['no choices at all', { data: { id: 'x', object: 'chat.completion.chunk' } }],
  ['choices: [null]', chat([null])],
  ['delta: "x"', delta('x')],
  ['delta: []', delta([])],
  ['content: 7', delta({ content: 7 })],
  ['tool_calls: {}', delta({ tool_calls: {} })],
  ['tool_calls: [null]', delta({ tool_calls: [null] })],
  ['arguments: an object', delta({ tool_calls: [{ index: 0, id: 'a', function: { name: 'weather', arguments: { city: 'Oslo' } } }] })],
  ['a call with a number for its name', delta({ tool_calls: [{ index: 0, id: 'a', function: { name: 7, arguments: '{}' } }] })],
  ['a call without a name', delta({ tool_calls: [{ index: 5, id: 'b', type: 'function', function: { arguments: '{}' } }] })],
  ['finish_reason: 7', chat([{ index: 0, delta: {}, finish_reason: 7 }])],
  ['usage in strings', chat([], { usage: { prompt_tokens: '120', completion_tokens: '60', total_tokens: '180' } })],
]

const event = (type: string, more: object): PlainChunk => ({ event: type, data: { type, ...more } })
const responsesCases: readonly (readonly [string, PlainChunk])[] = [
  ['delta: 7', event('response.output_text.delta', { item_id: 'msg_0', output_index: 0, content_index: 0, delta: 7 })],
  ['delta: null', event('response.output_text.delta', { item_id: 'msg_0', output_index: 0, content_index: 0, delta: null })],
  ['item: "x"', event('response.output_item.added', { output_index: 1, item: 'x' })],
  ['item: null', event('response.output_item.done', { output_index: 1, item: null })],
  [
    'arguments: an object',
    event('response.output_item.done', {
      output_index: 1,
      item: { id: 'fc_9', type: 'function_call', status: 'completed', call_id: 'a', name: 'weather', arguments: { city: 'Oslo' } },
    }),
  ],
  ['response: null at its end', event('response.completed', { response: null })],
  [
    'usage in strings',
    event('response.completed', { response: { id: 'resp_01', status: 'completed', usage: { input_tokens: '120', output_tokens: '60' } } }),
  ],
]

const anthropicCases: readonly (readonly [string, PlainChunk])[] = [
  ['delta: null', event('content_block_delta', { index: 0, delta: null })],
  ['delta: "x"', event('content_block_delta', { index: 0, delta: 'x' })],
  ['text: 7', event('content_block_delta', { index: 0, delta: { type: 'text_delta', text: 7 } })],
  ['partial_json: an object', event('content_block_delta', { index: 0, delta: { type: 'input_json_delta', partial_json: {} } })],
  ['content_block: null', event('content_block_start', { index: 1, content_block: null })],
  [
    'a call with a number for its name',
    event('content_block_start', { index: 1, content_block: { type: 'tool_use', id: 'a', name: 7, input: {} } }),
  ],
  ['index: "x"', event('content_block_stop', { index: 'x' })],
  ['usage in strings', event('message_delta', { delta: { stop_reason: 'end_turn', stop_sequence: null }, usage: { output_tokens: '60' } })],
  ['message: null', event('message_start', { message: null })],
]

const candidate = (value: unknown, more: object = {}): PlainChunk => `data: ${JSON.stringify({ candidates: value, ...more })}\r\n\r\n`
const parts = (value: unknown): PlainChunk => candidate([{ content: { role: 'model', parts: value }, index: 0 }])
const geminiCases: readonly (readonly [string, PlainChunk])[] = [
  ['candidates: "x"', candidate('x')],
  ['candidates: {}', candidate({})],
  ['candidates: [null]', candidate([null])],
  ['content: "x"', candidate([{ content: 'x', index: 0 }])],
  ['parts: "x"', parts('x')],
  ['text: 7', parts([{ text: 7 }])],
  ['finishReason: 7', candidate([{ content: { role: 'model', parts: [{ text: '' }] }, finishReason: 7, index: 0 }])],
  ['usage in strings', candidate([], { usageMetadata: { promptTokenCount: '120', candidatesTokenCount: '60' } })],
]

const casesOf = ({ name }: WireFormat): readonly (readonly [string, PlainChunk])[] => {
  if (name === 'OpenAI responses') return responsesCases
  if (name === 'Anthropic messages') return anthropicCases
  return name === 'Gemini' ? geminiCases : chatCases
}

describe.each(formats)('$name', (format) => {
  it.each(casesOf(format))('%s: a typed failure, no tool', async (_, foreign) => {
    const chunks = format.encode(asking).toSpliced(3, 1, foreign)
    expectFailure(await turnOver(format, [{ chunks }, { chunks: format.encode(answering) }]), 'invalid_response')
  })
})

// The package that reads Gemini passes over a part that it does not know, and a call that is none is such a part.
describe('Gemini', () => {
  const format = formats.find(({ name }) => name === 'Gemini') ?? expect.unreachable()
  it.each([
    ['functionCall: "x"', parts([{ functionCall: 'x' }])],
    ['a call with a number for its name', parts([{ functionCall: { name: 7, args: {} } }])],
  ])('%s: passed over, no tool', async (_, foreign) => {
    const { outcome, ran } = await turnOver(format, [{ chunks: format.encode(asking).toSpliced(3, 1, foreign) }])
    expect(outcome).toMatchObject({ status: 'completed', report: { text: asking.text } })
    expect(ran).toEqual([])
  })
})
