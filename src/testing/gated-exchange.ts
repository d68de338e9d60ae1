// 1. A reply is requested at most once, and ends once: whole, cut by its script, left by the client, or closed.
// 2. A chunk is sent when the system has accepted all of it; the next one follows after that.
// 3. Each held chunk uses one release, given before or after it was reached.
// 4. Waiting for something that can no longer happen rejects.
import type { ServerResponse } from 'node:http'
import { TroupeError } from '../contracts/index.ts'

export interface GatedRequest {
  readonly method: string
  /** With its query. */
  readonly path: string
  /** With names in lower case. */
  readonly headers: { readonly [name: string]: string }
  /** Parsed if it is JSON, otherwise the text. */
  readonly body: unknown
}

/**
 * `cut` destroys the connection after the last chunk. `silence` keeps it open and sends nothing more. `repeat` sends one chunk again and
 * again, until the client leaves or `mostBytes` (default 64 MiB) are sent.
 */
export type GatedEnding = 'end' | 'cut' | 'silence' | { readonly repeat: GatedChunk; readonly mostBytes?: number }

export interface GatedReply {
  /** Default 200. */
  readonly status?: number
  /** `content-type` is `text/event-stream` unless it is given. */
  readonly headers?: { readonly [name: string]: string }
  /** The status line and the headers need a release, too. */
  readonly headHeld?: boolean
  readonly chunks?: readonly GatedChunk[]
  /** Default `end`. */
  readonly ending?: GatedEnding
  /** Throws if the request is not as expected. */
  check?(request: GatedRequest): void
}

/** How a reply ended: sent whole, cut by its script, left by the client, or closed with the server or because of a wrong request. */
export type GatedEnd = 'whole' | 'cut' | 'left' | 'closed'

/** One reply of the script, controlled by the test. */
export interface GatedExchange {
  readonly chunksSent: number
  readonly bytesSent: number
  /** The request of this reply. Rejects if none can arrive any more. */
  arrived(): Promise<GatedRequest>
  /** Resolves when this many chunks are sent. Rejects if they cannot be sent any more. */
  sent(chunks: number): Promise<void>
  /** Releases the next held chunks. Default: one. */
  release(chunks?: number): void
  /** Destroys the connection now. */
  cut(): void
  /** Never rejects. */
  readonly over: Promise<GatedEnd>
}

type State =
  | { readonly kind: 'waiting' }
  | { readonly kind: 'playing'; readonly request: GatedRequest; readonly response: ServerResponse }
  | { readonly kind: 'over'; readonly request: GatedRequest | undefined; readonly end: GatedEnd }

interface EncodedChunk {
  readonly isHeld: boolean
  readonly bytes: Uint8Array
}

interface Waiter {
  readonly isServed: () => boolean
  readonly resolve: () => void
  readonly reject: (error: TroupeError) => void
  readonly what: string
}

const defaultMaxBytes = 64 * 1024 * 1024

export class Exchange implements GatedExchange {
  readonly reply: GatedReply
  readonly over: Promise<GatedEnd>
  readonly #place: string
  readonly #script: readonly EncodedChunk[]
  readonly #end: (end: GatedEnd) => void
  #state: State = { kind: 'waiting' }
  chunksSent = 0
  bytesSent = 0
  #releases = 0
  #waiters: readonly Waiter[] = []
  #held: (() => void) | undefined

  constructor(place: string, reply: GatedReply) {
    const { promise, resolve } = Promise.withResolvers<GatedEnd>()
    this.#place = place
    this.reply = reply
    // Encoded here, so that invalid chunks throw in the test.
    this.#script = (reply.chunks ?? []).map(encoded)
    this.over = promise
    this.#end = resolve
  }

  async arrived(): Promise<GatedRequest> {
    await this.#until('its request', () => this.#request !== undefined)
    return this.#request as GatedRequest
  }

  sent(chunks: number): Promise<void> {
    return this.#until(`chunk ${chunks}`, () => this.chunksSent >= chunks)
  }

  release(chunks = 1): void {
    this.#releases += chunks
    this.#held?.()
  }

  cut(): void {
    const state = this.#state
    this.#conclude('cut')
    if (state.kind === 'playing') state.response.destroy()
  }

