import type { TimeSlices } from '../../util/time-slices.ts'
import type { OpenStream, StreamConnection } from './open-streams.ts'

export interface CarryOptions {
  /** Throws if there is no place for it. */
  open(connection: Omit<StreamConnection, 'isCounted'>): OpenStream
  readonly slices: TimeSlices
  /** Why it ends early: its source has failed, or its connection is closed. */
  lastMessage(error: unknown): Uint8Array
  /** Closes the connection below it. */
  readonly cut?: (() => void) | undefined
  /** It has been sent, or its reader has left. */
  done(status: number): void
  /** Aborted when the client disconnects, which may be before anybody reads the body; nobody would end it then. */
  readonly signal: AbortSignal
}

/** A reader that reads slowly accepts a part of a large event before it is taken for one that does not read. */
const maxPartBytes = 256 * 1024

/** The type is tested first: a text becomes a stream when somebody asks for the body. */
export const isEventStream = (response: Response): boolean =>
  response.headers.get('content-type')?.startsWith('text/event-stream') === true && response.body !== null

/**
 * Sends a stream of events: one part after another, each when the connection has accepted the one before. Nothing is buffered, so that
 * the source waits for a slow reader.
 */
export function carryStream(response: Response, options: CarryOptions): Response {
  const { status, headers } = response
  const { slices, signal, cut } = options
  let last: { readonly bytes: Uint8Array; isSent: boolean } | undefined
  let controller: ReadableStreamDefaultController<Uint8Array> | undefined
  let chunk: Uint8Array | undefined
  let sent = 0
  let isDone = false
  const finish = (): void => {
    if (isDone) return
    isDone = true
    stream.close()
    signal.removeEventListener('abort', leave)
    options.done(status)
  }
  const leave = (): void => {
    finish()
    reader.cancel().catch(() => {})
  }
  const endWith = (error: unknown): void => {
    last = { bytes: options.lastMessage(error), isSent: false }
  }
  const stream = openOr(
    () => void response.body?.cancel().catch(() => {}),
    () =>
      options.open({
        end(error) {
          endWith(error)
          reader.cancel().catch(() => {})
        },
        cut() {
          leave()
          if (cut) cut()
          else controller?.error(new Error('The connection was cut.'))
        },
      }),
  )

  const reader = (response.body as ReadableStream<Uint8Array>).getReader()

  /** The next part of the chunk that is being sent. */
  function nextPart(): Uint8Array | undefined {
    const part = chunk && chunk.length > maxPartBytes ? chunk.subarray(sent, sent + maxPartBytes) : chunk
    sent += part?.length ?? 0
    return part
  }

  /** `undefined`: the end. */
  async function next(): Promise<Uint8Array | undefined> {
    if (last?.isSent) return undefined
    await slices.turn()
    // A last message inside of an event would be read as part of it; readers ignore an event that is cut off.
    if (chunk && sent < chunk.length) return last ? undefined : nextPart()
    const value = last ? undefined : await reader.read().then((read) => read.value, endWith)
    ;[chunk, sent] = [last ? last.bytes : (value ?? undefined), 0]
    if (last) last.isSent = true
    return nextPart()
  }

  const body = new ReadableStream<Uint8Array>(
    {
      start(own) {
        controller = own
      },
      async pull(own) {
        stream.holds(undefined)
        try {
          const bytes = await next()
          if (bytes && !isDone) {
            // All parts are those of one object, which many readers share.
            stream.holds(chunk)
            return own.enqueue(bytes)
          }
          own.close()
        } catch (error) {
          own.error(error)
        }
        finish()
      },
      cancel: leave,
    },
    { highWaterMark: 0 },
  )
  if (signal.aborted) leave()
  else signal.addEventListener('abort', leave)
  return new Response(body, { status, headers })
}

function openOr(refused: () => void, open: () => OpenStream): OpenStream {
  try {
    return open()
  } catch (error) {
    refused()
    throw error
  }
}
