import { expect, it } from 'vitest'
import type { InteractionEvent, ReadLimits, TreeId, Trees } from '../../contracts/index.ts'
import { FakeClock, gate } from '../../testing/index.ts'
import { JournalPages } from './journal-pages.ts'

const tree = 'tree' as TreeId
const kilobyte = 1024

/** A journal with events of this size. Reads wait for `open` if there is one. */
function stage({ count = 40, size = 32 * kilobyte, open = Promise.resolve() } = {}) {
  const all = Array.from({ length: count }, (_, index) => ({ seq: index + 1, text: 'x'.repeat(size) }) as unknown as InteractionEvent)
  const reads: number[] = []
  /** At pages. */
  const looks = { count: 0 }
  const journal = {
    async read(_: TreeId, after: number, limit?: number | ReadLimits) {
      reads.push(after)
      await open
      const { bytes = 0 } = limit as ReadLimits
      // As a store does: other objects each time.
      const page = all.slice(after, after + Math.ceil(bytes / size)).map((event) => ({ ...event }))
      return new Proxy(page, {
        get(target, name) {
          looks.count += 1
          return Reflect.get(target, name)
        },
      })
    },
  }
  const entry = { createdAt: 1 }
  const trees = { get: async () => entry } as unknown as Trees
  const pages = new JournalPages(() => ({ journal: journal as never, trees }), new FakeClock())
  async function read(after = 0): Promise<readonly InteractionEvent[]> {
    const events: InteractionEvent[] = []
    for await (const event of pages.read(tree, after)) events.push(event)
    return events
  }
  return { all, reads, looks, entry, pages, read }
}

it('reads a page once for readers that come at the same time, and for those that come later', async () => {
  const held = gate()
  const { all, reads, read } = stage({ open: held.promise })
  const readers = [read(), read(), read()]
  held.open()
  const [first, ...others] = await Promise.all(readers)
  expect(first).toEqual(all)
  // The same objects: they are encoded once.
  for (const other of [...others, await read()]) expect(other.every((event, index) => event === first?.[index])).toBe(true)
  // Ten pages of four; beyond the end, each looks for itself.
  expect(reads.filter((after) => after < all.length)).toEqual([0, 4, 8, 12, 16, 20, 24, 28, 32, 36])
})

it('continues in the middle of a page that is known, and then with the pages of others', async () => {
  const { all, reads, read } = stage()
  await read()
  reads.length = 0
  expect(await read(6)).toEqual(all.slice(6))
  expect(reads).toEqual([all.length])
})

it('keeps pages up to a size, those that were used last, and none of a tree that was deleted', async () => {
  const { reads, read, pages } = stage({ count: 2_000 })
  await read()
  reads.length = 0
  // 24 MB are less than 800 events.
  await read(1_300)
  expect(reads).toEqual([2_000])
  await read()
  expect(reads.length).toBeGreaterThan(300)
  pages.forget(tree)
  reads.length = 0
  await read(1_996)
  expect(reads).toEqual([1_996, 2_000])
})

it('reads an event that is larger than a page', async () => {
  const { all, read } = stage({ count: 3, size: 500 * kilobyte })
  expect(await read()).toEqual(all)
})

it('finds one of many pages without a look at the others', async () => {
  const { all, reads, read, looks } = stage({ count: 2_000, size: 300 })
  const recorded = all.splice(0)
  // A reader that follows reads event by event.
  for (const event of recorded) {
    all.push(event)
    await read(event.seq - 1)
  }
  reads.length = 0
  looks.count = 0
  expect(await read()).toEqual(recorded)
  expect(reads).toEqual([recorded.length])
  expect(looks.count).toBeLessThan(10 * recorded.length)
})

it('reads no page of a session that another process has deleted and started again (5)', async () => {
  const { all, read, entry } = stage()
  await read()
  entry.createdAt = 2
  all.splice(0, all.length, { seq: 1, text: 'again' } as unknown as InteractionEvent)
  expect(await read()).toEqual(all)
})
