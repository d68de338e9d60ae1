import { setTimeout as delay } from 'node:timers/promises'
import { Pool, type PoolClient, type QueryConfig, types } from 'pg'
import { closedError } from '../shared/store-errors.ts'
import type { Connection } from './connection-url.ts'
import { databaseError, isConnectionLoss, isServerBusy, isTransient } from './postgres-errors.ts'

export type Row = { readonly [column: string]: unknown }

/** Statements of one transaction, or of none. */
export interface Transaction {
  query(statement: string, values?: readonly unknown[]): Promise<readonly Row[]>
}

export interface DatabaseSettings {
  readonly connection: Connection
  /** The maximum number of connections. */
  readonly pool: number
  /** How long an operation is repeated while the server cannot be reached. */
  readonly retryMs: number
  /** How long one attempt of a write may take: a connection may be cut without a sign. */
  readonly attemptMs: number
}

/** A read may be long: a search, or sums over all turns. */
const readMs = 60_000
/** The slowest connection on which a large write is waited for. */
const bytesPerMs = 250
const maxDelayMs = 500

/**
 * The connections of a store.
 *
 * 1. An operation that a lost connection or a conflict interrupts is repeated, until `retryMs` are over.
 * 2. A transaction takes effect once. If the answer to its COMMIT is lost, the server is asked whether it was committed.
 * 3. A statement outside of a transaction may take effect although its answer is lost: it has to be one that can be repeated.
 * 4. Reads and writes have connections of their own: a lease is renewed however long reads take.
 * 5. No idle connection keeps the process alive.
 */
export class Database {
  readonly place: string
  readonly #reads: Pool
  readonly #writes: Pool
  readonly #settings: DatabaseSettings
  #state: 'open' | 'closed' = 'open'

  constructor(settings: DatabaseSettings) {
    this.#settings = settings
    this.place = settings.connection.place
    this.#reads = poolOf(settings, Math.floor(settings.pool / 2))
    this.#writes = poolOf(settings, Math.ceil(settings.pool / 2))
  }

  read(statement: string, values: readonly unknown[] = []): Promise<readonly Row[]> {
    return this.#repeat(() => this.#attempt(this.#reads, timed(statement, values, readMs)))
  }

  /** A statement that may be repeated after it took effect. */
  write(statement: string, values: readonly unknown[] = []): Promise<readonly Row[]> {
    return this.#repeat(() => this.#attempt(this.#writes, this.#short(statement, values)))
  }

  /** Reports wrong addresses and passwords immediately. A server that starts or is full is waited for by the next operation. */
  async reach(): Promise<void> {
    try {
      await this.#attempt(this.#writes, this.#short('SELECT'))
    } catch (error) {
      if (!isServerBusy(error)) throw databaseError(error, this.place)
    }
  }

