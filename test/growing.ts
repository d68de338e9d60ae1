/** A value that tests can wait for. */
export class Growing<Value> {
  value: Value
  readonly #listeners = new Set<() => void>()
  readonly #patienceMs: number

  constructor(value: Value, patienceMs = 30_000) {
    this.value = value
    this.#patienceMs = patienceMs
  }

  set(value: Value): void {
    this.value = value
    for (const listener of [...this.#listeners]) listener()
  }

  until<Found>(find: (value: Value) => Found | undefined, what: string): Promise<Found> {
    return new Promise((resolve, reject) => {
      const end = (): void => {
        this.#listeners.delete(look)
        clearTimeout(timer)
      }
      const timer = setTimeout(() => {
        end()
        reject(new Error(`There was no ${what} within ${this.#patienceMs} ms`))
      }, this.#patienceMs)
      const look = (): void => {
        const found = find(this.value)
        if (found === undefined) return
        end()
        resolve(found)
      }
      this.#listeners.add(look)
      look()
    })
  }
}
