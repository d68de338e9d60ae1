import { type InteractionEvent, type LiveEvent, type MaybePromise, type SessionId, TroupeError } from '../../contracts/index.ts'
import type { Pen } from '../../core/index.ts'

/** Who is told of each event of a tree as soon as it has its place. */
export interface Reader {
  /** The session was given up while something of it was still under way. */
  isGivenUp(sessionId: SessionId): boolean
  read(event: InteractionEvent): void
}

/**
 * The pen that all sessions of a tree share.
 *
 * 1. Whatever is written is read by the tree before anything else happens, so its sums are never behind.
 * 2. A session that was given up writes nothing more: what still runs there ends with an error at its next event.
 */
export class TreePen implements Pen {
  readonly #pen: Pen
  readonly #reader: Reader

  constructor(pen: Pen, reader: Reader) {
    this.#pen = pen
    this.#reader = reader
  }

  get nextSeq(): number {
    return this.#pen.nextSeq
  }

  get now(): number {
    return this.#pen.now
  }

  at(moment: number): number {
    return this.#pen.at(moment)
  }

  push(event: InteractionEvent): void {
    if (this.#reader.isGivenUp(event.sessionId))
      throw new TroupeError('internal', `The session ${event.sessionId} was given up and cannot go on.`)
    this.#pen.push(event)
    this.#reader.read(event)
  }

  live(event: LiveEvent): void {
    if (!this.#reader.isGivenUp(event.sessionId)) this.#pen.live(event)
  }

  flush(): MaybePromise<void> {
    return this.#pen.flush()
  }
}
