/**
 * A cancellation that costs next to nothing until somebody asks for its signal: most calls never do.
 *
 * 1. It fires once; whoever listens later is told at once.
 * 2. A child fires with its parent, never the other way round; a closed child no longer listens.
 */
export class Interrupt {
  #reason: string | undefined
  #controller: AbortController | undefined
  #listeners: (() => void)[] | undefined
  #parent: Interrupt | undefined
  // Children are linked, not listed: each attempt and each call comes and goes.
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
    // Whoever fires takes itself out.
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

/** Waits for something that may never come, but not beyond an interrupt: that throws. */
export function unlessInterrupted<T>(interrupt: Interrupt, value: T | Promise<T>): Promise<T> {
  if (!(value instanceof Promise)) return Promise.resolve(value)
  const waiting = new Interrupt(interrupt)
  return new Promise((resolve, reject) => {
    waiting.listen(() => reject(new Error(waiting.reason)))
    value.then(resolve, reject).finally(() => waiting.close())
  })
}
