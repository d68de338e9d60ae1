import { Client } from 'pg'
import type { Connection } from './connection-url.ts'
import { clientSettings } from './database.ts'
import { type Changes, channel, type Notification } from './notifier.ts'

const maxDelayMs = 5_000

/**
 * The connection for notifications of other stores.
 *
 * 1. It is made when somebody watches, and again whenever it is lost. It never keeps the process alive.
 * 2. Notifications of this store are left out: what it commits it reports itself.
 */
export class Listener {
  onChanges: (changes: Changes) => void = () => {}
  /** What happened before may have been missed. */
  onConnected: () => void = () => {}
  readonly #connection: Connection
  readonly #instance: string
  #client: Client | undefined
  #state: 'idle' | 'connecting' | 'connected' | 'closed' = 'idle'
  #attempts = 0
  #timer: NodeJS.Timeout | undefined

  constructor(connection: Connection, instance: string) {
    this.#connection = connection
    this.#instance = instance
  }

  get isConnected(): boolean {
    return this.#state === 'connected'
  }

  start(): void {
    if (this.#state === 'idle') void this.#connect()
  }

  close(): void {
    this.#state = 'closed'
    clearTimeout(this.#timer)
    const client = this.#client
    this.#client = undefined
    // Not waited for: a connection that was cut without a sign does not end.
    client?.end().catch(() => undefined)
    client?.removeAllListeners('notification')
  }

  async #connect(): Promise<void> {
    this.#state = 'connecting'
    const client = new Client({ ...this.#connection.config, ...clientSettings, connectionTimeoutMillis: maxDelayMs })
    this.#client = client
    client.on('error', () => this.#lost(client))
    client.on('end', () => this.#lost(client))
    client.on('notification', ({ payload = '' }) => this.#received(payload))
    try {
      await client.connect()
      unref(client)
      await client.query(`LISTEN ${channel}`)
    } catch {
      this.#lost(client)
      return
    }
    if (this.#client !== client) return
    this.#state = 'connected'
    this.#attempts = 0
    this.onConnected()
  }

  #lost(client: Client): void {
    if (this.#client !== client) return
    this.#client = undefined
    this.#state = 'connecting'
    client.end().catch(() => undefined)
    const delayMs = Math.min(maxDelayMs, 50 * 2 ** this.#attempts)
    this.#attempts += 1
    this.#timer = setTimeout(() => void this.#connect(), delayMs).unref()
  }

  #received(payload: string): void {
    // Everybody who may use the database may send anything.
    const changes = parsed(payload)
    if (changes && changes.from !== this.#instance) this.onChanges(changes)
  }
}

/** Not in the types of `pg`. */
const unref = (client: Client): void => (client as Client & { unref(): void }).unref()

function parsed(payload: string): Notification | undefined {
  try {
    const { from, trees = [], inbox = [] } = JSON.parse(payload) as Partial<Notification>
    if (![...trees, ...inbox].every(([id, number]) => typeof id === 'string' && typeof number === 'number')) return undefined
    return { from: String(from), trees, inbox }
  } catch {
    return undefined
  }
}
