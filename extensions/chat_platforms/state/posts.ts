import type { DatabaseSync } from 'node:sqlite'

/** `posting`: the platform may have it, or not. `open`: more follows. `left`: its turn has ended, and its stream with it. */
export type PostState = 'posting' | 'open' | 'left' | 'done'
export type PostKind = 'answer' | 'other'

/** A message of the platform that shows a part of a message of the kernel. */
export interface Post {
  readonly part: number
  readonly message: string | undefined
  readonly state: PostState
  readonly at: number
}

export interface PostedMessage {
  readonly thread: string
  readonly id: string
  /** Of an answer. */
  readonly turnId?: string | undefined
}

/** Which messages of the platform belong to which messages of the kernel. Written before and after each post. */
export class Posts {
  readonly #database: DatabaseSync

  constructor(database: DatabaseSync) {
    this.#database = database
  }

  of({ thread, id }: PostedMessage): readonly Post[] {
    return this.#database
      .prepare('SELECT part, message, state, at FROM posts WHERE thread = ? AND id = ? ORDER BY part')
      .all(thread, id)
      .map(({ part, message, state, at }) => ({
        part: Number(part),
        message: message === null ? undefined : String(message),
        state: state as PostState,
        at: Number(at),
      }))
  }

  set({ thread, id, turnId = '' }: PostedMessage, { part, message, state, at }: Post, kind: PostKind): void {
    this.#database
      .prepare('INSERT OR REPLACE INTO posts VALUES (?, ?, ?, ?, ?, ?, ?, ?)')
      .run(thread, id, part, kind, turnId, message ?? null, state, at)
  }

  remove({ thread, id }: PostedMessage, part: number): void {
    this.#database.prepare('DELETE FROM posts WHERE thread = ? AND id = ? AND part = ?').run(thread, id, part)
  }

  isKnown(thread: string, message: string): boolean {
    return this.#database.prepare('SELECT 1 FROM posts WHERE thread = ? AND message = ?').get(thread, message) !== undefined
  }

  /** Messages of the platform that an answer has begun and not ended. */
  unfinished(thread: string): readonly string[] {
    return this.#database
      .prepare(`SELECT message FROM posts WHERE thread = ? AND kind = 'answer' AND state = 'open' AND message IS NOT NULL`)
      .all(thread)
      .map(({ message }) => String(message))
  }

  /** Nothing follows, unless the answer comes late. */
  leave(thread: string, message: string): void {
    this.#database.prepare(`UPDATE posts SET state = 'left' WHERE thread = ? AND message = ? AND state = 'open'`).run(thread, message)
  }

  /** An answer is written where an unfinished one of its turn is: its agent has begun again, after a failure of the model or a crash. */
  takeOver({ thread, id, turnId = '' }: PostedMessage): void {
    const unfinished = `SELECT id FROM posts WHERE thread = ? AND kind = 'answer' AND turn = ? AND state != 'done' AND id != ?`
    const [first] = this.#database.prepare(`${unfinished} ORDER BY at LIMIT 1`).all(thread, turnId, id)
    if (first === undefined || this.of({ thread, id }).length > 0) return
    this.#database
      .prepare(`UPDATE posts SET id = ?, state = CASE state WHEN 'done' THEN 'open' ELSE state END WHERE thread = ? AND id = ?`)
      .run(id, thread, String(first.id))
  }
}
