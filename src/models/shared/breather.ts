/**
 * Lets everything else have its turn now and then. What is always ready at once, and brings nothing to show, would
 * otherwise keep timers and signals waiting for ever.
 */
export class Breather {
  #taken = 0

  /** Nothing, mostly; now and then something to wait for. */
  next(): Promise<void> | undefined {
    this.#taken = (this.#taken + 1) % mostInARow
    return this.#taken === 0 ? new Promise((resolve) => setImmediate(resolve)) : undefined
  }
}

const mostInARow = 256
