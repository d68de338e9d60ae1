// A connection that a session keeps: it is opened when it is needed, and opened again after a loss.
//
// 1. At most one client is open or opening.
// 2. A request that may have reached the server is never repeated, unless the caller says that it only reads.
// 3. After a failure, the next attempt waits: longer with each failure in a row. A caller whose deadline comes first fails.
// 4. After a request without an answer, the server is asked for a sign of life before the next one, and replaced if there is none.

import type { Clock } from '../../contracts/index.ts'
import { keepAlive } from '../../util/keep-alive.ts'
import { type ClientPlace, McpClient } from './mcp-client.ts'
import { cancelled, failureOf, isAuthFailure, isPassing, McpError } from './mcp-failure.ts'
import type { McpHost } from './mcp-host.ts'
import { restartDelay } from './mcp-limits.ts'
import type { ResolvedHttp, ResolvedServer } from './resolve-server.ts'

type State =
  | { readonly kind: 'down'; readonly failures: number; readonly retryAt: number }
  | { readonly kind: 'opening'; readonly opened: Promise<McpClient>; readonly stop: AbortController }
  /** `failures`: in a row before it was opened. */
  | { readonly kind: 'open'; readonly client: McpClient; readonly isSilent: boolean; readonly failures: number; readonly since: number }
  | { readonly kind: 'closed' }

/** How often a connection that cannot be reached is tried for one request. */
const mostAttempts = 3
/** For a sign of life. */
const pingMs = 5_000
/** A client that ends sooner is a failure, like one that cannot be opened. */
const stableMs = 10_000

export class McpConnection {
  readonly server: ResolvedServer
  readonly #host: McpHost
  readonly #clock: Clock
  readonly #changed = new Set<() => void>()
  #state: State = { kind: 'down', failures: 0, retryAt: 0 }
  /** Another client may have other tools. */
  #hasBeenOpen = false

  constructor(server: ResolvedServer, host: McpHost) {
    this.server = server
    this.#host = host
    this.#clock = host.clock
  }

  /** Starts to connect. A failure shows at the first use. */
  prepare(): void {
    this.#client().catch(() => {})
  }

  /** Calls the listener when the server reports other tools, and after it was started again. */
  onToolsChanged(listener: () => void): () => void {
    this.#changed.add(listener)
    return () => this.#changed.delete(listener)
  }

  /** `isRepeatable`: a request that only reads. It is tried again if the server cannot be reached. */
  use<Result>(run: (client: McpClient) => Promise<Result>, options: UseOptions = {}): Promise<Result> {
    return whileAlive(() => this.#use(run, options))
  }

  async #use<Result>(run: (client: McpClient) => Promise<Result>, { signal, isRepeatable = false }: UseOptions): Promise<Result> {
    for (let attempt = 1; ; attempt++) {
      const client = await this.#client(signal)
      try {
        const result = await run(client)
        this.#note(client, false)
        return result
      } catch (error) {
        const failure = failureOf(error, this.server.name)
        this.#note(client, failure.class === 'timeout' || failure.class === 'cancelled')
        const isExpired = isExpiredSession(error)
        if (isExpired) await this.#drop(client)
        const mayRepeat = isExpired || (error instanceof McpError && error.isUnsent) || (isRepeatable && isPassing(failure))
        if (!mayRepeat || attempt >= mostAttempts || signal?.aborted) throw error
        await this.#sleep(restartDelay(attempt), signal)
      }
    }
  }

  close(): Promise<void> {
    return whileAlive(() => this.#close())
  }

  async #close(): Promise<void> {
    const state = this.#state
    this.#state = { kind: 'closed' }
    this.#changed.clear()
    if (state.kind === 'open') await state.client.close()
    if (state.kind !== 'opening') return
    state.stop.abort()
    await state.opened.then((client) => client.close()).catch(() => {})
  }

