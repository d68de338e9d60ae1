// One connection to a server, from its handshake to its loss. It is never opened again: `McpConnection` opens another one.
//
// 1. Every request ends: with its response, its deadline, its signal, or the loss of the connection.
// 2. Deadlines use the clock port. The timeouts of the library are never reached.
import type {
  CallToolResult,
  Client,
  InputRequiredResult,
  McpSubscription,
  RequestOptions,
  StandardSchemaV1,
  Transport,
} from '@modelcontextprotocol/client'
import type { Clock, JsonObject } from '../../contracts/index.ts'
import { rateLimit } from '../../util/rate-limit.ts'
import { cutText } from '../../util/well-formed.ts'
import { type CallQuestions, noQuestions } from './call-questions.ts'
import { httpTransport } from './http-transport.ts'
import { cancelled, failureOf, McpError } from './mcp-failure.ts'
import type { McpHost } from './mcp-host.ts'
import { maxListBytes, maxListed, maxLogCharacters, maxLogLinesPerSecond, maxMessageBytes, maxPages, restartDelay } from './mcp-limits.ts'
import { OpenCalls } from './open-calls.ts'
import type { ResolvedServer } from './resolve-server.ts'
import { type ServerProcess, startServerProcess } from './server-process.ts'
import { StdioTransport, type TransportEvents } from './stdio-transport.ts'

interface RequestLimits {
  readonly signal?: AbortSignal | undefined
  /** Default: the timeout of the server. `none`: the caller has a deadline of its own. */
  readonly timeoutMs?: number | 'none'
}

interface CallRequest {
  readonly name: string
  readonly arguments: JsonObject
  /** The definition that the server listed. */
  readonly definition: JsonObject
  /** The answers to an earlier `input_required`, with its state. */
  readonly responses?: InputResponses
  readonly state?: string
}

export type InputRequests = NonNullable<InputRequiredResult['inputRequests']>
export type InputResponses = { readonly [key: string]: unknown }

/** `input_required`: the server asks, and wants another attempt with the answers. */
export type CallReply =
  | { readonly kind: 'result'; readonly result: CallToolResult }
  | { readonly kind: 'input_required'; readonly requests: InputRequests; readonly state: string | undefined }

interface CallOptions extends RequestLimits {
  readonly questions?: CallQuestions
  readonly onProgress?: (text: string) => void
}

export interface ClientPlace {
  readonly host: McpHost
  /** Whether sessions share it: then nobody can be asked. */
  readonly isShared: boolean
  readonly onToolsChanged: () => void
  readonly onLost: (client: McpClient) => void
}

type LimitedRequest = RequestOptions & { readonly signal: AbortSignal }

/** Longer than any deadline here, and the longest that a timer takes. */
const never = 2 ** 31 - 1

export class McpClient {
  readonly #server: ResolvedServer
  readonly #place: ClientPlace
  readonly #clock: Clock
  readonly #client: Client
  readonly #calls = new OpenCalls()
  readonly #mayLog: () => boolean
  readonly #requests = new Set<AbortController>()
  #transport: Transport | undefined
  #process: ServerProcess | undefined
  #received = 0
  #cancelListening = (): void => {}
  #isConnected = false
  #isLost = false
  #isClosed = false

  private constructor(server: ResolvedServer, place: ClientPlace, client: Client) {
    this.#server = server
    this.#place = place
    this.#clock = place.host.clock
    this.#client = client
    this.#mayLog = rateLimit(maxLogLinesPerSecond, this.#clock)
  }