  /** A statement that is not repeated. */
  async once(statement: string, values: readonly unknown[] = []): Promise<readonly Row[]> {
    if (this.#state === 'closed') throw closedError()
    try {
      return await this.#attempt(this.#writes, this.#short(statement, values))
    } catch (error) {
      throw databaseError(error, this.place)
    }
  }

  /** `work` may run again, on another connection, if what it did was not committed. */
  transaction<Result>(work: (transaction: Transaction) => Promise<Result>): Promise<Result> {
    let committing: { readonly id: string; readonly result: Result } | undefined
    return this.#repeat(async () => {
      if (committing && (await this.#isCommitted(committing.id))) return committing.result
      committing = undefined
      return this.#onConnection(async (client) => {
        const id = await this.#begin(client)
        const result = await work({ query: (statement, values = []) => this.#ask(client, statement, values) })
        committing = { id, result }
        await this.#ask(client, 'COMMIT')
        return result
      })
    })
  }

  async close(): Promise<void> {
    if (this.#state === 'closed') return
    this.#state = 'closed'
    // A connection that was cut without a sign does not end.
    const late = new AbortController()
    const ended = Promise.all([this.#reads.end(), this.#writes.end()]).finally(() => late.abort())
    await Promise.race([ended, delay(this.#settings.attemptMs, undefined, { signal: late.signal }).catch(() => undefined)])
  }

  async #repeat<Result>(attempt: () => Promise<Result>): Promise<Result> {
    const since = performance.now()
    for (let count = 0; ; count += 1) {
      if (this.#state === 'closed') throw closedError()
      try {
        return await attempt()
      } catch (error) {
        const isOver = performance.now() - since >= this.#settings.retryMs
        if (isOver || !isTransient(error)) throw databaseError(error, this.place)
      }
      await delay(Math.min(maxDelayMs, 10 * 2 ** count) * (0.5 + Math.random() / 2))
    }
  }

  async #attempt(pool: Pool, query: QueryConfig): Promise<readonly Row[]> {
    const { rows } = await pool.query(query)
    return rows as readonly Row[]
  }

  async #ask(client: PoolClient, text: string, values: readonly unknown[] = []): Promise<readonly Row[]> {
    const { rows } = await client.query(this.#short(text, values))
    return rows as readonly Row[]
  }

  #short(text: string, values: readonly unknown[] = []): QueryConfig {
    return timed(text, values, this.#settings.attemptMs + sizeOf(values) / bytesPerMs)
  }

  /** A transaction whose connection is cut holds its locks until the server notices: that is limited, too. */
  async #begin(client: PoolClient): Promise<string> {
    const text = `BEGIN; SET LOCAL idle_in_transaction_session_timeout = ${this.#settings.attemptMs}; SELECT pg_current_xact_id()::text AS id`
    const results = (await client.query(this.#short(text))) as unknown as readonly {
      readonly rows: readonly Row[]
    }[]
    return String(results.at(-1)?.rows[0]?.id)
  }

  async #isCommitted(id: string): Promise<boolean> {
    const [row] = await this.#attempt(this.#writes, this.#short('SELECT pg_xact_status($1::xid8) AS status', [id]))
    // The server has not noticed yet that the connection is gone.
    if (row?.status === 'in progress') throw new Error('Connection terminated: the transaction has not ended')
    return row?.status === 'committed'
  }

  async #onConnection<Result>(work: (client: PoolClient) => Promise<Result>): Promise<Result> {
    const client = await this.#writes.connect()
    let isUsable = true
    try {
      return await work(client)
    } catch (error) {
      isUsable =
        !isConnectionLoss(error) &&
        (await client.query('ROLLBACK').then(
          () => true,
          () => false,
        ))
      throw error
    } finally {
      client.release(!isUsable)
    }
  }
}

function poolOf({ connection, attemptMs }: DatabaseSettings, max: number): Pool {
  const pool = new Pool({ ...connection.config, ...clientSettings, max, connectionTimeoutMillis: attemptMs, allowExitOnIdle: true })
  // A connection may be lost while nobody uses it, or between two statements. The next statement finds out.
  pool.on('error', () => undefined)
  pool.on('connect', (client) => void client.on('error', () => undefined))
  return pool
}

const sizeOf = (values: readonly unknown[]): number =>
  values.reduce<number>((sum, value) => sum + (typeof value === 'string' || Buffer.isBuffer(value) ? value.length : 0), 0)

/** `query_timeout` of one query is not in the types of `pg`. Without values, several statements may be sent at once. */
function timed(text: string, values: readonly unknown[], timeoutMs: number): QueryConfig {
  const query = { text, ...(values.length > 0 && { values: [...values] }), query_timeout: timeoutMs }
  return query
}

/** Of every connection. Numbers of 64 bits are read as numbers: none is that large. */
export const clientSettings = {
  keepAlive: true,
  types: {
    getTypeParser: ((oid: number, format: 'text') =>
      oid === types.builtins.INT8 || oid === types.builtins.NUMERIC ? Number : types.getTypeParser(oid, format)) as never,
  },
}
