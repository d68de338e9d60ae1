/** A set that drops the older half of its values when it is full. In bulk, because finding the oldest value after many deletions is slow. */
export class RecentSet<Value> {
  readonly #values = new Set<Value>()
  readonly #max: number

  constructor(max: number) {
    this.#max = max
  }

  add(value: Value): void {
    this.#values.delete(value)
    this.#values.add(value)
    if (this.#values.size <= this.#max) return
    const kept = this.#max / 2
    for (const old of this.#values) {
      if (this.#values.size <= kept) return
      this.#values.delete(old)
    }
  }

  has(value: Value): boolean {
    return this.#values.has(value)
  }

  delete(value: Value): void {
    this.#values.delete(value)
  }
}
