import type { Clock } from '../../contracts/index.ts'
import { HttpError } from './http-error.ts'
import type { TokenRegistry } from './tokens.ts'

// Streams that are open: server-sent events of any protocol, WebSockets, sessions of MCP.
//
// 1. There are at most `total`, and `perToken` of one token. Further ones are refused with Retry-After.
// 2. A stream whose token is revoked or expires ends within a second.
// 3. A reader that accepts nothing for `slowReaderMs` is closed. It can continue from its cursor.
// 4. What readers have not accepted has a limited size in the process. Beyond it, those that have accepted nothing for the longest time
//    are cut, but for the only one. Bytes that many readers wait for are stored once, and counted once. Queues of MCP over WebSockets and
//    `/mcp/sse` are included. Those of the library for `/mcp` are not: they have one answer, and progress at a limited rate.

export interface StreamLimits {
  readonly total: number
  readonly perToken: number
}

export const defaultStreamLimits: StreamLimits = { total: 2_000, perToken: 500 }

const checkMs = 500
const slowReaderMs = 30_000
/** For the last message. */
const graceMs = 2_000
const maxUnacceptedBytes = 64 * 1024 ** 2

export interface StreamConnection {
  /** It needs a place. Answers of turns have theirs: see `TurnPlaces`. */
  readonly isCounted: boolean
  /** Tells the client why, and closes. */
  end(error: HttpError): void
  /** Closes immediately. */
  cut(): void
}

export interface OpenStream {
  /** All that the connection was given and has not accepted. Less than before: it has accepted something. */
  holds(bytes: Bytes | undefined): void
  close(): void
}

/** What many streams hold is one object. */
type Bytes = Pick<Uint8Array, 'byteLength'>

interface Entry extends StreamConnection {
  readonly owner: string
  readonly token: string
  bytes: Bytes | undefined
  since: number
  endedAt: number | undefined
}

interface OpenStreamsOptions {
  readonly clock: Pick<Clock, 'after' | 'monotonic'>
  readonly tokens: TokenRegistry
  readonly limits: StreamLimits
  /** For tests. */
  readonly maxUnacceptedBytes?: number
}

export class OpenStreams {
  readonly #options: OpenStreamsOptions
  readonly #entries = new Set<Entry>()
  /** Those that hold bytes, the longest first. */
  readonly #holding = new Set<Entry>()
  readonly #holders = new Map<Bytes, number>()
  #unaccepted = 0
  #cancelCheck: (() => void) | undefined

  constructor(options: OpenStreamsOptions) {
    this.#options = options
  }

  /** Bytes that all streams wait to send, each byte once. */
  get unacceptedBytes(): number {
    return this.#unaccepted
  }

  get size(): number {
    return this.#entries.size
  }

  open(owner: string, token: string, connection: StreamConnection): OpenStream {
    if (connection.isCounted) this.#requirePlace(owner)
    const entry: Entry = { owner, token, ...connection, bytes: undefined, since: 0, endedAt: undefined }
    this.#entries.add(entry)
    this.#cancelCheck ??= this.#checkLater()
    return {
      holds: (bytes) => this.#hold(entry, bytes),
      close: () => this.#remove(entry),
    }
  }

  #requirePlace(owner: string): void {
    const { total, perToken } = this.#options.limits
    const counted = [...this.#entries].filter(({ isCounted }) => isCounted)
    const own = counted.filter((entry) => entry.owner === owner)
    if (own.length < perToken && counted.length < total) return
    const [who, limit] = own.length < perToken ? ['The server', total] : ['This token', perToken]
    throw new HttpError('rate_limited', `${who} has ${limit} open ${limit === 1 ? 'stream' : 'streams'}, which is the limit.`, {
      code: 'too_many_streams',
      remedy: 'Close some, or try again later. The limits are `headends.streams` of the configuration.',
      retryAfterSeconds: 5,
    })
  }

  #hold(entry: Entry, bytes: Bytes | undefined): void {
    // One that has accepted nothing keeps its time, and its place in the order.
    if (!entry.bytes || (bytes?.byteLength ?? 0) < entry.bytes.byteLength) {
      this.#holding.delete(entry)
      entry.since = this.#options.clock.monotonic()
    }
    this.#uncount(entry)
    if (!bytes?.byteLength || !this.#entries.has(entry)) return
    entry.bytes = bytes
    this.#holding.add(entry)
    const holders = this.#holders.get(bytes) ?? 0
    this.#holders.set(bytes, holders + 1)
    if (holders === 0) this.#unaccepted += bytes.byteLength
    const max = this.#options.maxUnacceptedBytes ?? maxUnacceptedBytes
    for (const oldest of this.#holding) {
      if (this.#unaccepted <= max || this.#holding.size === 1) break
      this.#cut(oldest)
    }
  }

  #uncount(entry: Entry): void {
    const { bytes } = entry
    if (!bytes) return
    entry.bytes = undefined
    const left = (this.#holders.get(bytes) ?? 1) - 1
    if (left > 0) this.#holders.set(bytes, left)
    else if (this.#holders.delete(bytes)) this.#unaccepted -= bytes.byteLength
  }

  #remove(entry: Entry): void {
    this.#uncount(entry)
    this.#holding.delete(entry)
    this.#entries.delete(entry)
    if (this.#entries.size > 0) return
    this.#cancelCheck?.()
    this.#cancelCheck = undefined
  }

  #end(entry: Entry, error: HttpError): void {
    if (entry.endedAt !== undefined) return
    entry.endedAt = this.#options.clock.monotonic()
    entry.end(error)
  }

  #cut(entry: Entry): void {
    this.#remove(entry)
    entry.cut()
  }

  #checkLater(): () => void {
    return this.#options.clock.after(checkMs, () => {
      this.#endSlow()
      void this.#endRevoked().finally(() => {
        if (this.#cancelCheck) this.#cancelCheck = this.#checkLater()
      })
    })
  }

  #endSlow(): void {
    const now = this.#options.clock.monotonic()
    for (const entry of this.#entries) {
      if (entry.endedAt !== undefined && now - entry.endedAt >= graceMs) this.#cut(entry)
      else if (entry.bytes && now - entry.since >= slowReaderMs) this.#end(entry, slowReader())
    }
  }

  async #endRevoked(): Promise<void> {
    for (const token of new Set([...this.#entries].map((entry) => entry.token))) {
      // A store that fails says nothing about the token.
      const isValid = await this.#options.tokens.find(token).then(Boolean, () => true)
      if (!isValid) for (const entry of this.#entries) if (entry.token === token) this.#end(entry, tokenRevoked())
    }
  }
}

const slowReader = (): HttpError =>
  new HttpError('unavailable', 'This reader is too slow.', { code: 'slow_reader', remedy: 'Reconnect with Last-Event-ID.' })

const tokenRevoked = (): HttpError =>
  new HttpError('unauthorized', 'The token was revoked or has expired.', { code: 'token_revoked', remedy: 'Use another token.' })
