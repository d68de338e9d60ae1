import type { JsonObject, ToolFailure, TurnId } from '../contracts/index.ts'

/** From this many times in a row on, a call is not made again. */
const mostInARow = 3

interface Call {
  readonly turnId: TurnId
  readonly tool: string
  readonly input: JsonObject
}

/** As text only where the same tool is called again: most calls are of another one. */
interface Made extends Call {
  text: string | undefined
}

/** Notices a model that makes the same call over and over. Not part of the state: a new driver counts anew. */
export class Repeats {
  #last: Made | undefined
  #times = 0

  /** Why this call is not made, if it was made too often in a row. */
  refusal({ turnId, tool, input }: Call): ToolFailure | undefined {
    const call: Made = { turnId, tool, input, text: undefined }
    this.#times = this.#last && isSame(this.#last, call) ? this.#times + 1 : 1
    this.#last = call
    if (this.#times < mostInARow) return undefined
    return {
      class: 'blocked',
      message: `"${call.tool}" was called ${this.#times} times in a row with the same input; it was not run again.`,
      remedy: 'Use the result that you have, do something else, or answer.',
    }
  }
}

const isSame = (a: Made, b: Made): boolean => a.tool === b.tool && a.turnId === b.turnId && textOf(a) === textOf(b)

function textOf(call: Made): string {
  call.text ??= JSON.stringify(call.input)
  return call.text
}