  /** Answers the request. Rejects if status or headers are invalid. */
  async play(request: GatedRequest, response: ServerResponse): Promise<void> {
    if (this.#state.kind === 'over') {
      response.destroy()
      return
    }
    this.#state = { kind: 'playing', request, response }
    response.on('error', () => {})
    response.once('close', () => this.#conclude(response.writableFinished ? 'whole' : 'left'))
    this.#serve()
    if (this.reply.headHeld && !(await this.#released())) return
    // One connection for each reply, so that a cut does not affect others.
    response.shouldKeepAlive = false
    response.writeHead(this.reply.status ?? 200, headersOf(this.reply))
    response.flushHeaders()
    for (const chunk of this.#script) if (!(await this.#write(chunk, response))) return
    await this.#finish(response)
  }

  close(): void {
    this.#conclude('closed')
  }

  get #request(): GatedRequest | undefined {
    return this.#state.kind === 'waiting' ? undefined : this.#state.request
  }

  async #finish(response: ServerResponse): Promise<void> {
    const ending = this.reply.ending ?? 'end'
    if (ending === 'end') response.end()
    else if (ending === 'cut') this.cut()
    else if (ending !== 'silence') {
      const most = ending.mostBytes ?? defaultMaxBytes
      const chunk = encoded(ending.repeat)
      while (this.bytesSent < most) if (!(await this.#write(chunk, response))) return
      this.cut()
    }
  }

  async #write({ isHeld, bytes }: EncodedChunk, response: ServerResponse): Promise<boolean> {
    if (isHeld && !(await this.#released())) return false
    if (bytes.length > 0) await taken(bytes, response)
    if (this.#state.kind === 'over') return false
    this.chunksSent += 1
    this.bytesSent += bytes.length
    this.#serve()
    return true
  }

  /** Waits for a release. `false`: the reply is over. */
  async #released(): Promise<boolean> {
    while (this.#releases < 1 && this.#state.kind !== 'over') {
      const { promise, resolve } = Promise.withResolvers<void>()
      this.#held = resolve
      await promise
    }
    this.#releases -= 1
    return this.#state.kind !== 'over'
  }

  #conclude(end: GatedEnd): void {
    if (this.#state.kind === 'over') return
    this.#state = { kind: 'over', request: this.#request, end }
    this.#end(end)
    this.#held?.()
    this.#serve()
  }

  #until(what: string, isServed: () => boolean): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#waiters = [...this.#waiters, { what, isServed, resolve, reject }]
      this.#serve()
    })
  }

  #serve(): void {
    const state = this.#state
    const waiters = this.#waiters
    this.#waiters = waiters.filter(({ isServed }) => !isServed() && state.kind !== 'over')
    for (const { what, isServed, resolve, reject } of waiters) {
      if (isServed()) resolve()
      else if (state.kind === 'over')
        reject(tooLate(`${this.#place}: ${what} can no longer arrive`, { end: state.end, chunks: this.chunksSent }))
    }
  }
}

const encoded = (chunk: GatedChunk): EncodedChunk => ({ isHeld: isHeld(chunk), bytes: bytesOf(chunk) })

function tooLate(what: string, { end, chunks }: { end: GatedEnd; chunks: number }): TroupeError {
  const how = { whole: 'sent whole', cut: 'cut by its script', left: 'left by the client', closed: 'closed' }[end]
  return new TroupeError('script_mismatch', `${what}: the reply was ${how} after ${chunks === 1 ? '1 chunk' : `${chunks} chunks`}.`)
}

function headersOf({ headers = {} }: GatedReply): { readonly [name: string]: string } {
  const isTyped = Object.keys(headers).some((name) => name.toLowerCase() === 'content-type')
  return isTyped ? headers : { 'content-type': 'text/event-stream; charset=utf-8', ...headers }
}

/** Waits while the client does not read; ends when it leaves. */
function taken(bytes: Uint8Array, response: ServerResponse): Promise<void> {
  if (response.destroyed) return Promise.resolve()
  return new Promise((resolve) => {
    response.once('close', resolve)
    response.write(bytes, () => {
      response.off('close', resolve)
      resolve()
    })
  })
}

/** One server-sent event. A string is sent as is, anything else as JSON. */
export interface SseEvent {
  readonly event?: string
  readonly id?: string
  readonly data: unknown
}

export type PlainChunk = string | Uint8Array | SseEvent
/** What is sent together. A held chunk, and all chunks after it, wait until the test releases it. */
export type GatedChunk = PlainChunk | { readonly held: PlainChunk }

function isHeld(chunk: GatedChunk): chunk is { readonly held: PlainChunk } {
  return typeof chunk === 'object' && 'held' in chunk
}

function bytesOf(chunk: GatedChunk): Uint8Array {
  if (isHeld(chunk)) return bytesOf(chunk.held)
  if (chunk instanceof Uint8Array) return chunk
  return encoder.encode(typeof chunk === 'string' ? chunk : textOf(chunk))
}

const encoder = new TextEncoder()

function textOf({ event, id, data }: SseEvent): string {
  const text = typeof data === 'string' ? data : JSON.stringify(data)
  const lines = [
    ...(event === undefined ? [] : [`event: ${event}`]),
    ...(id === undefined ? [] : [`id: ${id}`]),
    ...text.split(/\r\n|\r|\n/).map((line) => `data: ${line}`),
  ]
  return `${lines.join('\n')}\n\n`
}
