/** A set that forgets the older half of its values when it is full. In bulk: looking for the oldest one costs more the more were deleted. */
export class RecentSet<Value> {
  readonly #values = new Set<Value>()
  readonly #most: number

  constructor(most: number) {
    this.#most = most
  }

  add(value: Value): void {
    this.#values.delete(value)
    this.#values.add(value)
    if (this.#values.size <= this.#most) return
    const kept = this.#most / 2
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
