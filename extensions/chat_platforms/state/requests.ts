import type { DatabaseSync } from 'node:sqlite'
import type { ChannelRequest, ClosedRequest } from 'troupe/extension'

export interface StoredRequest {
  /** Short, for the values of buttons. */
  readonly key: string
  readonly thread: string
  readonly request: ChannelRequest
  readonly closed: ClosedRequest | undefined
}

/** The requests that were shown, so that buttons work and cards can be changed after a restart. */
export class Requests {
  readonly #database: DatabaseSync

  constructor(database: DatabaseSync) {
    this.#database = database
  }

  add(thread: string, request: ChannelRequest, at: number): StoredRequest {
    this.#database
      .prepare('INSERT INTO requests (thread, id, request, at) VALUES (?, ?, ?, ?) ON CONFLICT DO UPDATE SET request = excluded.request')
      .run(thread, request.id, JSON.stringify(request), at)
    return this.of(thread, request.id) as StoredRequest
  }

  of(thread: string, id: string): StoredRequest | undefined {
    return stored(this.#database.prepare('SELECT * FROM requests WHERE thread = ? AND id = ?').get(thread, id))
  }

  withKey(key: string): StoredRequest | undefined {
    return stored(this.#database.prepare('SELECT * FROM requests WHERE key = ?').get(Number.parseInt(key, 36) || 0))
  }

  close(thread: string, closed: ClosedRequest): void {
    this.#database.prepare('UPDATE requests SET closed = ? WHERE thread = ? AND id = ?').run(JSON.stringify(closed), thread, closed.id)
  }
}

function stored(row: { readonly [column: string]: unknown } | undefined): StoredRequest | undefined {
  if (row === undefined) return undefined
  const { key, thread, request, closed } = row
  return {
    key: Number(key).toString(36),
    thread: String(thread),
    request: JSON.parse(String(request)),
    closed: closed === null ? undefined : JSON.parse(String(closed)),
  }
}
