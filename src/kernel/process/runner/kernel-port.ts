// The process of an extension, as its code sees it: the kernel.
//
// 1. Every request names the call that it belongs to: the kernel runs it within that call.
// 2. Not more than `maxOpenRequests` are open; further ones wait.
import { AsyncLocalStorage } from 'node:async_hooks'
import { maxLogCharacters, maxLogLinesPerSecond, maxOpenRequests, type WireMessage } from './wire.ts'

type Params = { readonly [name: string]: unknown }

interface OpenRequest extends PromiseWithResolvers<unknown> {
  readonly method: string
  readonly params: Params
}

export class KernelPort {
  /** The id of the call of the kernel that runs. */
  readonly currentCall = new AsyncLocalStorage<number>()
  readonly #write: (message: WireMessage) => void
  readonly #open = new Map<number, OpenRequest>()
  readonly #waiting: [number, OpenRequest][] = []
  #requests = 0
  #logged = { since: 0, lines: 0 }

  constructor(write: (message: WireMessage) => void) {
    this.#write = write
  }

  notify(method: string, params: Params): void {
    this.#write({ jsonrpc: '2.0', method, params: { ...params, call: this.currentCall.getStore() } })
  }

  async request(method: string, params: Params, signal?: AbortSignal): Promise<unknown> {
    signal?.throwIfAborted()
    const id = ++this.#requests
    const request = {
      ...Promise.withResolvers<unknown>(),
      method,
      params: { ...params, call: this.currentCall.getStore() },
    }
    if (this.#open.size < maxOpenRequests) this.#send(id, request)
    else this.#waiting.push([id, request])
    const cancel = (): void => this.notify('cancel', { id })
    signal?.addEventListener('abort', cancel, { once: true })
    try {
      return await request.promise
    } finally {
      signal?.removeEventListener('abort', cancel)
    }
  }

  answered({ id = 0, result, error }: WireMessage): void {
    const request = this.#open.get(id)
    this.#open.delete(id)
    if (error) request?.reject(new Error(error.message))
    else request?.resolve(result)
    const next = this.#waiting.shift()
    if (next) this.#send(...next)
  }

  /** Lines above the rate are lost. */
  log(level: string, message: string, fields?: unknown): void {
    const now = Date.now()
    if (now - this.#logged.since >= 1_000) this.#logged = { since: now, lines: 0 }
    this.#logged.lines++
    if (this.#logged.lines > maxLogLinesPerSecond) return
    this.notify('log', { level, message: String(message).slice(0, maxLogCharacters), fields })
  }

  #send(id: number, request: OpenRequest): void {
    this.#open.set(id, request)
    this.#write({ jsonrpc: '2.0', id, method: request.method, params: request.params })
  }
}
