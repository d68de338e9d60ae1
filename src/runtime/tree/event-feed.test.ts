import { describe, expect, it } from 'vitest'
import type { LiveEvent, StreamEvent } from '../../contracts/index.ts'
import { Feed } from './event-feed.ts'

const live = (text: string, offset = 0) =>
  ({ type: 'interaction.item.delta', sessionId: 's', itemId: 'i', attempt: 1, kind: 'text', text, offset }) as LiveEvent
const durable = (seq: number) => ({ type: 'interaction.session.idle', seq }) as StreamEvent

describe('Feed', () => {
  it('gives every event to every reader, whether it waits or lags', async () => {
    const feed = new Feed()
    const [early, late] = [feed.subscribe(), feed.subscribe()]
    const first = early.next()
    feed.publish(durable(1))
    feed.publish(durable(2))
    feed.close()
    expect(await first).toEqual({ value: durable(1), done: false })
    expect([(await early.next()).value, (await early.next()).done]).toEqual([durable(2), true])
    const seen: StreamEvent[] = []
    for await (const event of late) seen.push(event)
    expect(seen).toEqual([durable(1), durable(2)])
  })

  it('ends current and later readers', async () => {
    const feed = new Feed()
    const waiting = feed.subscribe().next()
    feed.close()
    expect((await waiting).done).toBe(true)
    expect((await feed.subscribe().next()).done).toBe(true)
  })

  it('removes readers that leave', async () => {
    const feed = new Feed()
    const leaving = feed.subscribe()
    await leaving.return()
    feed.publish(durable(1))
    expect((await leaving.next()).done).toBe(true)
  })

  it('drops live events, never durable ones, for a reader that lags too far', async () => {
    const feed = new Feed()
    const lagging = feed.subscribe()
    for (let count = 0; count < 10_000; count++) feed.publish(live('x'))
    feed.publish(durable(7))
    feed.close()
    const seen: StreamEvent[] = []
    for await (const event of lagging) seen.push(event)
    expect(seen).toHaveLength(8_193)
    expect(seen.at(-1)).toEqual(durable(7))
  })

  it('lets a reader join at the last event that it has, with the texts so far', async () => {
    const feed = new Feed()
    feed.publish(durable(1))
    feed.publish(live('ab'))
    const [there, early, muted] = [feed.subscribe({ after: 1 }), feed.subscribe({ after: 2 }), feed.subscribe({ after: 1, live: false })]
    feed.publish(live('c', 2))
    feed.publish(durable(2))
    feed.publish(live('d', 3))
    feed.publish({ type: 'interaction.item.completed', sessionId: 's', itemId: 'i', seq: 3 } as StreamEvent)
    const late = feed.subscribe({ after: 3 })
    feed.publish(durable(4))
    feed.close()
    const shown = async (events: AsyncIterable<StreamEvent>) => {
      const seen: unknown[] = []
      for await (const event of events) seen.push('seq' in event ? event.seq : 'text' in event && [event.offset, event.text])
      return seen
    }
    expect(await shown(there)).toEqual([[0, 'ab'], [2, 'c'], 2, [3, 'd'], 3, 4])
    expect(await shown(early)).toEqual([[0, 'abc'], [3, 'd'], 3, 4])
    expect(await shown(muted)).toEqual([2, 3, 4])
    expect(await shown(late)).toEqual([4])
  })

  it('drops the text of an earlier attempt, and keeps only the end of a very long one', async () => {
    const feed = new Feed()
    feed.publish(live('old'))
    feed.publish({ ...live('new'), attempt: 2 } as LiveEvent)
    const piece = 'x'.repeat(1000)
    for (let count = 0; count < 2_000; count++) feed.publish({ ...live(piece, 3 + count * 1000), attempt: 2 } as LiveEvent)
    const { value } = (await feed.subscribe().next()) as { value: { text: string; offset: number } }
    expect(value.offset + value.text.length).toBe(2_000_003)
    expect(value.text.length).toBeGreaterThan(400_000)
    expect(value.text.length).toBeLessThan(1_100_000)
  })
})
