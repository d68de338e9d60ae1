import type { Clock } from '../../contracts/index.ts'

/** Longer without a byte, and proxies give up: from then on heartbeats are sent. */
const maxWaitMs = 15_000

/**
 * Waits for the first item of a stream. An error before it is thrown, so that the client gets it with its status; later errors can
 * only be sent in the stream. After 15 seconds the stream begins without an item.
 */
export async function afterFirst<Item>(source: AsyncIterable<Item>, clock: Pick<Clock, 'after'>): Promise<AsyncIterable<Item>> {
  const iterator = source[Symbol.asyncIterator]()
  const first = iterator.next()
  const late = Promise.withResolvers<void>()
  const cancel = clock.after(maxWaitMs, late.resolve)
  try {
    await Promise.race([first, late.promise])
  } finally {
    cancel()
  }
  let isFirst = true
  return {
    [Symbol.asyncIterator]: () => ({
      next() {
        if (!isFirst) return iterator.next()
        isFirst = false
        return first
      },
      return: async () => (await iterator.return?.()) ?? { value: undefined, done: true },
    }),
  }
}
