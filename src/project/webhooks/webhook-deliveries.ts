// Delivers what the store has for the outgoing webhooks of a project.
//
// 1. An attempt first moves `due` behind its own end: no other process makes it meanwhile, and a crash only delays it.
// 2. A webhook gets one delivery at a time, the oldest first. One that failed waits for its retry; the next ones do not wait for it,
//    unless the receiver says when it takes requests again.
// 3. Webhooks do not wait for each other.
import type { Clock, Store, TreeEntry, TreeId } from '../../contracts/index.ts'
import { messageOf } from '../../util/message-of.ts'
import { retryAfterMs } from '../../util/retry-after.ts'
import { type Delivery, deliveryTable } from './stored-deliveries.ts'
import type { OutgoingWebhook, WebhookSettings } from './webhook-settings.ts'
import { standardSignature } from './webhook-signature.ts'

const [second, minute, hour] = [1_000, 60_000, 3_600_000]
/** After each failed attempt. After the last one it is given up: two days. */
const retryDelaysMs = [5 * second, 30 * second, 2 * minute, 10 * minute, hour, 3 * hour, 6 * hour, 12 * hour, 24 * hour]
const longestWaitMs = 24 * hour
const keptDeadMs = 30 * 24 * hour
const attemptMs = 10_000
/** An attempt has ended for sure. */
const leaseMs = attemptMs + 5_000
const pollMs = second
/** How long `close` delivers. */
const closingMs = 5_000

interface DeliveryOptions {
  readonly store: Pick<Store, 'records' | 'trees'>
  readonly settings: WebhookSettings
  readonly workspace: string
  readonly clock: Clock
}

/** By webhook. */
export interface DeliveryCounts {
  readonly [webhook: string]: { readonly delivered: number; readonly failed: number; readonly dead: number }
}

type Attempt =
  | { readonly kind: 'delivered' | 'dropped' }
  | { readonly kind: 'failed'; readonly error: string; readonly isFinal?: true; readonly retryAfterMs?: number | undefined }

export class WebhookDeliveries {
  /** The address of the server, for links. */
  serverUrl: string | undefined
  readonly #options: DeliveryOptions
  readonly #table: ReturnType<typeof deliveryTable>
  readonly #webhooks: ReadonlyMap<string, OutgoingWebhook>
  /** What is being delivered, by webhook. */
  readonly #busy = new Map<string, Promise<void>>()
  /** Until when the receiver wants no requests. */
  readonly #paused = new Map<string, number>()
  /** Webhooks whose last delivery failed. */
  readonly #failing = new Map<string, Pick<Delivery, 'error' | 'isDead'>>()
  /** Also those that the configuration does not have any more. */
  readonly #names: Set<string>
  readonly #counts = new Map<string, { delivered: number; failed: number; dead: number }>()
  readonly #abort = new AbortController()
  #cancelPoll = (): void => {}
  #polling: Promise<void> | undefined
  #closing: Promise<void> | undefined

  constructor(options: DeliveryOptions) {
    this.#options = options
    const { store, workspace, settings } = options
    this.#table = deliveryTable(store.records, workspace)
    this.#webhooks = new Map(settings.outgoing.map((webhook) => [webhook.name, webhook]))
    this.#names = new Set(this.#webhooks.keys())
  }

  start(): void {
    void this.#readStored()
    const poll = async (): Promise<void> => {
      this.#polling = this.#deliverDue()
      await this.#polling
      if (!this.#closing) this.#cancelPoll = this.#options.clock.after(pollMs, () => void poll())
    }
    void poll()
  }

  /** Delivers what is due, for a few seconds. What is left waits for the next process. */
  close(): Promise<void> {
    this.#closing ??= this.#close()
    return this.#closing
  }

  /** Webhooks whose last delivery failed. */
  get problems(): readonly string[] {
    return [...this.#failing].map(([name, { error, isDead }]) => {
      const next = isDead ? 'It was given up.' : 'It is repeated.'
      return `Webhook ${name}: the last delivery failed: ${error}. ${next} See: troupe webhooks list`
    })
  }

