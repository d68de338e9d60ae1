import type { Clock } from '../../contracts/index.ts'

// Server-sent events.
//
// 1. Every item of the source is sent once and in order; the source is released when the reader leaves or the stream ends.
// 2. A reader that does not read does not fill the memory: after `slowReaderMs` it is dropped with an error that says how to resume.
// 3. An object is encoded once for all readers.

const heartbeatMs = 15_000
const slowReaderMs = 30_000
const highWaterBytes = 256 * 1024

export interface SseMessage {
  /** The cursor for `Last-Event-ID`. */
  readonly id?: string
  readonly event?: string
  readonly data: string
}

export interface EventStreamOptions<Item> {
  readonly source: AsyncIterable<Item>
  /** `undefined`: the item is not sent. The bytes of an object may be kept: see `encodedOnce`. */
  encode(item: Item): Uint8Array | undefined
  readonly clock: Clock
  readonly headers?: { readonly [name: string]: string }
  /** The last message, after the source has ended. */
  end?(): Uint8Array | undefined
  /** The last message, if the source fails. */
  failed(error: unknown): Uint8Array
  /** The reader has left before the end. */
  left?(): void
}

const encoder = new TextEncoder()

export function sseBytes({ id, event, data }: SseMessage): Uint8Array {
  const lines = data.includes('\n') || data.includes('\r') ? data.split(/\r\n|\r|\n/) : [data]
  const head = `${id === undefined ? '' : `id: ${id}\n`}${event === undefined ? '' : `event: ${event}\n`}`
  return encoder.encode(`${head}${lines.map((line) => `data: ${line}\n`).join('')}\n`)
}

/** Many readers of one session get the same objects. */
export function encodedOnce<Item extends object>(encode: (item: Item) => Uint8Array | undefined): (item: Item) => Uint8Array | undefined {
  const known = new WeakMap<Item, Uint8Array | null>()
  return (item) => {
    const before = known.get(item)
    if (before !== undefined) return before ?? undefined
    const bytes = encode(item)
    known.set(item, bytes ?? null)
    return bytes
  }
}

const heartbeat = encoder.encode(': heartbeat\n\n')
const tooSlow = sseBytes({
  event: 'error',
  data: JSON.stringify({ error: { code: 'slow_reader', message: 'This reader is too slow. Reconnect with Last-Event-ID.' } }),
})

export function eventStream<Item>(options: EventStreamOptions<Item>): Response {
  const { clock, headers } = options
  const iterator = options.source[Symbol.asyncIterator]()
  let drained: (() => void) | undefined
  let isOver = false
  let cancelHeartbeat = (): void => {}

  const body = new ReadableStream<Uint8Array>(
    {
      start(controller) {
        const beat = (): void => {
          if (isOver) return
          // A reader that is behind gets events, not heartbeats.
          if ((controller.desiredSize ?? 0) > 0) controller.enqueue(heartbeat)
          cancelHeartbeat = clock.after(heartbeatMs, beat)
        }
        cancelHeartbeat = clock.after(heartbeatMs, beat)
        void pump(controller)
      },
      pull() {
        drained?.()
      },
      async cancel() {
        finish()
        options.left?.()
        await iterator.return?.()
      },
    },
    { highWaterMark: highWaterBytes, size: (chunk) => chunk.byteLength },
  )

  const finish = (): void => {
    isOver = true
    cancelHeartbeat()
    drained?.()
  }

  /** `false`: the reader does not read. */
  async function canSend(controller: ReadableStreamDefaultController<Uint8Array>): Promise<boolean> {
    if ((controller.desiredSize ?? 0) > 0) return true
    const late = Promise.withResolvers<boolean>()
    const cancel = clock.after(slowReaderMs, () => late.resolve(false))
    drained = () => late.resolve(true)
    const isDrained = await late.promise
    drained = undefined
    cancel()
    return isDrained
  }

  function drop(controller: ReadableStreamDefaultController<Uint8Array>): void {
    controller.enqueue(tooSlow)
    finish()
    controller.close()
    // Has no effect if the rest was read meanwhile.
    clock.after(slowReaderMs, () => controller.error(new Error('slow reader')))
    options.left?.()
    void iterator.return?.()
  }

  async function pump(controller: ReadableStreamDefaultController<Uint8Array>): Promise<void> {
    const send = (bytes: Uint8Array | undefined): void => {
      if (bytes && !isOver) controller.enqueue(bytes)
    }
    try {
      for (;;) {
        const next = await iterator.next()
        if (isOver) return
        if (next.done) break
        send(options.encode(next.value))
        if (await canSend(controller)) continue
        if (isOver) return
        drop(controller)
        return
      }
      send(options.end?.())
    } catch (error) {
      send(options.failed(error))
    }
    if (isOver) return
    finish()
    controller.close()
    await iterator.return?.()
  }

  return new Response(body, {
    headers: {
      'content-type': 'text/event-stream; charset=utf-8',
      'cache-control': 'no-store',
      'x-accel-buffering': 'no',
      ...headers,
    },
  })
}
