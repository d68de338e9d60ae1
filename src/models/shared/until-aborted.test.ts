import { describe, expect, it } from 'vitest'
import { gate } from '../../testing/index.ts'
import { untilAborted } from './until-aborted.ts'

async function* counting(most: number): AsyncGenerator<number> {
  for (let n = 1; n <= most; n += 1) yield n
}
const signal = new AbortController().signal
async function all(stream: AsyncIterable<number>): Promise<readonly number[]> {
  const found: number[] = []
  for await (const n of stream) found.push(n)
  return found
}

describe('a stream until it is aborted', () => {
  it('brings everything', async () => {
    expect(await all(untilAborted(async () => counting(3), signal))).toEqual([1, 2, 3])
  })

  it('is not opened when it was aborted before', async () => {
    const stream = untilAborted<number>(() => expect.unreachable('opened'), AbortSignal.abort())
    expect(await all(stream)).toEqual([])
  })

  it('ends immediately while the other side is silent, and closes it', async () => {
    const controller = new AbortController()
    const closed = gate()
    const silent: AsyncIterable<number> = {
      [Symbol.asyncIterator]: () => ({
        next: () => new Promise(() => {}),
        return: () => {
          closed.open()
          // It never gets round to it, and nobody waits.
          return new Promise(() => {})
        },
      }),
    }
    const read = all(untilAborted(async () => silent, controller.signal))
    setImmediate(() => controller.abort())
    expect(await read).toEqual([])
    await closed.promise
  })

  it('closes a stream that is opened too late', async () => {
    const controller = new AbortController()
    const opening = Promise.withResolvers<AsyncIterable<number>>()
    const closed = gate()
    const read = all(untilAborted(() => opening.promise, controller.signal))
    controller.abort()
    expect(await read).toEqual([])
    opening.resolve({
      [Symbol.asyncIterator]: () => ({
        next: () => expect.unreachable('read'),
        return: async () => {
          closed.open()
          return { done: true, value: undefined }
        },
      }),
    })
    await closed.promise
  })

  it('rethrows errors of opening and reading', async () => {
    const failing = async function* (): AsyncGenerator<number> {
      yield 1
      throw new Error('broken')
    }
    await expect(all(untilAborted(() => Promise.reject(new Error('shut')), signal))).rejects.toThrow('shut')
    await expect(all(untilAborted(async () => failing(), signal))).rejects.toThrow('broken')
  })

  it('closes the stream when its reader leaves', async () => {
    const closed = gate()
    const stream = async function* (): AsyncGenerator<number> {
      try {
        yield* counting(9)
      } finally {
        closed.open()
      }
    }
    for await (const n of untilAborted(async () => stream(), signal)) if (n === 2) break
    await closed.promise
  })
})
