import type { PlayedReply } from './conversation.ts'

/** The far side of a model that lives in this process. */
export class Script {
  readonly requests: unknown[] = []
  readonly #replies: readonly PlayedReply[]
  readonly #abandoned = Promise.withResolvers<unknown>()

  constructor(replies: readonly PlayedReply[]) {
    this.#replies = replies
  }

  get abandoned(): Promise<unknown> {
    return this.#abandoned.promise
  }

  take(request: unknown): PlayedReply {
    const reply = this.#replies[this.requests.push(structuredClone(request)) - 1]
    if (!reply) throw new Error(`the script has ${this.#replies.length} replies, this is request ${this.requests.length}`)
    return reply
  }

  /** Resolves when the signal aborts. */
  async silence(signal: AbortSignal | undefined): Promise<void> {
    if (!signal?.aborted) await new Promise((resolve) => signal?.addEventListener('abort', resolve, { once: true }))
    this.giveUp()
  }

  giveUp(): void {
    this.#abandoned.resolve(undefined)
  }
}

/** What a refusal looks like to clients in general. */
export function refusal({ fault }: PlayedReply): { readonly status: number; readonly headers: Record<string, string> } | undefined {
  if (fault === 'unauthorized') return { status: 401, headers: {} }
  return typeof fault === 'object' ? { status: 429, headers: { 'retry-after': String(fault.limitedForSeconds) } } : undefined
}

/** A client's error for a refusal, as most clients have it. */
export function refused(reply: PlayedReply): Error | undefined {
  const found = refusal(reply)
  return found && Object.assign(new Error(`${found.status} refused`), { status: found.status, headers: new Headers(found.headers) })
}
