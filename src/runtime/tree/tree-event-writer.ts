import { type InteractionEvent, type LiveEvent, type MaybePromise, type SessionId, TroupeError } from '../../contracts/index.ts'
import type { EventWriter } from '../../core/index.ts'

/** Who is told of each event of a tree as soon as it has its place. */
export interface EventObserver {
  /** The session was given up while something of it was still under way. */
  isAbandoned(sessionId: SessionId): boolean
  observe(event: InteractionEvent): void
}

/**
 * The event writer that all sessions of a tree share.
 *
 * 1. Whatever is written is read by the tree before anything else happens, so its sums are never behind.
 * 2. A session that was given up writes nothing more: what still runs there ends with an error at its next event.
 */
export class TreeEventWriter implements EventWriter {
  readonly #writer: EventWriter
  readonly #observer: EventObserver

  constructor(writer: EventWriter, observer: EventObserver) {
    this.#writer = writer
    this.#observer = observer
  }

  get nextSeq(): number {
    return this.#writer.nextSeq
  }

  get now(): number {
    return this.#writer.now
  }

  at(moment: number): number {
    return this.#writer.at(moment)
  }

  push(event: InteractionEvent): void {
    if (this.#observer.isAbandoned(event.sessionId))
      throw new TroupeError('internal', `The session ${event.sessionId} was given up and cannot go on.`)
    this.#writer.push(event)
    this.#observer.observe(event)
  }

  live(event: LiveEvent): void {
    if (!this.#observer.isAbandoned(event.sessionId)) this.#writer.live(event)
  }

  flush(): MaybePromise<void> {
    return this.#writer.flush()
  }
}
