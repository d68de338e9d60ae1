import { describe, expect, it } from 'vitest'
import type { StreamEvent } from '../../src/contracts/index.ts'
import type { RunHandle } from '../../src/runtime/index.ts'
import { FakeClock } from '../../src/testing/index.ts'
import { formats, type WireFormat } from './formats.ts'
import { answering, asking, server, stage, textOf } from './turn.ts'

const limits = { llmTimeout: 60_000, idleTimeout: 5_000, maxRetries: 0 }

/** Reads until an event that is looked for. */
async function until(events: AsyncIterator<StreamEvent>, wanted: (event: StreamEvent) => boolean): Promise<void> {
  for (let next = await events.next(); !next.done; next = await events.next()) if (wanted(next.value)) return
  expect.unreachable('the run ended first')
}
const isText = (event: StreamEvent): boolean => event.type === 'interaction.item.delta' && event.kind === 'text'
const begun = (handle: RunHandle) => handle[Symbol.asyncIterator]()

/** The chunks up to the first one that brings text. */
function opening({ encode }: WireFormat) {
  const chunks = encode(answering)
  return chunks.slice(0, 1 + chunks.findIndex((chunk) => textOf(chunk).includes('Sunny')))
}

describe.each(formats)('$name', (format) => {
  it('silence before the head: it may think as long as an attempt may take, then it is left', async () => {
    const { url, reply } = await server()
    const exchange = reply({ headHeld: true })
    const clock = new FakeClock()
    const { runtime } = await stage(format, { url, clock, limits })
    const handle = runtime.stream('Go')
    await exchange.arrived()
    await clock.elapse(59_999)
    expect(await Promise.race([handle.outcome, 'still waiting'])).toBe('still waiting')
    await clock.elapse(1)
    expect(await handle.outcome).toMatchObject({ status: 'failed', failure: { class: 'timeout', remedy: 'Raise llmTimeout.' } })
    expect(await exchange.over).toBe('left')
  })

  it('silence behind the head: the same', async () => {
    const { url, reply } = await server()
    const exchange = reply({ chunks: [': here\n\n'], ending: 'silence' })
    const clock = new FakeClock()
    const { runtime } = await stage(format, { url, clock, limits })
    const handle = runtime.stream('Go')
    await exchange.sent(1)
    await clock.elapse(60_000)
    expect(await handle.outcome).toMatchObject({ status: 'failed', failure: { class: 'timeout', remedy: 'Raise llmTimeout.' } })
    expect(await exchange.over).toBe('left')
  })

  it('silence behind the first words: given up after the idle timeout, and left', async () => {
    const { url, reply } = await server()
    const exchange = reply({ chunks: opening(format), ending: 'silence' })
    const clock = new FakeClock()
    const { runtime } = await stage(format, { url, clock, limits })
    const handle = runtime.stream('Go')
    await until(begun(handle), isText)
    await clock.elapse(4_999)
    expect(await Promise.race([handle.outcome, 'still waiting'])).toBe('still waiting')
    await clock.elapse(1)
    expect(await handle.outcome).toMatchObject({ status: 'failed', failure: { class: 'timeout', remedy: 'Raise idleTimeout.' } })
    expect(await exchange.over).toBe('left')
  })

  it('silence in the middle of a call: no tool', async () => {
    const { url, reply } = await server()
    const chunks = format.encode(asking)
    const partial = chunks.slice(
      0,
      chunks.findIndex((chunk) => format.terminal.test(textOf(chunk))),
    )
    const exchange = reply({ chunks: partial, ending: 'silence' })
    const clock = new FakeClock()
    const { runtime, ran } = await stage(format, { url, clock, limits })
    const handle = runtime.stream('Go')
    await until(begun(handle), isText)
    await exchange.sent(partial.length)
    await clock.elapse(60_000)
    expect(await handle.outcome).toMatchObject({ status: 'failed', failure: { class: 'timeout' } })
    expect(ran).toEqual([])
    expect(await exchange.over).toBe('left')
  })

  it('words that come one by one, each in time, are waited for', async () => {
    const { url, reply, assertDone } = await server()
    const chunks = format.encode({ ...answering, text: 'One more two more three more.' })
    const exchange = reply({ chunks: chunks.map((held) => ({ held })) })
    const clock = new FakeClock()
    const { runtime } = await stage(format, { url, clock, limits })
    const handle = runtime.stream('Go')
    const events = begun(handle)
    for (const [i, chunk] of chunks.entries()) {
      exchange.release()
      if (!/":"(?:One more |two more |three mor)"/.test(textOf(chunk))) continue
      await exchange.sent(i + 1)
      await until(events, isText)
      await clock.elapse(4_000)
    }
    expect(clock.monotonic()).toBe(12_000)
    expect(await handle.outcome).toMatchObject({ status: 'completed', report: { text: 'One more two more three more.' } })
    assertDone()
  })

  it('a client that leaves closes the connection: before the head, and in the middle of an answer', async () => {
    const { url, reply } = await server()
    const [before, within] = [reply({ headHeld: true }), reply({ chunks: opening(format), ending: 'silence' })]
    const { runtime } = await stage(format, { url, limits })
    const first = runtime.stream('Go')
    await before.arrived()
    await first.interrupt()
    expect(await first.outcome).toMatchObject({ status: 'interrupted', reason: 'interrupted' })
    expect(await before.over).toBe('left')
    const second = runtime.stream('Go')
    await until(begun(second), isText)
    await second.interrupt()
    expect(await second.outcome).toMatchObject({ status: 'interrupted', reason: 'interrupted' })
    expect(await within.over).toBe('left')
  })
})
