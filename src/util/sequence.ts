/**
 * An immutable list that is cheap to extend. All versions share one backing array; each sees its own prefix.
 *
 * 1. A version never changes: extending it gives a new one.
 * 2. Extending the newest version costs O(1); extending an older one copies its prefix once.
 */
export class Sequence<T> implements Iterable<T> {
  readonly #backing: T[]
  readonly length: number

  private constructor(backing: T[], length: number) {
    this.#backing = backing
    this.length = length
  }

  static empty<T>(): Sequence<T> {
    return new Sequence<T>([], 0)
  }

  static from<T>(values: readonly T[]): Sequence<T> {
    return new Sequence<T>([...values], values.length)
  }

  append(value: T): Sequence<T> {
    const backing = this.#backing.length === this.length ? this.#backing : this.#backing.slice(0, this.length)
    backing.push(value)
    return new Sequence(backing, this.length + 1)
  }

  /** Shares memory with later versions: read it now, or copy it. */
  toArray(): readonly T[] {
    return this.#backing.length === this.length ? this.#backing : this.#backing.slice(0, this.length)
  }

  [Symbol.iterator](): Iterator<T> {
    return this.toArray().slice()[Symbol.iterator]()
  }

  toJSON(): readonly T[] {
    return this.#backing.slice(0, this.length)
  }
}
