import { describe, expect, it } from 'vitest'
import { FakeClock, type GatedEnding, type GatedReply, type PlainChunk } from '../../src/testing/index.ts'
import { formats, type WireFormat } from './formats.ts'
import { expectFailure, server, stage, textOf, turn } from './turn.ts'
import type { WireReply } from './wire-reply.ts'

const long = 'endless '.repeat(32_768)
const beyond = expect.stringMatching(/^The model exceeded its output limit of \d+ tokens and was stopped\.$/)
const usage = { input: 1, output: 1, cacheRead: 0, cacheWrite: 0, reasoning: 0 }
/** Long pieces, as a proxy would put them together: it is the amount that counts, not the number of events. */
const patient: WireReply = { text: 'x', calls: [{ id: 'c', name: 'weather', input: { city: '' } }], finish: 'stop', usage }

interface Flood {
  readonly opening: readonly PlainChunk[]
  readonly repeat: PlainChunk
}

/** The reply up to the first event that has the field, and that event over and over, with a long text in the field. */
function flood({ encode }: WireFormat, field: RegExp, filling = long): Flood {
  const texts = encode(patient).map(textOf)
  const at = texts.findIndex((text) => field.test(text))
  const found = texts[at] ?? expect.unreachable(`no ${field}`)
  return { opening: texts.slice(0, at), repeat: found.replace(field, (_, name: string) => `"${name}":"${filling}"`) }
}
const textField = /"(content|delta|text)":"x"/
const argumentField = /"(arguments|delta|partial_json)":"\{\\"city[^}]*"/
const wholeCallField = /"(city|arguments)":"(?:\{.*?\})?"/
/** These two send a call whole. */
const isPiecemeal = ({ name }: WireFormat): boolean => name !== 'Ollama' && name !== 'Gemini'

/** More than any reply may take, little enough to be sent in no time. */
const endless = (repeat: PlainChunk): GatedEnding => ({ repeat, mostBytes: 80 * 1024 * 1024 })

/** Given up by the client before the server came to its own bound, so what is held in memory is bounded too. */
async function expectGivenUp(format: WireFormat, reply: GatedReply): Promise<void> {
  const { url, reply: add } = await server()
  const exchange = add(reply)
  expectFailure(await turn(format, { url }), /^(?:model|invalid_response)$/)
  expect(await exchange.over).toBe('left')
}

describe.each(formats)('$name', (format) => {
  it('text beyond what the budget left for it: stopped there, kept as cut, counted, and the connection is closed', async () => {
    const { url, reply } = await server()
    const { opening, repeat } = flood(format, textField, 'endless '.repeat(16))
    const exchange = reply({ chunks: opening, ending: endless(repeat) })
    const { outcome } = await turn(format, { url, limits: { maxTokens: 6_000 } })
    expect(outcome).toMatchObject({ status: 'partial', reason: 'tokens', usage: { estimated: true } })
    expect(outcome.diagnostics).toContainEqual(expect.objectContaining({ code: 'answer_truncated', message: beyond }))
    expect(outcome.usage.output).toBeLessThan(8_000)
    expect(await exchange.over).toBe('left')
  })

  it('endless comments and nothing else: given up when its time is over, and the connection is closed', async () => {
    const { url, reply } = await server()
    const clock = new FakeClock()
    const exchange = reply({ ending: endless(': still here\n\n'.repeat(1000)) })
    const { runtime } = await stage(format, { url, clock, limits: { llmTimeout: 5_000 } })
    const handle = runtime.stream('Go')
    await exchange.sent(10)
    await clock.elapse(5_000)
    expect(await handle.outcome).toMatchObject({ status: 'failed', failure: { class: 'timeout', remedy: 'Raise llmTimeout.' } })
    expect(await exchange.over).toBe('left')
  })
})

describe.each(formats.filter(isPiecemeal))('$name', (format) => {
  it('arguments of a call beyond what the budget left for them: stopped there, counted, not run, and the connection is closed', async () => {
    const { url, reply } = await server()
    const { opening, repeat } = flood(format, argumentField, 'endless '.repeat(16))
    const exchange = reply({ chunks: opening, ending: endless(repeat) })
    const stopped = await turn(format, { url, limits: { maxTokens: 6_000 } })
    expectFailure(stopped, 'invalid_response', 'tokens')
    expect(stopped.outcome).toMatchObject({ failure: { message: beyond }, usage: { estimated: true } })
    expect(stopped.outcome.usage.output).toBeGreaterThan(2_000)
    expect(stopped.outcome.usage.output).toBeLessThan(8_000)
    expect(await exchange.over).toBe('left')
  })
})

describe.each(formats.filter((format) => !isPiecemeal(format)))('$name', (format) => {
  it('calls without end beyond what the budget left for them: stopped there, not run, and the connection is closed', async () => {
    const { url, reply } = await server()
    const { opening, repeat } = flood(format, wholeCallField, 'endless '.repeat(16))
    const exchange = reply({ chunks: opening, ending: endless(repeat) })
    const stopped = await turn(format, { url, limits: { maxTokens: 6_000 } })
    expectFailure(stopped, 'invalid_response', 'tokens')
    expect(stopped.outcome).toMatchObject({ failure: { message: beyond }, usage: { estimated: true } })
    expect(stopped.outcome.usage.output).toBeLessThan(8_000)
    expect(await exchange.over).toBe('left')
  })
})

// What reads the body knows no format: in the short form two stand for all.
const some = formats.filter(({ name }) => process.env.TROUPE_FULL || ['OpenAI chat', 'Anthropic messages'].includes(name))

describe.each(some.filter(isPiecemeal))('$name', (format) => {
  it.each([
    ['text', textField],
    ['arguments of a call', argumentField],
  ] as const)('endless %s: given up at a cap, and the connection is closed', async (_, field) => {
    const { opening, repeat } = flood(format, field)
    await expectGivenUp(format, { chunks: opening, ending: endless(repeat) })
  })

  it.each([
    ['event', [], `data: ${'x'.repeat(64 * 1024)}\n`],
    ['line', ['data: '], 'x'.repeat(64 * 1024)],
  ] as const)('one endless %s: given up at a cap, and the connection is closed', async (_, opening, repeat) => {
    await expectGivenUp(format, { chunks: opening, ending: endless(repeat) })
  })

  it('an endless error page: given up at a cap, and the connection is closed', async () => {
    await expectGivenUp(format, { status: 500, headers: { 'content-type': 'text/html' }, ending: endless('<p>'.repeat(20_000)) })
  })
})