  /** @throws McpError and errors of the library. Nothing is left of a failed attempt. */
  static async connect(server: ResolvedServer, place: ClientPlace, signal?: AbortSignal): Promise<McpClient> {
    const library = await import('@modelcontextprotocol/client')
    const { name, version } = place.host.client ?? { name: 'troupe', version: '0.1.0' }
    const canAsk = !place.isShared
    const client = new library.Client(
      { name, version },
      {
        capabilities: {
          roots: {},
          ...(canAsk && { sampling: {}, elicitation: { form: { applyDefaults: true }, url: {} } }),
        },
        versionNegotiation: { mode: negotiationOf(server), probe: { timeoutMs: Math.ceil(server.timeoutMs / 3) } },
        inputRequired: { autoFulfill: false },
        listChanged: { tools: { autoRefresh: false, debounceMs: 0, onChanged: () => place.onToolsChanged() } },
      },
    )
    const connection = new McpClient(server, place, client)
    connection.#calls.answer(client, { host: place.host, canAsk, log: (text) => connection.#log(text) })
    try {
      await connection.#within({ signal }, async (options) => {
        connection.#transport = await connection.#open(library)
        await client.connect(connection.#transport, options)
      })
      connection.#isConnected = true
      connection.#keepListening(client.autoOpenedSubscription)
    } catch (error) {
      const reason = await connection.#describeLoss(error)
      await connection.close()
      throw reason
    }
    return connection
  }

  get isUsable(): boolean {
    return !this.#isLost && !this.#isClosed
  }

  get isModern(): boolean {
    return this.#client.getProtocolEra() === 'modern'
  }

  get facts() {
    const { name, version } = this.#client.getServerVersion() ?? {}
    return {
      ...(name !== undefined && { name: cutText(name, maxLogCharacters) }),
      ...(version !== undefined && { version: cutText(version, maxLogCharacters) }),
      protocol: this.#client.getNegotiatedProtocolVersion() ?? '',
      capabilities: (this.#client.getServerCapabilities() ?? {}) as JsonObject,
    }
  }

  get instructions(): string | undefined {
    return this.#client.getInstructions()
  }

  /** Whether the server answers. */
  async ping(limits: RequestLimits = {}): Promise<void> {
    await this.#within(limits, (options) => (this.isModern ? this.#client.discover(options) : this.#client.ping(options)))
  }

  /** Entries of a list, page by page. They are not checked. */
  async list(method: ListMethod, limits: RequestLimits = {}): Promise<{ readonly entries: readonly unknown[]; readonly isCut: boolean }> {
    const key = listKeys[method]
    const entries: unknown[] = []
    const start = this.#received
    let cursor: string | undefined
    for (let page = 0; page < maxPages; page++) {
      const result = await this.#within(limits, (options) =>
        this.#client.request({ method, params: cursor === undefined ? {} : { cursor } }, anyResult, options),
      )
      const found = result[key]
      if (!Array.isArray(found))
        throw new McpError({ class: 'failed', message: `The MCP server "${this.#server.name}" sent no list of ${key}.` })
      const left = maxListed - entries.length
      entries.push(...found.slice(0, left))
      const next = typeof result.nextCursor === 'string' && result.nextCursor !== '' ? result.nextCursor : undefined
      if (next === undefined) return { entries, isCut: found.length > left }
      if (next === cursor || entries.length >= maxListed || this.#received - start > maxListBytes) break
      cursor = next
    }
    return { entries, isCut: true }
  }

  async request(method: string, params: JsonObject, limits: RequestLimits = {}): Promise<JsonObject> {
    return this.#within(limits, (options) => this.#client.request({ method, params } as never, anyResult, options))
  }

  async callTool(call: CallRequest, { questions = noQuestions, onProgress = () => {}, ...limits }: CallOptions): Promise<CallReply> {
    const params = {
      name: call.name,
      arguments: call.arguments,
      ...(call.responses && { inputResponses: call.responses }),
      ...(call.state !== undefined && { requestState: call.state }),
    }
    const send = (options: LimitedRequest): Promise<CallToolResult | InputRequiredResult> =>
      this.#client.callTool(params as never, {
        ...options,
        allowInputRequired: true,
        toolDefinition: call.definition as never,
        onprogress: ({ progress, total, message }) => onProgress(progressText(progress, total, message)),
      })
    const result = await this.#within(limits, (options) =>
      this.#calls.during({ questions, signal: options.signal, onProgress }, () => send(options)),
    )
    if (result.resultType !== 'input_required') return { kind: 'result', result: result as CallToolResult }
    const { inputRequests = {}, requestState } = result as unknown as InputRequiredResult
    return { kind: 'input_required', requests: inputRequests, state: requestState }
  }

  async close(): Promise<void> {
    if (this.#isClosed) return
    this.#isClosed = true
    this.#cancelListening()
    this.#abortAll(new McpError({ class: 'cancelled', message: `The connection to the MCP server "${this.#server.name}" was closed.` }))
    const { terminateSession } = (this.#transport ?? {}) as { terminateSession?(): Promise<void> }
    if (terminateSession) await this.#atMost(1_000, terminateSession.call(this.#transport))
    await this.#atMost(5_000, this.#client.close())
    await this.#transport?.close().catch(() => {})
  }

  async #open(library: typeof import('@modelcontextprotocol/client')): Promise<Transport> {
    const { host } = this.#place
    const events: TransportEvents = {
      onOversized: () => this.#abortAll(this.#oversized()),
      onBytes: (count) => {
        this.#received += count
      },
      onText: (line) => void this.#log(line),
    }
    this.#client.onclose = () => this.#lose()
    this.#client.onerror = (error) => void this.#log(error.message)
    if (this.#server.type !== 'stdio') return httpTransport(this.#server, library, { host, events })
    const started = await startServerProcess(this.#server, host)
    if (this.#isClosed) {
      started.kill()
      throw cancelled(this.#server.name)
    }
    this.#process = started
    return new StdioTransport(this.#process, { clock: this.#clock, events })
  }

  /** Servers of the newer revision report changes over a stream, which proxies like to close. */
  #keepListening(subscription: McpSubscription | undefined, attempt = 0): void {
    void subscription?.closed.then((reason) => {
      if (reason === 'remote') this.#listenAgain(subscription.honoredFilter, attempt)
    })
  }

  #listenAgain(filter: McpSubscription['honoredFilter'], attempt: number): void {
    this.#cancelListening = this.#clock.after(restartDelay(attempt + 1), () => {
      if (!this.isUsable) return
      this.#within({}, (options) => this.#client.listen(filter, options)).then(
        (subscription) => {
          this.#keepListening(subscription, attempt + 1)
          this.#place.onToolsChanged()
        },
        () => this.#listenAgain(filter, attempt + 1),
      )
    })
  }

  /** Returns the shortened line, unless there are too many. */
  #log(line: string): string | undefined {
    if (!this.#mayLog()) return undefined
    const text = cutText(line, maxLogCharacters)
    this.#place.host.log?.(this.#server.name, text)
    return text
  }

  /** Runs a request until its deadline, its signal, or the loss of the connection. */
  async #within<Result>(
    { signal, timeoutMs = this.#server.timeoutMs }: RequestLimits,
    run: (options: LimitedRequest) => Promise<Result>,
  ): Promise<Result> {
    if (this.#isLost || this.#isClosed) throw this.#lost(true)
    if (signal?.aborted) throw cancelled(this.#server.name)
    const controller = new AbortController()
    this.#requests.add(controller)
    const stop = (): void => controller.abort(cancelled(this.#server.name))
    const cancelTimer =
      timeoutMs === 'none' ? undefined : this.#clock.after(timeoutMs, () => controller.abort(timedOut(this.#server.name, timeoutMs)))
    signal?.addEventListener('abort', stop, { once: true })
    const aborted = new Promise<never>((_, reject) => {
      controller.signal.addEventListener('abort', () => reject(controller.signal.reason), { once: true })
    })
    aborted.catch(() => {})
    try {
      return await Promise.race([run({ signal: controller.signal, timeout: never }), aborted])
    } catch (error) {
      throw controller.signal.aborted ? controller.signal.reason : error
    } finally {
      cancelTimer?.()
      signal?.removeEventListener('abort', stop)
      this.#requests.delete(controller)
    }
  }

  #abortAll(reason: McpError): void {
    for (const request of this.#requests) request.abort(reason)
  }

  #lose(): void {
    if (this.#isLost || this.#isClosed) return
    // The library closes the connection before it reports why it cannot connect.
    if (!this.#isConnected && !this.#process) return
    this.#isLost = true
    // The library says why it could not connect.
    if (!this.#isConnected) return
    // The reason of its end follows the end of its output.
    const settle = (): void => {
      this.#abortAll(this.#lost(false))
      this.#place.onLost(this)
    }
    if (this.#process) void this.#process.ended.then(settle)
    else settle()
  }

  #lost(isUnsent: boolean): McpError {
    const effect = isUnsent ? '' : ' Calls that were running may have taken effect.'
    const printed = lastLine(this.#process?.errors() ?? '')
    return new McpError(
      {
        class: 'failed',
        message: `The MCP server "${this.#server.name}" ended or closed the connection.${effect}${printed}`,
        remedy: 'Check whether the call took effect before you repeat it. The server is started again with the next call.',
      },
      { isUnsent },
    )
  }

  async #describeLoss(error: unknown): Promise<unknown> {
    if (error instanceof McpError && error.failure.class === 'cancelled') return error
    // What it printed last may follow its end.
    if (this.#isLost) await this.#process?.ended.then(() => new Promise((resolve) => setImmediate(resolve)))
    const failure = failureOf(error, this.#server.name)
    const printed = lastLine(this.#process?.errors() ?? '')
    if (failure.class === 'auth' || failure.class === 'config' || printed === '' || failure.message.endsWith(printed)) return error
    return new McpError({ ...failure, message: `${failure.message}${printed}` }, { cause: error })
  }

  #oversized(): McpError {
    const message = `The MCP server "${this.#server.name}" sent a message of more than ${maxMessageBytes / 1024 ** 2} MB, which was dropped.`
    return new McpError({ class: 'failed', message, remedy: 'Ask for less in one call.' })
  }

  async #atMost(ms: number, work: Promise<unknown>): Promise<void> {
    let cancel = (): void => {}
    const late = new Promise<void>((resolve) => {
      cancel = this.#clock.after(ms, resolve)
    })
    await Promise.race([work.catch(() => {}), late])
    cancel()
  }
}

const negotiationOf = ({ protocol }: ResolvedServer) =>
  protocol === 'auto' ? 'auto' : protocol === '2025-11-25' ? 'legacy' : { pin: protocol }

function timedOut(name: string, ms: number): McpError {
  const message = `The MCP server "${name}" did not answer within ${ms / 1000} s.`
  return new McpError({ class: 'timeout', message, remedy: 'Ask for less, or set `timeout` of the server.' })
}

/** The last line, or the last one that names an error: below it, programs print where it happened. */
function lastLine(printed: string): string {
  const lines = printed.trim().split('\n')
  const last = (lines.findLast((line) => /\berror\b|Error:/i.test(line)) ?? lines.at(-1) ?? '').trim()
  return last === '' ? '' : ` It printed: ${cutText(last, maxLogCharacters)}`
}

function progressText(progress: number, total: number | undefined, message: string | undefined): string {
  const numbers = total === undefined ? String(progress) : `${progress}/${total}`
  return message === undefined ? numbers : `${cutText(message, maxLogCharacters)} (${numbers})`
}

type ListMethod = keyof typeof listKeys

const listKeys = {
  'tools/list': 'tools',
  'prompts/list': 'prompts',
  'resources/list': 'resources',
  'resources/templates/list': 'resourceTemplates',
} as const

/** The library checks whole lists: one bad tool would cost all tools of a server. */
const anyResult: StandardSchemaV1<unknown, JsonObject> = {
  '~standard': {
    version: 1,
    vendor: 'troupe',
    validate: (value: unknown) => ({ value: (typeof value === 'object' && value !== null ? value : {}) as JsonObject }),
  },
}
