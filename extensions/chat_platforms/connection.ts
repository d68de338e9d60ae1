import type { Adapter, Chat, StateAdapter } from 'chat'
import type { ExtensionContext, HealthReport } from 'troupe/extension'
import { answerWhenStored } from './acknowledge.ts'
import { chatLogger } from './chat-logger.ts'
import type { Access } from './incoming/access.ts'
import { ButtonEvents } from './incoming/button-events.ts'
import { IncomingEvents, linkOf } from './incoming/incoming-events.ts'
import { TooFast } from './outgoing/paced-platform.ts'
import { ThreadOutput } from './outgoing/thread-output.ts'
import { pause } from './pause.ts'
import { type Platform, PlatformProblem } from './platform.ts'
import type { Posts } from './state/posts.ts'
import type { Requests } from './state/requests.ts'

export interface ConnectionOptions {
  readonly context: ExtensionContext
  readonly platform: Platform
  readonly access: Access
  readonly state: StateAdapter
  readonly posts: Posts
  readonly requests: Requests
  readonly Chat: typeof Chat
}

/** `wrong`: a person must correct something. */
type State = { readonly kind: 'connecting' | 'failed' | 'wrong'; readonly message: string } | { readonly kind: 'connected' }

const userName = 'troupe'
const longestDelayMs = 60_000
/** The kernel gives each of them ten seconds. */
const startMs = 5_000
const stopMs = 3_000

/** The platform cannot be reached: the kernel keeps what it sends for as long as that takes. */
class Unreachable extends Error {
  readonly isTemporary = true
}

/** One platform: it connects until it works, hands in what arrives, and sends. */
export class Connection {
  readonly output: ThreadOutput
  readonly #options: ConnectionOptions
  readonly #chat: Chat
  readonly #ended = new AbortController()
  #state: State
  #isInitialized = false
  #isChecking = false
  /** Since it was connected. */
  #problem: PlatformProblem | undefined
  #unroute = (): void => {}

  constructor(options: ConnectionOptions) {
    const { context, platform, state, Chat } = options
    this.#options = options
    this.#state = { kind: 'connecting', message: `${platform.title} is connecting.` }
    this.output = new ThreadOutput({
      ...options,
      now: () => context.now(),
      link: (thread) => linkOf(context, thread),
      report: (error) => context.logger.warn(`${platform.title}: ${messageOf(error)}`),
      learn: (problem) => this.#learn(problem),
    })
    this.#chat = new Chat({
      userName,
      state,
      adapters: { [platform.name]: platform.adapter as Adapter },
      // The default drops what arrives while a handler runs.
      concurrency: 'concurrent',
      logger: chatLogger(context.logger, platform.name),
    })
    const incoming = { ...options, output: this.output }
    const events = new IncomingEvents(incoming)
    events.listen(this.#chat)
    new ButtonEvents(incoming, events).listen(this.#chat)
  }

  get platform(): Platform {
    return this.#options.platform
  }

  /** Resolves when it is connected, or soon: further attempts are made in the background. */
  async start(): Promise<void> {
    const { context, platform } = this.#options
    this.#unroute = context.http?.route(`/${platform.name}`, (request) => this.#webhook(request)) ?? this.#unroute
    await within(startMs, this.#check())
  }

  async stop(): Promise<void> {
    this.#ended.abort()
    this.#unroute()
    await within(stopMs, this.output.settled())
    await within(stopMs, this.#chat.shutdown())
  }

  health(): HealthReport {
    if (this.#state.kind !== 'connected') return { healthy: false, message: this.#state.message }
    return this.#problem ? { healthy: false, message: this.#problem.message } : this.platform.health()
  }

  /** @throws if nothing was ever sent: the kernel tries again later. */
  requireConnected(): void {
    if (!this.#isInitialized && this.#state.kind !== 'connected') throw new Unreachable(this.#state.message)
  }

  /** Sends something. If that fails, it asks whether the platform can be reached at all. */
  async deliver(work: (output: ThreadOutput) => Promise<void>): Promise<void> {
    this.requireConnected()
    try {
      await work(this.output)
    } catch (error) {
      if (error instanceof TooFast) throw error
      if (this.#problem) throw new Unreachable(this.#problem.message, { cause: error })
      void this.#check()
      if (this.#state.kind === 'connected') throw error
      throw new Unreachable(this.#state.message, { cause: error })
    }
  }

  /** Until it can be reached. */
  async #check(): Promise<void> {
    if (this.#isChecking) return
    this.#isChecking = true
    await this.#connect()
    await this.#retry()
    this.#isChecking = false
  }

  #learn(problem: PlatformProblem | undefined): void {
    if (problem && problem.message !== this.#problem?.message) this.#options.context.logger.error(problem.message)
    this.#problem = problem
  }

  async #connect(): Promise<void> {
    const { context, platform } = this.#options
    try {
      await platform.check()
      if (!this.#isInitialized) await this.#chat.initialize()
      this.#isInitialized = true
      if (this.#state.kind !== 'connected') context.logger.info(`${platform.title} is connected.`)
      this.#state = { kind: 'connected' }
    } catch (error) {
      const isWrong = error instanceof PlatformProblem
      const message = isWrong ? error.message : `${platform.title} cannot be reached, and is tried again: ${messageOf(error)}`
      if (this.#state.kind !== 'failed') context.logger[isWrong ? 'error' : 'warn'](message)
      this.#state = { kind: isWrong ? 'wrong' : 'failed', message }
    }
  }

  async #retry(): Promise<void> {
    const { signal } = this.#ended
    for (let failures = 0; this.#state.kind === 'failed'; failures++) {
      await pause(Math.min(longestDelayMs, 1_000 * 2 ** failures), signal)
      if (signal.aborted) return
      await this.#connect()
    }
  }

  #webhook(request: Request): Promise<Response> | Response {
    if (!this.#isInitialized) return new Response('Not connected yet. Deliver it again.', { status: 503 })
    return answerWhenStored((options) => this.platform.adapter.handleWebhook(request, options))
  }
}

async function within(ms: number, work: Promise<unknown>): Promise<void> {
  const timer = new AbortController()
  await Promise.race([work, pause(ms, timer.signal)])
  timer.abort()
}

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error))
