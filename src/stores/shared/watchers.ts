/**
 * Who wants to know about which tree.
 *
 * 1. Whoever is subscribed when `wake` begins is called, once; those who come or go meanwhile are not.
 * 2. A callback that throws costs nobody else the call, and never the write that woke it.
 */
export class Watchers<Key> {
  /** Lists are replaced, never changed: most trees have one watcher, or none. */
  readonly #byKey = new Map<Key, readonly { readonly wake: () => void }[]>()
  readonly #report: (error: unknown) => void

  constructor(report: (error: unknown) => void = throwLater) {
    this.#report = report
  }

  get idle(): boolean {
    return this.#byKey.size === 0
  }

  add(key: Key, wake: () => void): () => void {
    // The same function may subscribe twice, so that each subscription is an object of its own.
    const watcher = { wake }
    const watchers = this.#byKey.get(key)
    this.#byKey.set(key, watchers === undefined ? [watcher] : [...watchers, watcher])
    return () => this.#remove(key, watcher)
  }

  wake(key: Key): void {
    const watchers = this.#byKey.get(key)
    if (watchers === undefined) return
    for (const watcher of watchers) {
      try {
        watcher.wake()
      } catch (error) {
        this.#report(error)
      }
    }
  }

  wakeAll(): void {
    for (const key of [...this.#byKey.keys()]) this.wake(key)
  }

  #remove(key: Key, watcher: { readonly wake: () => void }): void {
    const left = this.#byKey.get(key)?.filter((each) => each !== watcher)
    if (left && left.length > 0) this.#byKey.set(key, left)
    else this.#byKey.delete(key)
  }
}

/** A bug of whoever watches: it must show, but not here. */
function throwLater(error: unknown): void {
  queueMicrotask(() => {
    throw error
  })
}
