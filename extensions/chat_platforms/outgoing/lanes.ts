/** What is done for one thread is done in order. Threads do not wait for each other. */
export class Lanes {
  readonly #last = new Map<string, Promise<unknown>>()

  run<T>(thread: string, work: () => Promise<T>): Promise<T> {
    const before = this.#last.get(thread) ?? Promise.resolve()
    const result = before.then(work)
    const ended = result
      .catch(() => undefined)
      .then(() => {
        if (this.#last.get(thread) === ended) this.#last.delete(thread)
      })
    this.#last.set(thread, ended)
    return result
  }

  /** Resolves when nothing is being done. */
  async settled(): Promise<void> {
    while (this.#last.size > 0) await Promise.all(this.#last.values())
  }
}
