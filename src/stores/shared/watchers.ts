/**
 * Subscriptions by key. `Change` is what a watcher is called with.
 *
 * 1. `wake` calls each watcher that is subscribed when it begins, once.
 * 2. A callback that throws affects neither the other watchers nor the write that woke it.
 */
export class Watchers<Key, Change = void> {
  /** Lists are replaced, never changed: most trees have one watcher, or none. */
  readonly #byKey = new Map<Key, readonly Watcher<Change>[]>()
  readonly #report: (error: unknown) => void

  constructor(report: (error: unknown) => void = throwLater) {
    this.#report = report
  }

  get idle(): boolean {
    return this.#byKey.size === 0
  }

  keys(): Iterable<Key> {
    return this.#byKey.keys()
  }

  add(key: Key, wake: (change: Change) => void): () => void {
    // The same function may subscribe twice, so each subscription is an object.
    const watcher = { wake }
    const watchers = this.#byKey.get(key)
    this.#byKey.set(key, watchers === undefined ? [watcher] : [...watchers, watcher])
    return () => this.#remove(key, watcher)
  }

  wake(key: Key, change: Change): void {
    const watchers = this.#byKey.get(key)
    if (watchers === undefined) return
    for (const watcher of watchers) {
      try {
        watcher.wake(change)
      } catch (error) {
        this.#report(error)
      }
    }
  }

  wakeAll(change: Change): void {
    for (const key of [...this.#byKey.keys()]) this.wake(key, change)
  }

  #remove(key: Key, watcher: Watcher<Change>): void {
    const left = this.#byKey.get(key)?.filter((each) => each !== watcher)
    if (left && left.length > 0) this.#byKey.set(key, left)
    else this.#byKey.delete(key)
  }
}

interface Watcher<Change> {
  readonly wake: (change: Change) => void
}

/** A bug of a watcher is reported as an uncaught exception. */
function throwLater(error: unknown): void {
  queueMicrotask(() => {
    throw error
  })
}