  /** From now on, `problems` has those of earlier processes, too. */
  async recall(): Promise<void> {
    for (const { webhook, error, isDead } of await this.#table.list({ limit: 1_000 }))
      if (error !== undefined) this.#failing.set(webhook, { error, ...(isDead && { isDead }) })
  }

  get counts(): DeliveryCounts {
    return Object.fromEntries(this.#counts)
  }

  async #close(): Promise<void> {
    this.#cancelPoll()
    const late = Promise.withResolvers<void>()
    const cancel = this.#options.clock.after(closingMs, () => late.resolve())
    await Promise.race([this.#deliverLast(), late.promise])
    cancel()
    this.#abort.abort()
    await Promise.all(this.#busy.values())
  }

  async #deliverLast(): Promise<void> {
    await this.#polling
    // What is being delivered may end without seeing the last event.
    await Promise.all(this.#busy.values())
    await this.#deliverDue()
    await Promise.all(this.#busy.values())
  }

  async #readStored(): Promise<void> {
    const stored = await this.#table.list({ limit: 1_000 }).catch(() => [])
    for (const { webhook } of stored) this.#names.add(webhook)
  }

  /** Begins what is due. A store that fails is reported elsewhere, and asked again. */
  async #deliverDue(): Promise<void> {
    try {
      for (const name of this.#names) if (!this.#busy.has(name) && (await this.#next(name))) this.#busy.set(name, this.#deliverAll(name))
    } catch {
      // See above.
    }
  }

  async #deliverAll(name: string): Promise<void> {
    try {
      for (let next = await this.#next(name); next && !this.#abort.signal.aborted; next = await this.#next(name)) await this.#handle(next)
    } catch {
      // The store fails: the delivery is still in it.
    }
    this.#busy.delete(name)
  }

  /** The oldest one that is due, unless the receiver wants none now. */
  async #next(name: string): Promise<Delivery | undefined> {
    const now = this.#options.clock.now()
    if ((this.#paused.get(name) ?? 0) > now) return undefined
    const [next] = await this.#table.list({ prefix: `${name}/`, dueBefore: now + 1, limit: 1 })
    return next
  }

  async #handle({ key, webhook }: Delivery): Promise<void> {
    const { clock } = this.#options
    let claimed: Delivery | undefined
    await this.#table.update(key, (before) => {
      claimed = undefined
      if (before.due > clock.now()) return before
      if (before.isDead) return undefined
      claimed = { ...before, attempts: before.attempts + 1 }
      return { ...claimed, due: clock.now() + leaseMs }
    })
    if (claimed) await this.#settle(claimed, await this.#attempt(claimed, this.#webhooks.get(webhook)))
  }

  async #settle({ key, webhook, attempts }: Delivery, attempt: Attempt): Promise<void> {
    const counts = this.#counts.get(webhook) ?? { delivered: 0, failed: 0, dead: 0 }
    this.#counts.set(webhook, counts)
    if (attempt.kind !== 'failed') {
      if (attempt.kind === 'delivered') {
        counts.delivered += 1
        this.#failing.delete(webhook)
      }
      return this.#table.update(key, () => undefined)
    }
    const { error, isFinal, retryAfterMs: asked = 0 } = attempt
    const now = this.#options.clock.now()
    const delay = isFinal ? undefined : retryDelaysMs[attempts - 1]
    const waitMs = Math.min(asked, longestWaitMs)
    if (waitMs > 0) this.#paused.set(webhook, now + waitMs)
    this.#failing.set(webhook, { error, ...(delay === undefined && { isDead: true }) })
    counts.failed += 1
    if (delay === undefined) counts.dead += 1
    await this.#table.update(key, ({ notice }) =>
      delay === undefined
        ? { notice, attempts, error, isDead: true, due: now + keptDeadMs }
        : { notice, attempts, error, due: now + Math.max(delay, waitMs) },
    )
  }

  async #attempt({ notice }: Delivery, webhook: OutgoingWebhook | undefined): Promise<Attempt> {
    if (!webhook) return { kind: 'failed', error: 'the configuration has no webhook with this name' }
    const entry = await this.#options.store.trees.get(notice.sessionId as TreeId)
    // Somebody was faster.
    if (notice.event === 'waiting' && (entry?.openRequests ?? 0) === 0) return { kind: 'dropped' }
    const agent = notice.agent ?? entry?.agent ?? ''
    if (webhook.agents && !webhook.agents.some((pattern) => matches(pattern, agent))) return { kind: 'dropped' }
    return this.#post(webhook, notice.id, JSON.stringify(this.#payload(notice, agent, entry)))
  }

  #payload({ event, at, sessionId, data }: Delivery['notice'], agent: string, entry: TreeEntry | undefined): object {
    const server = this.serverUrl
    return {
      type: `session.${event}`,
      timestamp: new Date(at).toISOString(),
      data: {
        ...{ sessionId, agent, title: entry?.title ?? '' },
        ...data,
        ...(server !== undefined && { url: `${server}/#/sessions/${encodeURIComponent(sessionId)}` }),
      },
    }
  }

  async #post({ url, secret }: OutgoingWebhook, id: string, body: string): Promise<Attempt> {
    const { clock } = this.#options
    const timestamp = String(Math.floor(clock.now() / 1000))
    const late = new AbortController()
    const cancel = clock.after(attemptMs, () => late.abort())
    try {
      const response = await fetch(url, {
        method: 'POST',
        // The answers of another address say nothing about this one.
        redirect: 'manual',
        signal: AbortSignal.any([late.signal, this.#abort.signal]),
        body,
        headers: {
          'content-type': 'application/json',
          'user-agent': 'troupe',
          'webhook-id': id,
          'webhook-timestamp': timestamp,
          'webhook-signature': standardSignature(secret, { id, timestamp, body }),
        },
      })
      await response.body?.cancel()
      if (response.ok) return { kind: 'delivered' }
      const isRedirect = response.status >= 300 && response.status < 400
      return {
        kind: 'failed',
        error: `HTTP ${response.status}${isRedirect ? ', and redirects are not followed' : ''}`,
        // 410: the receiver wants no more.
        ...(response.status === 410 && { isFinal: true }),
        retryAfterMs: retryAfterMs(Object.fromEntries(response.headers), () => clock.now()),
      }
    } catch (error) {
      return { kind: 'failed', error: late.signal.aborted || this.#abort.signal.aborted ? 'no answer in time' : reasonOf(error) }
    } finally {
      cancel()
    }
  }
}

const matches = (pattern: string, agent: string): boolean =>
  pattern.endsWith('*') ? agent.startsWith(pattern.slice(0, -1)) : agent === pattern

/** `fetch failed` says nothing; its cause does. The address may contain a secret. */
function reasonOf(error: unknown): string {
  const { cause } = error as { readonly cause?: { readonly code?: string } }
  return cause?.code ?? messageOf(error)
}
