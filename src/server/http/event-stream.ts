import type { Clock } from '../../contracts/index.ts'

// Server-sent events.
//
// 1. Every item of the source is sent once and in order; the source is released when the reader leaves or the stream ends.
// 2. Items are taken when the reader asks: one that does not read keeps a write and an item (see `carryStream`). A write has the small
//    messages that the source has in one tick.
// 3. An object is encoded once for all readers. Those of large messages share its bytes.
// 4. A reader that asks gets a heartbeat after a silence.
// 5. It fails with its source. The server then sends the error in the form of the protocol (see `carryStream`).

const heartbeatMs = 15_000
const maxWriteBytes = 8 * 1024

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

export function eventStream<Item>(options: EventStreamOptions<Item>): Response {
  const { clock, headers } = options
  const iterator = options.source[Symbol.asyncIterator]()
  let next: Promise<IteratorResult<Item>> | undefined
  /** A message that did not fit into the write before it. */
  let kept: Uint8Array | undefined
  let isOver = false
  let cancelHeartbeat = (): void => {}

  /** The next write. `undefined`: the source has ended. */
  async function write(): Promise<Uint8Array | undefined> {
    const first = kept ?? (await message(orSilence, heartbeat))
    kept = undefined
    if (!first || first.length >= maxWriteBytes) return first
    const messages = [first]
    const endOfTick = new Promise<undefined>((resolve) => process.nextTick(resolve, undefined))
    for (let size = first.length; ; ) {
      // An end or an error is found again by the next write.
      const bytes = await message((item) => Promise.race([item, endOfTick])).catch(() => undefined)
      size += bytes?.length ?? 0
      if (bytes && size <= maxWriteBytes) messages.push(bytes)
      else {
        kept = bytes
        return messages.length === 1 ? first : Buffer.concat(messages)
      }
    }
  }

  /** The next message. `undefined`: there is none. `late`: what is returned after a wait. */
  async function message(orWait: typeof orSilence, late?: Uint8Array): Promise<Uint8Array | undefined> {
    for (;;) {
      next ??= iterator.next()
      const result = await orWait(next)
      if (!result) return late
      if (result.done) return undefined
      const bytes = options.encode(result.value)
      next = undefined
      if (bytes) return bytes
    }
  }

  /** `undefined` after a silence. */
  function orSilence<Result>(promise: Promise<Result>): Promise<Result | undefined> {
    return new Promise((resolve, reject) => {
      cancelHeartbeat = clock.after(heartbeatMs, () => resolve(undefined))
      promise.then(resolve, reject).finally(cancelHeartbeat)
    })
  }

  const body = new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        try {
          const bytes = await write()
          if (isOver) return
          if (bytes) return controller.enqueue(bytes)
          const last = options.end?.()
          isOver = true
          if (last) controller.enqueue(last)
          controller.close()
        } catch (error) {
          if (isOver) return
          isOver = true
          controller.error(error)
        }
        await iterator.return?.()
      },
      async cancel() {
        isOver = true
        cancelHeartbeat()
        options.left?.()
        await iterator.return?.()
      },
    },
    { highWaterMark: 0 },
  )

  return new Response(body, {
    headers: {
      'content-type': 'text/event-stream; charset=utf-8',
      'cache-control': 'no-store',
      'x-accel-buffering': 'no',
      ...headers,
    },
  })
}
