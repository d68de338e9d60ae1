import { type InteractionEvent, type LiveEvent, type MaybePromise, type SessionId, TroupeError } from '../../contracts/index.ts'
import type { EventWriter } from '../../core/index.ts'

/** Sees each event of a tree when it is recorded. */
export interface EventObserver {
  /** The session was ended while something of it was still running. */
  isAbandoned(sessionId: SessionId): boolean
  observe(event: InteractionEvent): void
}

/**
 * The event writer that all sessions of a tree share.
 *
 * 1. The tree observes each event immediately, so that its sums are current.
 * 2. An abandoned session writes nothing more: what still runs there fails at its next event.
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
      throw new TroupeError('internal', `The session ${event.sessionId} was abandoned and cannot continue.`)
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
