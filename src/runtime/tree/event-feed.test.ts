import { describe, expect, it } from 'vitest'
import type { LiveEvent, StreamEvent } from '../../contracts/index.ts'
import { Feed } from './event-feed.ts'

const live = (text: string) => ({ type: 'interaction.item.delta', text }) as LiveEvent
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
})
