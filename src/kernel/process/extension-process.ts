// The connection to the process of an extension. Nothing that it sends is trusted.
//
// 1. Each call settles once: with the answer, at its deadline, after its signal, or when the process ends.
// 2. A message that breaks the protocol ends the process. The reason says what it was.
// 3. Requests of the process run in the async context of the call that they name, so the kernel finds that call.
// 4. A call that passed its deadline is followed by a ping. A process that does not answer it is ended.
import { AsyncLocalStorage } from 'node:async_hooks'
import { type Clock, TroupeError } from '../../contracts/index.ts'
import type { RunningCommand } from '../../tools/sandbox/index.ts'
import { asSentence } from '../../util/as-sentence.ts'
import { messageOf } from '../../util/message-of.ts'
import { cutText } from '../../util/well-formed.ts'
import { WorkingTime } from '../shared/working-time.ts'
import { decodeMessage } from './decode-message.ts'
import {
  endByItselfMs,
  graceMs,
  maxBytesPerSecond,
  maxMessagesPerSecond,
  maxOpenCalls,
  maxUnsentBytes,
  pingMs,
  terminateMs,
} from './process-limits.ts'
import { errorCode, LineReader, maxErrorCharacters, maxLineBytes, maxOpenRequests, type WireMessage } from './runner/wire.ts'

export type Params = { readonly [name: string]: unknown }

/** What the extension asks for. `Owner`: what the caller attached to the call that the notification names. */
interface ProcessEvents<Owner> {
  request(method: string, params: Params, signal: AbortSignal): Promise<unknown>
  /** @throws if it is wrong: then the process is ended. */
  notification(method: string, params: Params, owner: Owner | undefined): void
}

interface OpenCall<Owner> extends PromiseWithResolvers<unknown> {
  readonly owner: Owner | undefined
  readonly time: WorkingTime
  /** Runs a function in the async context of the caller. */
  readonly inContext: <Result>(run: () => Result) => Result
  isAbandoned: boolean
}

interface CallOptions<Owner> {
  readonly deadlineMs: number
  readonly signal?: AbortSignal
  /** To answer after the signal has aborted. */
  readonly graceMs?: number
  readonly owner?: Owner
}

/** Lines of Node itself in what a process printed at its end. */
const ofNode = /^ +at .*\bnode:.*\n?|^Node\.js v.*\n?/gm

export class ExtensionProcess<Owner> {
  /** Resolves with the reason. */
  readonly ended: Promise<string>
  readonly #running: RunningCommand
  readonly #pipes: NonNullable<RunningCommand['pipes']>
  readonly #clock: Clock
  readonly #events: ProcessEvents<Owner>
  readonly #calls = new Map<number, OpenCall<Owner>>()
  readonly #requests = new Map<number, AbortController>()
  readonly #lines: LineReader
  #state: { readonly kind: 'open' } | { readonly kind: 'closed' | 'failed'; readonly reason: string } = { kind: 'open' }
  #lastCall = 0
  #window = { since: 0, messages: 0, bytes: 0 }
  #isPinging = false

  constructor(running: RunningCommand, options: { readonly clock: Clock; readonly events: ProcessEvents<Owner> }) {
    if (!running.pipes) throw new Error('the process was started without pipes')
    this.#running = running
    this.#pipes = running.pipes
    this.#clock = options.clock
    this.#events = options.events
    this.#lines = new LineReader(
      (line) => this.#take(line),
      () => this.fail(`it sent a line of more than ${maxLineBytes / 1024 ** 2} MB`),
    )
    this.#pipes.stdout.on('data', (chunk: Buffer) => this.#read(chunk))
    this.ended = running.ended.then(({ limit, signal, exitCode }) => {
      const how =
        limit === undefined ? `its process ended with ${signal ? `signal ${signal}` : `exit code ${exitCode}`}` : `it used ${limit}`
      if (this.#state.kind === 'open') this.#end({ kind: 'failed', reason: how })
      return this.#reason()
    })
  }

