import { randomUUID } from 'node:crypto'
import type { DatabaseSync, SQLInputValue } from 'node:sqlite'
import type { Lock, StateAdapter } from 'chat'

/** The state of Chat SDK in the data folder: subscribed threads, names of people, and locks. */
export class ChatState implements StateAdapter {
  readonly #database: DatabaseSync
  readonly #now: () => number

  constructor(database: DatabaseSync, now: () => number) {
    this.#database = database
    this.#now = now
  }

  /** The database is opened and closed by the extension. */
  async connect(): Promise<void> {}
  async disconnect(): Promise<void> {}

  async get<T = unknown>(key: string): Promise<T | null> {
    const value = this.#value('SELECT value FROM entries WHERE key = ? AND (expires IS NULL OR expires > ?)', key, this.#now())
    return value === undefined ? null : JSON.parse(value)
  }

  async set<T = unknown>(key: string, value: T, ttlMs?: number): Promise<void> {
    this.#run('INSERT OR REPLACE INTO entries VALUES (?, ?, ?)', key, JSON.stringify(value), this.#expiry(ttlMs))
  }

  async setIfNotExists(key: string, value: unknown, ttlMs?: number): Promise<boolean> {
    return this.#insert(key, value, ttlMs)
  }

  async delete(key: string): Promise<void> {
    this.#run('DELETE FROM entries WHERE key = ?', key)
  }

  async subscribe(threadId: string): Promise<void> {
    await this.set(`subscribed:${threadId}`, true)
  }

  async unsubscribe(threadId: string): Promise<void> {
    await this.delete(`subscribed:${threadId}`)
  }

  async isSubscribed(threadId: string): Promise<boolean> {
    return (await this.get(`subscribed:${threadId}`)) === true
  }

  async appendToList(
    key: string,
    value: unknown,
    { maxLength = 1_000, ttlMs }: { maxLength?: number; ttlMs?: number } = {},
  ): Promise<void> {
    const expires = this.#expiry(ttlMs)
    this.#run('DELETE FROM lists WHERE key = ? AND expires <= ?', key, this.#now())
    this.#run('INSERT INTO lists (key, value, expires) VALUES (?, ?, ?)', key, JSON.stringify(value), expires)
    this.#run('UPDATE lists SET expires = ? WHERE key = ?', expires, key)
    const kept = 'SELECT place FROM lists WHERE key = ? ORDER BY place DESC LIMIT ?'
    this.#run(`DELETE FROM lists WHERE key = ? AND place NOT IN (${kept})`, key, key, maxLength)
  }

  async getList<T = unknown>(key: string): Promise<T[]> {
    return this.#all('SELECT value FROM lists WHERE key = ? AND (expires IS NULL OR expires > ?) ORDER BY place', key, this.#now()).map(
      (value) => JSON.parse(value),
    )
  }

  async acquireLock(threadId: string, ttlMs: number): Promise<Lock | null> {
    const lock = { threadId, token: randomUUID(), expiresAt: this.#now() + ttlMs }
    return this.#insert(`lock:${threadId}`, lock, ttlMs) ? lock : null
  }

  async extendLock(lock: Lock, ttlMs: number): Promise<boolean> {
    if (!(await this.#holds(lock))) return false
    await this.set(`lock:${lock.threadId}`, { ...lock, expiresAt: this.#now() + ttlMs }, ttlMs)
    return true
  }

  async releaseLock(lock: Lock): Promise<void> {
    if (await this.#holds(lock)) await this.forceReleaseLock(lock.threadId)
  }

  async forceReleaseLock(threadId: string): Promise<void> {
    await this.delete(`lock:${threadId}`)
  }

  /** Chat SDK has no queues with `concurrency: 'concurrent'`. */
  async enqueue(): Promise<number> {
    throw new Error('Messages are not queued.')
  }

  async dequeue(): Promise<null> {
    return null
  }

  async queueDepth(): Promise<number> {
    return 0
  }

  async #holds({ threadId, token }: Lock): Promise<boolean> {
    return (await this.get<Lock>(`lock:${threadId}`))?.token === token
  }

  /** In one statement: an expired entry is replaced, another one stays. */
  #insert(key: string, value: unknown, ttlMs: number | undefined): boolean {
    const insert = 'INSERT INTO entries VALUES (?, ?, ?) ON CONFLICT (key) DO UPDATE SET value = excluded.value, expires = excluded.expires'
    return this.#run(`${insert} WHERE entries.expires <= ?`, key, JSON.stringify(value), this.#expiry(ttlMs), this.#now()) > 0
  }

  #expiry(ttlMs: number | undefined): number | null {
    return ttlMs === undefined ? null : Math.ceil(this.#now() + ttlMs)
  }

  #run(sql: string, ...values: readonly SQLInputValue[]): number {
    return Number(this.#database.prepare(sql).run(...values).changes)
  }

  #value(sql: string, ...values: readonly SQLInputValue[]): string | undefined {
    return this.#all(sql, ...values)[0]
  }

  #all(sql: string, ...values: readonly SQLInputValue[]): readonly string[] {
    return this.#database
      .prepare(sql)
      .all(...values)
      .map(({ value }) => String(value))
  }
}
