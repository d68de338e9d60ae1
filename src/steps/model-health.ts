import type { Model, ModelFailure } from '../contracts/index.ts'
import type { Exclusions } from '../core/index.ts'

/** Exclusion after the provider refused the key or the account. */
const refusalMs = 5 * 60_000
/** Upper bound for Retry-After. */
const maxExclusionMs = 60 * 60_000

/**
 * Models that are excluded for a while, because their provider asked to wait or refused the key or the account.
 *
 * 1. The key of an entry is the model's `healthKey`, or the model object if it has none.
 * 2. Every entry expires. A later failure of the same model replaces it; an answer to a probe, or to a request that
 *    waited for the model, removes it.
 * 3. The table is shared by everything that uses the same models: sessions, their children, all runtimes of a process.
 */
export class ModelHealth {
  readonly #until = new Map<unknown, number>()

  /** Records a failed attempt. `now`: milliseconds since 1970. */
  note(model: Model, failure: ModelFailure, now: number): void {
    const ms = exclusionMs(failure)
    if (ms <= 0) return
    for (const [key, until] of this.#until) if (until <= now) this.#until.delete(key)
    this.#until.set(keyOf(model), now + ms)
  }

  /** The model has answered. */
  recover(model: Model): void {
    this.#until.delete(keyOf(model))
  }

  /** End of the exclusion; 0 if there is none. */
  until(model: Model | undefined, now: number): number {
    const until = model && this.#until.get(keyOf(model))
    if (model === undefined || until === undefined) return 0
    if (until > now) return until
    // Keeps the table empty if possible: then nothing checks it.
    this.recover(model)
    return 0
  }

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

/** The default for all runtimes of the process. */
export const sharedModelHealth = new ModelHealth()

const keyOf = (model: Model): unknown => model.healthKey ?? model

function exclusionMs({ class: kind, retryAfterMs = 0 }: ModelFailure): number {
  const isRefused = kind === 'auth' || kind === 'quota'
  return Math.min(maxExclusionMs, isRefused ? Math.max(refusalMs, retryAfterMs) : retryAfterMs)
}