  async call(method: string, params: Params, options: CallOptions<Owner>): Promise<unknown> {
    const { signal, deadlineMs } = options
    if (this.#state.kind !== 'open') throw new Error(this.#reason())
    signal?.throwIfAborted()
    if (this.#calls.size >= maxOpenCalls && method !== 'ping') throw this.#overload()
    const id = ++this.#lastCall
    const call = this.#open(id, method, options)
    const abort = (): void => this.#abort(id, options.graceMs ?? graceMs)
    signal?.addEventListener('abort', abort, { once: true })
    try {
      this.#send({ jsonrpc: '2.0', id, method, params })
      return await call.promise
    } finally {
      signal?.removeEventListener('abort', abort)
      call.time.end()
      if (deadlineMs !== Number.POSITIVE_INFINITY && call.isAbandoned) void this.#ping()
    }
  }

  /** Ends the process because of something that it did. */
  fail(reason: string): void {
    if (this.#state.kind !== 'open') return
    this.#end({ kind: 'failed', reason })
    this.#running.kill()
  }

  async close(): Promise<void> {
    if (this.#state.kind === 'open') this.#end({ kind: 'closed', reason: 'it was stopped' })
    this.#pipes.stdin.end()
    if (await this.#endsWithin(endByItselfMs)) return
    this.#running.terminate()
    if (await this.#endsWithin(terminateMs)) return
    this.#running.kill()
    await this.#running.ended
  }

  #open(id: number, method: string, { owner, deadlineMs }: CallOptions<Owner>): OpenCall<Owner> {
    const late = (): void => {
      this.#cancel(id)
      this.#abandon(id, new Error(`\`${method}\` did not end within ${deadlineMs} ms`))
    }
    const call: OpenCall<Owner> = {
      ...Promise.withResolvers<unknown>(),
      owner,
      time: new WorkingTime(this.#clock, deadlineMs, late),
      inContext: AsyncLocalStorage.snapshot() as OpenCall<Owner>['inContext'],
      isAbandoned: false,
    }
    // The caller gets it from `call`, also if sending fails.
    call.promise.catch(() => {})
    this.#calls.set(id, call)
    return call
  }

  #cancel(id: number): void {
    this.#send({ jsonrpc: '2.0', method: 'cancel', params: { id } })
  }

  #abort(id: number, ms: number): void {
    this.#cancel(id)
    this.#clock.after(ms, () => this.#abandon(id, new Error('it was cancelled')))
  }

  /** The answer may still come. */
  #abandon(id: number, reason: Error): void {
    const call = this.#calls.get(id)
    if (!call || call.isAbandoned) return
    call.isAbandoned = true
    call.reject(reason)
  }

  async #ping(): Promise<void> {
    if (this.#isPinging || this.#state.kind !== 'open') return
    this.#isPinging = true
    try {
      await this.call('ping', {}, { deadlineMs: pingMs })
      this.#isPinging = false
    } catch {
      this.fail(`it is blocked: it did not answer for ${pingMs} ms`)
    }
  }

  #overload(): Error {
    const abandoned = [...this.#calls.values()].filter(({ isAbandoned }) => isAbandoned)
    if (abandoned.length >= maxOpenCalls) this.fail(`it left ${maxOpenCalls} calls without an answer`)
    return new Error(`it has not answered ${maxOpenCalls} other calls`)
  }

  #send(message: WireMessage): void {
    if (this.#state.kind !== 'open') return
    const { stdin } = this.#pipes
    if (stdin.writableLength > maxUnsentBytes) this.fail('it does not read its input')
    else if (stdin.writable) stdin.write(`${JSON.stringify(message)}\n`)
  }

  #read(chunk: Buffer): void {
    if (this.#state.kind !== 'open') return
    const now = this.#clock.monotonic()
    if (now - this.#window.since >= 1_000) this.#window = { since: now, messages: 0, bytes: 0 }
    this.#window.bytes += chunk.length
    this.#lines.read(chunk)
    if (this.#window.messages <= maxMessagesPerSecond && this.#window.bytes <= maxBytesPerSecond) return
    this.#pipes.stdout.pause()
    this.#clock.after(1_000, () => this.#pipes.stdout.resume())
  }

  #take(line: string): void {
    if (this.#state.kind !== 'open') return
    try {
      const decoded = decodeMessage(line)
      if (decoded.ok) this.#understand(decoded.message)
      else this.fail(decoded.reason)
    } catch (error) {
      this.fail(`it sent a wrong message: ${messageOf(error)}`)
    }
  }

  #understand({ id, method, params, result, error }: WireMessage): void {
    if (method === undefined) {
      this.#answered(id, result, error)
      return
    }
    this.#window.messages++
    const given: Params = params ?? {}
    const call = this.#calls.get(given.call as number)
    if (id !== undefined) this.#requested({ id, method, params: given }, call)
    else if (method === 'cancel') this.#requests.get(given.id as number)?.abort()
    else if (call) call.inContext(() => this.#events.notification(method, given, call.owner))
    else this.#events.notification(method, given, undefined)
  }

  #answered(id: number | undefined, result: unknown, error: WireMessage['error']): void {
    const call = this.#calls.get(id ?? 0)
    if (!call || id === undefined) throw new Error('it answers a call that does not exist')
    this.#calls.delete(id)
    if (error === undefined) call.resolve(result)
    else call.reject(new Error(cutText(typeof error?.message === 'string' ? error.message : 'it failed', maxErrorCharacters)))
  }

  #requested(
    { id, method, params }: { readonly id: number; readonly method: string; readonly params: Params },
    call: OpenCall<Owner> | undefined,
  ): void {
    if (!Number.isSafeInteger(id) || this.#requests.has(id)) throw new Error('the `id` of a request is wrong')
    if (this.#requests.size >= maxOpenRequests) throw new Error(`there are more than ${maxOpenRequests} requests at once`)
    const controller = new AbortController()
    this.#requests.set(id, controller)
    call?.time.pause()
    const run = (): Promise<unknown> => this.#events.request(method, params, controller.signal)
    const answer = (message: Pick<WireMessage, 'result' | 'error'>): void => {
      this.#requests.delete(id)
      call?.time.resume()
      this.#send({ jsonrpc: '2.0', id, ...message })
    }
    const failed = (error: unknown): void => answer({ error: { code: errorCode, message: withRemedy(error) } })
    void (call ? call.inContext(run) : run()).then((result) => answer({ result: result ?? null }), failed).catch(failed)
  }

  #end(state: { readonly kind: 'closed' | 'failed'; readonly reason: string }): void {
    this.#state = state
    for (const call of this.#calls.values()) call.reject(new Error(this.#reason()))
    for (const controller of this.#requests.values()) controller.abort()
    this.#calls.clear()
  }

  #reason(): string {
    const errors = this.#pipes.errors().replace(ofNode, '').trim()
    const reason = this.#state.kind === 'open' ? '' : this.#state.reason
    return errors === '' ? reason : `${reason}. It printed: ${errors}`
  }

  #endsWithin(ms: number): Promise<boolean> {
    return new Promise((resolve) => {
      const cancel = this.#clock.after(ms, () => resolve(false))
      void this.#running.ended.then(() => {
        cancel()
        resolve(true)
      })
    })
  }
}

/** The code gets one text. */
const withRemedy = (error: unknown): string =>
  error instanceof TroupeError && error.remedy !== undefined ? `${asSentence(messageOf(error))} ${error.remedy}` : messageOf(error)
