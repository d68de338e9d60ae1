/**
 * A cancellation that is cheap until its `AbortSignal` is used: most calls never use it.
 *
 * 1. It fires once; later listeners are called immediately.
 * 2. A child fires with its parent, not the reverse; a closed child does not fire with it.
 */
export class Interrupt {
  #reason: string | undefined
  #controller: AbortController | undefined
  #listeners: (() => void)[] | undefined
  #parent: Interrupt | undefined
  // A linked list: children are added and removed all the time.
  #first: Interrupt | undefined
  #last: Interrupt | undefined
  #before: Interrupt | undefined
  #after: Interrupt | undefined

  constructor(parent?: Interrupt) {
    if (parent?.reason !== undefined) this.#reason = parent.reason
    else if (parent) {
      this.#parent = parent
      this.#before = parent.#last
      if (parent.#last) parent.#last.#after = this
      else parent.#first = this
      parent.#last = this
    }
  }

  get reason(): string | undefined {
    return this.#reason
  }

  get signal(): AbortSignal {
    this.#controller ??= new AbortController()
    if (this.#reason !== undefined && !this.#controller.signal.aborted) this.#controller.abort(new Error(this.#reason))
    return this.#controller.signal
  }

  fire(reason: string): void {
    if (this.#reason !== undefined) return
    this.#reason = reason
    this.close()
    this.#controller?.abort(new Error(reason))
    for (const listener of this.#listeners?.splice(0) ?? []) listener()
    // Firing removes a child from the list.
    while (this.#first) this.#first.fire(reason)
  }

  listen(listener: () => void): void {
    if (this.#reason !== undefined) listener()
    else if (this.#listeners) this.#listeners.push(listener)
    else this.#listeners = [listener]
  }

  /** No longer fires with its parent. */
  close(): void {
    const parent = this.#parent
    if (!parent) return
    if (this.#before) this.#before.#after = this.#after
    else parent.#first = this.#after
    if (this.#after) this.#after.#before = this.#before
    else parent.#last = this.#before
    this.#parent = undefined
    this.#before = undefined
    this.#after = undefined
  }
}

/** A wait that an interrupt has ended. */
export class Interrupted extends Error {
  readonly reason: string

  constructor(reason = 'interrupted') {
    super(reason)
    this.reason = reason
  }
}

/** Awaits a value. Rejects with `Interrupted` when the interrupt fires first. */
export function unlessInterrupted<T>(interrupt: Interrupt, value: T | Promise<T>): Promise<T> {
  if (!(value instanceof Promise)) return Promise.resolve(value)
  const waiting = new Interrupt(interrupt)
  return new Promise((resolve, reject) => {
    waiting.listen(() => reject(new Interrupted(waiting.reason)))
    value.then(resolve, reject).finally(() => waiting.close())
  })
}
