import type { Problem } from '../contracts/index.ts'
import { showValue } from '../util/show-value.ts'

/**
 * Pairs calls and results in the history of a client. A provider refuses a request with a call without its result, in every later
 * step, too.
 *
 * 1. Between a call and its result are only other calls and results.
 * 2. Every result belongs to a call that has none yet.
 */
export class CallPairs {
  /** Calls without a result, by id. */
  readonly #open = new Map<string, { readonly name: string; readonly place: string }>()
  readonly #report: (problem: Problem) => void
  readonly #call: string
  readonly #result: string

  /** `words`: how the client names a call and a result. `report` may throw. */
  constructor(report: (problem: Problem) => void, words: readonly [call: string, result: string] = ['call', 'result']) {
    this.#report = report
    this.#call = words[0]
    this.#result = words[1]
  }

  call({ id, name }: { readonly id: string; readonly name: string }, place: string): void {
    if (this.#open.has(id)) {
      const message = `there are two ${this.#call}s with the id ${showValue(id)}`
      this.#report({ place, message, remedy: `Give each ${this.#call} an id of its own.` })
    }
    this.#open.set(id, { name, place })
  }

  /** The name of its call. */
  result(id: string, place: string): string {
    const call = this.#open.get(id)
    this.#open.delete(id)
    if (call) return call.name
    const message = `the ${this.#result} ${showValue(id)} belongs to no ${this.#call} before it`
    this.#report({ place, message, remedy: `Add the ${this.#call}, or leave the ${this.#result} out.` })
    return ''
  }

  /** Before another message, and at the end. `nextPlace`: of that message, if problems name it instead of the call. */
  close(nextPlace?: string): void {
    for (const [id, { place }] of this.#open) {
      const message = `the ${this.#call} ${showValue(id)} has no ${this.#result}`
      this.#report({
        place: nextPlace ?? place,
        message,
        remedy: `Add its ${this.#result} directly after it, or leave the ${this.#call} out.`,
      })
    }
    this.#open.clear()
  }
}
