import type { Model, ModelFailure } from '../../contracts/index.ts'
import type { Exclusions } from '../../core/index.ts'

/** How long a model is left out whose provider refused the key or the account. */
const refusalMs = 5 * 60_000
/** No Retry-After is believed beyond this. */
const maxExclusionMs = 60 * 60_000

/**
 * The models that are left out for a while, because their provider asked to wait or refused the key or the account.
 *
 * 1. An entry is found by the model's `healthKey`, or by the model object where it has none.
 * 2. Every entry expires. A later failure of the same model replaces it; an answer to a probe, or to a request that
 *    waited for the model, removes it.
 * 3. The table is shared by everything that uses the same models: sessions, their children, all runtimes of a process.
 */
export class ModelHealth {
  readonly #until = new Map<unknown, number>()

  /** Takes in how an attempt failed. `now`: milliseconds since 1970. */
  note(model: Model, failure: ModelFailure, now: number): void {
    const ms = exclusionMs(failure)
    if (ms <= 0) return
    for (const [key, until] of this.#until) if (until <= now) this.#until.delete(key)
    this.#until.set(keyOf(model), now + ms)
  }

  /** A model that was left out is so no longer: it has answered. */
  recover(model: Model): void {
    this.#until.delete(keyOf(model))
  }

  /** Until when a model is left out; 0 where it is not. */
  until(model: Model | undefined, now: number): number {
    const until = model && this.#until.get(keyOf(model))
    if (model === undefined || until === undefined) return 0
    if (until > now) return until
    // While the table is empty, nobody looks at it.
    this.recover(model)
    return 0
  }

  /** Which of the models are left out, and until when. */
  exclusions(names: readonly string[], models: ReadonlyMap<string, Model>, now: number): Exclusions {
    return new Map(names.map((name) => [name, this.until(models.get(name), now)] as const).filter(([, until]) => until > 0))
  }

  clear(): void {
    this.#until.clear()
  }

  get isEmpty(): boolean {
    return this.#until.size === 0
  }
}

/** For all runtimes of the process that are not given one of their own. */
export const sharedModelHealth = new ModelHealth()

const keyOf = (model: Model): unknown => model.healthKey ?? model

function exclusionMs({ class: kind, retryAfterMs = 0 }: ModelFailure): number {
  const isRefused = kind === 'auth' || kind === 'quota'
  return Math.min(maxExclusionMs, isRefused ? Math.max(refusalMs, retryAfterMs) : retryAfterMs)
}