  async #client(signal?: AbortSignal): Promise<McpClient> {
    const state = this.#state
    if (state.kind === 'closed')
      throw new McpError({ class: 'cancelled', message: `The connection to the MCP server "${this.server.name}" is closed.` })
    if (state.kind === 'opening') return this.#await(state.opened, signal)
    if (state.kind === 'open' && state.client.isUsable) {
      if (!state.isSilent || (await this.#isAlive(state.client, signal))) return state.client
      await this.#drop(state.client)
      return this.#client(signal)
    }
    const failures = state.kind === 'down' ? state.failures : 0
    const wait = state.kind === 'down' ? state.retryAt - this.#clock.monotonic() : 0
    if (wait > 0) {
      await this.#sleep(wait, signal)
      return this.#client(signal)
    }
    return this.#await(this.#open(failures), signal)
  }

  #open(failures: number): Promise<McpClient> {
    const stop = new AbortController()
    const opened = this.#connect(stop.signal).then(
      (client) => {
        if (this.#state.kind !== 'closed') this.#state = { kind: 'open', client, isSilent: false, failures, since: this.#clock.monotonic() }
        if (this.#hasBeenOpen) this.#reportChange()
        this.#hasBeenOpen = true
        return client
      },
      (error: unknown) => {
        if (this.#state.kind !== 'closed') this.#state = this.#downAfter(failures + 1)
        throw error
      },
    )
    opened.catch(() => {})
    this.#state = { kind: 'opening', opened, stop }
    return opened
  }

  async #connect(signal: AbortSignal): Promise<McpClient> {
    const place: ClientPlace = {
      host: this.#host,
      isShared: this.server.share === 'process',
      onToolsChanged: () => this.#reportChange(),
      onLost: (client) => this.#lost(client),
    }
    for (let attempt = 1; ; attempt++) {
      try {
        return await McpClient.connect(this.server, place, signal)
      } catch (error) {
        if (signal.aborted || isAuthFailure(error)) throw error
        // A server of the older revision may exit when it gets the request that finds the revision out.
        if (this.server.type === 'stdio' && this.server.protocol === 'auto')
          return McpClient.connect({ ...this.server, protocol: '2025-11-25' }, place, signal)
        if (this.server.type === 'http' && this.server.fallsBack && refusesPost(error))
          return this.#connectOverSse(this.server, { place, signal, refusal: error })
        if (attempt >= mostAttempts || !isPassing(failureOf(error, this.server.name))) throw error
        await this.#sleep(restartDelay(attempt), signal)
      }
    }
  }

  /** As the protocol says: a server that refuses the first POST may be one of the older HTTP with Server-Sent Events. */
  async #connectOverSse(server: ResolvedHttp, { place, signal, refusal }: Refused): Promise<McpClient> {
    try {
      return await McpClient.connect({ ...server, type: 'sse', protocol: '2025-11-25' }, place, signal)
    } catch (error) {
      throw failureOf(error, server.name).class === 'auth' ? error : refusal
    }
  }

  /** The delay before the next start grows while clients end soon after they were opened. */
  #lost(client: McpClient): void {
    const state = this.#state
    if (state.kind === 'open' && state.client === client) {
      const hasWorked = this.#clock.monotonic() - state.since >= stableMs
      this.#state = this.#downAfter(hasWorked ? 1 : state.failures + 1)
    }
    client.close().catch(() => {})
  }

  #downAfter(failures: number): State {
    return { kind: 'down', failures, retryAt: this.#clock.monotonic() + restartDelay(failures) }
  }

  async #drop(client: McpClient): Promise<void> {
    if (this.#state.kind === 'open' && this.#state.client === client) this.#state = { kind: 'down', failures: 0, retryAt: 0 }
    await client.close()
  }

  #note(client: McpClient, isSilent: boolean): void {
    if (this.#state.kind === 'open' && this.#state.client === client && this.#state.isSilent !== isSilent)
      this.#state = { ...this.#state, isSilent }
  }

  async #isAlive(client: McpClient, signal: AbortSignal | undefined): Promise<boolean> {
    try {
      await client.ping({ signal, timeoutMs: Math.min(pingMs, this.server.timeoutMs) })
      this.#note(client, false)
      return true
    } catch (error) {
      if (signal?.aborted) throw error
      // An error is an answer, too.
      return failureOf(error, this.server.name).class === 'failed' && client.isUsable
    }
  }

  #reportChange(): void {
    for (const listener of this.#changed) listener()
  }

  /** The connection goes on without a caller that gives up. */
  #await<Value>(promise: Promise<Value>, signal: AbortSignal | undefined): Promise<Value> {
    if (!signal) return promise
    return new Promise((resolve, reject) => {
      const stop = (): void => reject(cancelled(this.server.name))
      if (signal.aborted) stop()
      signal.addEventListener('abort', stop, { once: true })
      promise.then(resolve, reject).finally(() => signal.removeEventListener('abort', stop))
    })
  }

  #sleep(ms: number, signal: AbortSignal | undefined): Promise<void> {
    let cancel = (): void => {}
    const slept = new Promise<void>((resolve) => {
      cancel = this.#clock.after(ms, resolve)
    })
    return this.#await(slept, signal).finally(() => cancel())
  }
}

/** The server has forgotten the session of the connection, and has not looked at the request. */
const isExpiredSession = (error: unknown): boolean =>
  typeof error === 'object' && error !== null && (error as { status?: unknown }).status === 404

/** Not for want of authorization, and not to be asked later. */
const refusesPost = (error: unknown): boolean => {
  const { status } = (error ?? {}) as { readonly status?: unknown }
  return typeof status === 'number' && status >= 400 && status < 500 && ![401, 403, 408, 429].includes(status)
}

interface Refused {
  readonly place: ClientPlace
  readonly signal: AbortSignal
  readonly refusal: unknown
}

interface UseOptions {
  readonly signal?: AbortSignal | undefined
  readonly isRepeatable?: boolean
}

/** An open connection does not keep this process alive; a request does. */
async function whileAlive<Result>(run: () => Promise<Result>): Promise<Result> {
  const release = keepAlive()
  try {
    return await run()
  } finally {
    release()
  }
}
