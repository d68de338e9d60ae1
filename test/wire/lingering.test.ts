import { describe, expect, it } from 'vitest'
import type { Outcome } from '../../src/contracts/index.ts'
import { FakeClock, type GatedReply, type PlainChunk } from '../../src/testing/index.ts'
import { formats, type WireFormat } from './formats.ts'
import { answering, server, stage } from './turn.ts'

// Some servers, and what stands before them, say that a reply has ended and keep the connection open.

const limits = { llmTimeout: 60_000, idleTimeout: 5_000, maxRetries: 0 }

/** Lets time pass, a little at a time, for less than the idle timeout. */
async function soonOver(clock: FakeClock, running: Promise<Outcome>): Promise<Outcome | 'still waiting'> {
  let outcome: Outcome | undefined
  void running.then((each) => {
    outcome = each
  })
  for (let turns = 0; outcome === undefined && turns < 900; turns++) await clock.elapse(turns % 10 === 0 ? 50 : 0)
  return outcome ?? 'still waiting'
}

async function answerTo(format: WireFormat, reply: GatedReply) {
  const { url, reply: script } = await server()
  const exchange = script(reply)
  const clock = new FakeClock()
  const { runtime } = await stage(format, { url, clock, limits })
  const outcome = await soonOver(clock, runtime.run('Go'))
  return { outcome, exchange, waited: clock.monotonic() }
}

describe.each(formats)('$name', (format) => {
  const chunks = format.encode(answering)

  it('an answer that is whole is not lost, and the connection is left', async () => {
    const { outcome, exchange, waited } = await answerTo(format, { chunks, ending: 'silence' })
    expect(outcome).toMatchObject({ status: 'completed', report: { text: answering.text }, usage: { input: 120, output: 60 } })
    expect(waited).toBeLessThan(limits.idleTimeout)
    expect(await exchange.over).toBe('left')
  })
})

const closing = formats.filter(({ kind }) => kind !== 'google')

describe.each(closing)('$name', (format) => {
  it('what comes behind its end is no part of the answer', async () => {
    const chunks = format.encode(answering)
    const more: readonly PlainChunk[] = chunks.slice(0, -1)
    const { outcome } = await answerTo(format, { chunks: [...chunks, ...more] })
    expect(outcome).toMatchObject({ status: 'completed', report: { text: answering.text } })
  })
})

it('a model of Gemini that gives a reason to finish with each event is heard out', async () => {
  const format = formats.find(({ kind }) => kind === 'google') ?? expect.unreachable()
  const event = (text: string): PlainChunk =>
    `data: ${JSON.stringify({
      candidates: [{ content: { role: 'model', parts: [{ text }] }, finishReason: 'STOP', index: 0 }],
      usageMetadata: { promptTokenCount: 3, candidatesTokenCount: 2, totalTokenCount: 5 },
    })}\r\n\r\n`
  const { outcome } = await answerTo(format, { chunks: [event('Sunny'), event(' for'), event(' days.')] })
  expect(outcome).toMatchObject({ status: 'completed', report: { text: 'Sunny for days.' } })
})
