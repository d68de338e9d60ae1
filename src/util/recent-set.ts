/** A set that keeps the values added last, and forgets the others. */
export class RecentSet<Value> {
  readonly #values = new Set<Value>()
  readonly #most: number

  constructor(most: number) {
    this.#most = most
  }

  add(value: Value): void {
    this.#values.delete(value)
    this.#values.add(value)
    if (this.#values.size > this.#most) this.#values.delete(this.#values.keys().next().value as Value)
  }

  has(value: Value): boolean {
    return this.#values.has(value)
  }

  delete(value: Value): void {
    this.#values.delete(value)
  }
}
