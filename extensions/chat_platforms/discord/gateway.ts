// The connection over which Discord sends messages and pressed buttons. The one of the adapter forgets what it missed, and cannot be
// pointed at another address.
//
// 1. Events are handled one after the other. The number of an event is stored when it was handled, not before.
// 2. A connection that ends is resumed after the last stored number, also by another process: Discord sends what was missed.
// 3. A session that cannot be resumed begins anew. `onBegin` is called then: something may have been missed.
import type { ExtensionLogger, HealthReport } from 'troupe/extension'

const operations = {
  dispatch: 0,
  heartbeat: 1,
  identify: 2,
  resume: 6,
  reconnect: 7,
  invalidSession: 9,
  hello: 10,
  acknowledged: 11,
} as const
/** Servers, their messages with contents, and direct messages. */
const intents = (1 << 0) | (1 << 9) | (1 << 12) | (1 << 15)
const longestWaitMs = 60_000
/** Of a connection that Discord closes: nothing but a person can help. */
const fatal: { readonly [code: number]: string } = {
  4004: 'Discord does not accept DISCORD_BOT_TOKEN.',
  4014: 'Discord refuses the contents of messages. Turn on Message Content Intent on the page Bot of the application.',
}

interface Packet {
  readonly op: number
  readonly t?: string | null
  readonly s?: number | null
  // biome-ignore lint/suspicious/noExplicitAny: events are as Discord describes them
  readonly d: any
}

export interface Session {
  readonly id: string
  readonly url: string
  readonly sequence: number
}

export interface GatewayOptions {
  readonly token: string
  /** The address to begin at. */
  url(): Promise<string>
  readonly sessions: { load(): Promise<Session | undefined>; store(session: Session | undefined): Promise<void> }
  /** Rejects if it must be sent again. */
  handle(name: string, data: Packet['d']): Promise<void>
  readonly logger: ExtensionLogger
}

export class Gateway {
  readonly #options: GatewayOptions
  #session: Session | undefined
  #socket: WebSocket | undefined
  #heartbeat: NodeJS.Timeout | undefined
  #retry: NodeJS.Timeout | undefined
  #isAlive = true
  #isClosed = false
  #failures = 0
  #problem: string | undefined = 'Discord is not connected yet.'
  #work: Promise<void> = Promise.resolve()

  constructor(options: GatewayOptions) {
    this.#options = options
  }

  get health(): HealthReport {
    return this.#problem === undefined ? { healthy: true } : { healthy: false, message: this.#problem }
  }

  async open(): Promise<void> {
    this.#session = await this.#options.sessions.load()
    await this.#connect()
  }

  async close(): Promise<void> {
    this.#isClosed = true
    clearTimeout(this.#retry)
    this.#drop()
    await this.#work
  }

  async #connect(): Promise<void> {
    if (this.#isClosed) return
    try {
      const url = this.#session?.url ?? (await this.#options.url())
      const socket = new WebSocket(`${url}?v=10&encoding=json`)
      this.#socket = socket
      socket.onmessage = ({ data }) => this.#receive(socket, JSON.parse(String(data)))
      socket.onclose = ({ code }) => this.#closed(socket, code)
      // Followed by `close`.
      socket.onerror = () => undefined
    } catch (error) {
      this.#connectLater(`Discord cannot be reached: ${String(error)}`)
    }
  }

  #closed(socket: WebSocket, code: number): void {
    if (socket !== this.#socket || this.#isClosed) return
    clearInterval(this.#heartbeat)
    const reason = fatal[code]
    if (reason !== undefined) {
      this.#problem = reason
      this.#options.logger.error(reason)
      return
    }
    // Discord knows the session no longer.
    if (code === 4007 || code === 4009) this.#session = undefined
    this.#connectLater(`The connection to Discord has ended (${code}).`)
  }

  #connectLater(problem: string): void {
    this.#problem = problem
    this.#failures++
    const waitMs = this.#failures === 1 ? 0 : Math.min(500 * 2 ** this.#failures, longestWaitMs)
    this.#retry = setTimeout(() => void this.#connect(), waitMs)
  }

  /** Ends the connection, and makes another one. */
  #reconnect(): void {
    this.#drop()
    this.#connectLater('Discord has asked for a new connection.')
  }

  #drop(): void {
    clearInterval(this.#heartbeat)
    const socket = this.#socket
    this.#socket = undefined
    // Another code than 1000 and 1001: the session stays.
    socket?.close(4000)
  }

  #receive(socket: WebSocket, { op, t, s, d }: Packet): void {
    if (socket !== this.#socket) return
    if (op === operations.hello) this.#begin(d.heartbeat_interval)
    if (op === operations.heartbeat) this.#beat()
    if (op === operations.acknowledged) this.#isAlive = true
    if (op === operations.reconnect) this.#reconnect()
    if (op === operations.invalidSession) {
      if (d !== true) this.#session = undefined
      this.#reconnect()
    }
    if (op === operations.dispatch) this.#work = this.#work.then(() => this.#dispatch(socket, { name: t ?? '', sequence: s ?? 0, data: d }))
  }

  #begin(heartbeatMs: number): void {
    this.#isAlive = true
    this.#heartbeat = setInterval(() => {
      if (!this.#isAlive) return this.#reconnect()
      this.#isAlive = false
      this.#beat()
    }, heartbeatMs)
    const { token } = this.#options
    const properties = { os: process.platform, browser: 'troupe', device: 'troupe' }
    if (this.#session === undefined) this.#send(operations.identify, { token, intents, properties })
    else this.#send(operations.resume, { token, session_id: this.#session.id, seq: this.#session.sequence })
  }

  async #dispatch(
    socket: WebSocket,
    { name, sequence, data }: { readonly name: string; readonly sequence: number; readonly data: Packet['d'] },
  ) {
    // What is left of a connection that has ended comes again.
    if (socket !== this.#socket) return
    try {
      if (name === 'READY') this.#session = { id: data.session_id, url: data.resume_gateway_url, sequence }
      if (name === 'READY' || name === 'RESUMED') {
        this.#failures = 0
        this.#problem = undefined
      }
      await this.#options.handle(name, data)
      if (this.#session === undefined) return
      this.#session = { ...this.#session, sequence }
      await this.#options.sessions.store(this.#session)
    } catch (error) {
      this.#options.logger.warn(`An event of Discord was not stored, and comes again: ${String(error)}`)
      if (socket === this.#socket) this.#reconnect()
    }
  }

  #beat(): void {
    this.#send(operations.heartbeat, this.#session?.sequence ?? null)
  }

  #send(op: number, d: unknown): void {
    if (this.#socket?.readyState === WebSocket.OPEN) this.#socket.send(JSON.stringify({ op, d }))
  }
}
