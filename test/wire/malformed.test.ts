import { describe, expect, it } from 'vitest'
import type { GatedReply, PlainChunk } from '../../src/testing/index.ts'
import { formats, type WireFormat } from './formats.ts'
import { answering, asking, brokenOff, expectFailure, expectWhole, forecast, server, textOf, turn, turnOver } from './turn.ts'

const html = '<!DOCTYPE html><html><head><title>502 Bad Gateway</title></head><body><h1>Bad gateway</h1>data: {}\n\n</body></html>'
const typed = (type: string, more: GatedReply): GatedReply => ({ ...more, headers: { 'content-type': type } })
const data = (json: unknown): PlainChunk => ({ data: json })

/** A whole reply with something in its middle that does not belong there. */
function disturbed({ encode }: WireFormat, ...foreign: readonly PlainChunk[]): readonly PlainChunk[] {
  return encode(asking).toSpliced(3, 0, ...foreign)
}

describe.each(formats)('$name', (format) => {
  const { encode } = format

  describe('a body that is no stream of events', () => {
    it.each([
      ['a web page with 200', typed('text/html', { chunks: [html] }), 'invalid_response'],
      ['a web page with 502', typed('text/html', { status: 502, chunks: [html] }), 'model'],
      ['a web page with 404', typed('text/html', { status: 404, chunks: [html] }), 'config'],
      ['nothing with 200', { chunks: [] }, brokenOff],
      ['nothing with 204', { status: 204 }, 'invalid_response'],
      ['nothing with 500', { status: 500 }, 'model'],
      ['JSON of another service', typed('application/json', { chunks: ['{"status":"ok"}'] }), 'invalid_response'],
      ['an error of another service', typed('application/json', { status: 500, chunks: ['{"oops":[1]}'] }), 'model'],
      [
        'bytes that are no text',
        typed('application/octet-stream', { chunks: [new Uint8Array([0xff, 0xfe, 0, 10, 10])] }),
        'invalid_response',
      ],
      ['words that are said to be compressed and are not', { headers: { 'content-encoding': 'gzip' }, chunks: encode(asking) }, brokenOff],
    ])('%s: a typed failure', async (_, reply, kind) => {
      expectFailure(await turnOver(format, [reply]), kind)
    })

    it('a page is not shown to anybody', async () => {
      const { told } = await turnOver(format, [typed('text/html', { status: 502, chunks: [html] })])
      expect(told).not.toContain('<h1>')
    })

    it('events that are called something else are refused, or read whole', async () => {
      const replies = [asking, answering].map((reply) => typed('text/plain', { chunks: encode(reply) }))
      const result = await turnOver(format, replies)
      if (result.outcome.status === 'completed') expectWhole(result)
      else expectFailure(result, 'invalid_response')
    })
  })

  describe('an event that is not what it should be, in the middle of a whole reply', () => {
    it.each([
      ['broken JSON', { data: '{"choices":[{"de' }],
      ['a word', { data: 'hello' }],
      ['null', data(null)],
      ['a number', data(7)],
      ['a string', data('"text"')],
      ['a list', data([])],
    ])('%s: a typed failure, no tool', async (_, foreign) => {
      expectFailure(await turnOver(format, [{ chunks: disturbed(format, foreign as PlainChunk) }]), 'invalid_response')
    })

    it.each([
      ['a comment', ': still here\n\n'],
      ['an event without data', 'event: noise\n\n'],
      ['an unknown field', 'colour: red\n\n'],
      ['a wish to reconnect', 'retry: 10\n\n'],
    ])('%s: ignored', async (_, foreign) => {
      expectWhole(await turnOver(format, [{ chunks: disturbed(format, foreign) }, { chunks: encode(answering) }]))
    })
  })

  it('a failure in the middle, sent as an event: a typed failure, no tool', async () => {
    const chunks = [...encode(asking).slice(0, 3), ...format.breakdown]
    const result = await turnOver(format, [{ chunks }])
    expectFailure(result, /^(?:model|rate_limit|network)$/)
    expect(result.outcome.failure?.message).toMatch(/had an error|verloaded|runner has stopped|disconnected/)
  })

  it('fed byte by byte: whole', async () => {
    const bytes = Buffer.concat(encode(asking).map((chunk) => Buffer.from(textOf(chunk))))
    const chunks = Array.from(bytes, (byte) => new Uint8Array([byte]))
    expectWhole(await turnOver(format, [{ chunks }, { chunks: encode(answering) }]))
  })

  it('two calls with one id: a typed failure and no tool, or each call under an id of its own', async () => {
    const { url, reply, requests } = await server()
    const [call] = asking.calls!
    reply({ chunks: encode({ ...asking, calls: [call!, { ...call!, input: { city: 'Oslo' } }] }) })
    reply({ chunks: encode(answering) })
    const result = await turn(format, { url })
    if (result.outcome.status === 'failed') return expectFailure(result, 'invalid_response')
    expect(result.ran).toEqual([forecast, { city: 'Oslo' }])
    const { messages } = requests[1]!.body as { messages: readonly { role: string; tool_call_id?: string }[] }
    const answered = messages.flatMap(({ role, tool_call_id }) => (role === 'tool' ? [tool_call_id] : []))
    expect(new Set(answered).size).toBe(2)
  })

  it('stopped at its length limit within its calls: a typed failure, no tool', async () => {
    expectFailure(await turnOver(format, [{ chunks: encode({ ...asking, finish: 'length' }) }]), 'invalid_response')
  })

  it('withheld by a content filter: a typed failure, no tool', async () => {
    expectFailure(await turnOver(format, [{ chunks: encode({ ...asking, finish: 'content-filter' }) }]), 'model')
  })
})
