import type { ResponseEvent } from './response-items.ts'

// The events of a response as they are sent.
//
// 1. A response has the same events with the same numbers, whenever and however often it is streamed, so that a client can continue
//    after the last one that it has. Therefore texts are cut at places that depend on the text alone, not on the pieces of the model.
// 2. The last event is always sent. It has the whole response, also for a client that has numbers of an attempt that failed since.

export class ResponseStream {
  readonly #after: number
  #number = 0
  /** Of texts that are not complete, by item: the beginning of a word. */
  readonly #held = new Map<string, string>()

  /** `after`: the last number that the client has. */
  constructor(after = -1) {
    this.#after = after
  }

  async *numbered(events: AsyncIterable<ResponseEvent>): AsyncGenerator<ResponseEvent> {
    for await (const event of events)
      for (const each of this.#cut(event)) {
        const isLast = lastTypes.has(each.type)
        if (isLast) yield this.last(each)
        else if (this.#number++ > this.#after) yield { ...each, sequence_number: this.#number - 1 }
      }
  }

  last(event: ResponseEvent): ResponseEvent {
    return { ...event, sequence_number: Math.max(this.#number++, this.#after + 1) }
  }

  *#cut(event: ResponseEvent): Generator<ResponseEvent> {
    const id = String(event.item_id)
    const held = this.#held.get(id) ?? ''
    if (textDeltas.has(event.type)) {
      const { pieces, rest } = words(held + String(event.delta))
      this.#held.set(id, rest)
      for (const delta of pieces) yield { ...event, delta }
      return
    }
    const delta = textEnds[event.type]
    if (delta !== undefined && held !== '') {
      const { text: _, ...place } = event
      yield { ...place, type: delta, delta: held }
    }
    if (delta !== undefined) this.#held.delete(id)
    yield event
  }
}

const lastTypes = new Set(['response.completed', 'response.incomplete', 'response.failed'])
const textEnds: { readonly [type: string]: string } = {
  'response.output_text.done': 'response.output_text.delta',
  'response.reasoning_summary_text.done': 'response.reasoning_summary_text.delta',
}
const textDeltas = new Set(Object.values(textEnds))

const maxPieceChars = 32

/** A piece is a word with the space after it, or as many characters. What is left may be the beginning of one. */
export function words(text: string): { readonly pieces: readonly string[]; readonly rest: string } {
  const pieces: string[] = []
  let from = 0
  for (;;) {
    const next = text.slice(from, from + maxPieceChars + 1)
    const word = /^\s*\S+\s/.exec(next)?.[0] ?? ''
    const isWord = word !== '' && word.length <= maxPieceChars
    if (!isWord && next.length <= maxPieceChars) return { pieces, rest: text.slice(from) }
    // Half of a surrogate pair is no character.
    const length = isWord ? word.length : /[\uD800-\uDBFF]/.test(next[maxPieceChars - 1] ?? '') ? maxPieceChars + 1 : maxPieceChars
    pieces.push(text.slice(from, from + length))
    from += length
  }
}
