import { describe, it } from 'vitest'
import { type GatedReply, gatedServer } from '../../src/testing/index.ts'
import { formats, type WireFormat } from './formats.ts'
import { answering, asking, brokenOff, expectFailure, expectWhole, type Turn, textOf, turn } from './turn.ts'

// A reply with text and a call is broken off at every place. Whatever has come by then, no tool is run from a part of it.

const encoder = new TextEncoder()
/** What stands behind the data of an event. A reader may do without the last of them. */
const lineBreaks = 2

interface Bytes {
  readonly bytes: Uint8Array
  /** Where each event ends. */
  readonly boundaries: readonly number[]
  /** From here on nothing of the reply is missing. */
  readonly wholeAt: number
}

function bytesOf({ encode, terminal }: WireFormat): Bytes {
  const chunks = encode(asking)
  const written = chunks.map((chunk) => encoder.encode(textOf(chunk)))
  const ends = written.map((_, i) => written.slice(0, i + 1).reduce((sum, { length }) => sum + length, 0))
  const last = chunks.findIndex((chunk) => terminal.test(textOf(chunk)))
  return { bytes: Buffer.concat(written), boundaries: [0, ...ends], wholeAt: ends[last] ?? Number.NaN }
}

async function turnWith(format: WireFormat, first: GatedReply): Promise<Turn> {
  const server = await gatedServer()
  try {
    server.reply(first)
    server.reply({ chunks: format.encode(answering) })
    return await turn(format, { url: server.url })
  } finally {
    await server.close()
  }
}

/** Some at a time: enough to keep both ends busy. */
async function each<T>(items: readonly T[], work: (item: T) => Promise<void>): Promise<void> {
  const left = [...items]
  const worker = async (): Promise<void> => {
    for (let next = left.shift(); next !== undefined; next = left.shift()) await work(next)
  }
  await Promise.all(Array.from({ length: 8 }, worker))
}

describe.each(formats)('$name', (format) => {
  const { bytes, boundaries, wholeAt } = bytesOf(format)
  const until = (end: number) => [bytes.subarray(0, end)]
  const inside = boundaries.filter((end) => end < wholeAt)
  const behind = boundaries.filter((end) => end >= wholeAt)

  it('uninterrupted: the tool runs once with all its arguments, and the answer comes', async () => {
    expectWhole(await turnWith(format, { chunks: [bytes] }))
  })

  it(`cut at each of ${inside.length} places between two events: a typed failure, no tool`, async () => {
    await each(inside, async (end) => expectFailure(await turnWith(format, { chunks: until(end), ending: 'cut' }), 'network'))
  })

  it(`ended early, but properly, at each of ${inside.length} places between two events: a typed failure, no tool`, async () => {
    await each(inside, async (end) => expectFailure(await turnWith(format, { chunks: until(end) }), brokenOff))
  })

  it('ended properly behind its terminal event: it is whole', async () => {
    await each(behind, async (end) => expectWhole(await turnWith(format, { chunks: until(end) })))
  })

  // In the long form at every place that there is.
  const [cuts, ends] = process.env.TROUPE_FULL ? [1, 2] : [71, 113]
  it.each([
    ['cut', cuts],
    ['end', ends],
  ] as const)(
    `%s at each %ith of ${bytes.length} bytes: a typed failure and no tool, or whole where nothing is missing`,
    async (...how) => {
      const [ending, step] = how
      const places = Array.from({ length: Math.ceil(bytes.length / step) }, (_, i) => i * step)
      await each(places, async (end) => {
        const result = await turnWith(format, { chunks: until(end), ending })
        if (end >= wholeAt - lineBreaks && result.outcome.status === 'completed') expectWhole(result)
        else expectFailure(result, ending === 'cut' ? 'network' : brokenOff)
      })
    },
    process.env.TROUPE_FULL ? 600_000 : 60_000,
  )
})
