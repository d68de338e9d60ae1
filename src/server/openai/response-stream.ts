import type { ResponseEvent } from './response-items.ts'

// The events of a response as they are sent.
//
// 1. A response has the same events with the same numbers, whenever and however often it is streamed, so that a client can continue
//    after the last one that it has. Therefore texts are cut at places that depend on the text alone, not on the pieces of the model.
// 2. The last event is sent to every client that does not have it. It has the whole response, also for a client with later numbers, of an
//    attempt whose text a crash has lost.
// 3. An error of the stream is no event of the response: it repeats the number of the last one.

export class ResponseStream {
  readonly #after: number
  #number = 0
  /** Texts that are not complete, by item: the beginning of a piece, and the characters before it. */
  readonly #held = new Map<string, { readonly rest: string; readonly offset: number }>()

  /** `after`: the last number that the client has. */
  constructor(after = -1) {
    this.#after = after
  }

  async *numbered(events: AsyncIterable<ResponseEvent>): AsyncGenerator<ResponseEvent> {
    for await (const event of events)
      for (const each of this.#cut(event)) {
        const number = this.#number++
        if (number > this.#after) yield { ...each, sequence_number: number }
        else if (number < this.#after && lastTypes.has(each.type)) yield { ...each, sequence_number: this.#after + 1 }
      }
  }

  error(event: ResponseEvent): ResponseEvent {
    return { ...event, sequence_number: Math.max(this.#number - 1, this.#after) }
  }

  *#cut(event: ResponseEvent): Generator<ResponseEvent> {
    const id = String(event.item_id)
    const { rest, offset } = this.#held.get(id) ?? { rest: '', offset: 0 }
    if (textDeltas.has(event.type)) {
      const pieces = cutText(rest + String(event.delta), offset)
      const held = pieces.pop() ?? ''
      this.#held.set(id, { rest: held, offset: offset + pieces.reduce((sum, { length }) => sum + length, 0) })
      for (const delta of pieces) yield { ...event, delta }
      return
    }
    const delta = textEnds[event.type]
    if (delta !== undefined && rest !== '') {
      const { text: _, ...place } = event
      yield { ...place, type: delta, delta: rest }
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

const maxWordChars = 32

/**
 * A piece is a word with the space after it; later in a long text, where nobody waits for each word, it is several. The last piece may
 * be incomplete. `offset`: characters of the text before these.
 */
export function cutText(text: string, offset = 0): string[] {
  const pieces: string[] = []
  for (let from = 0; ; ) {
    const least = Math.min(256, Math.floor((offset + from) / 512))
    const most = least + maxWordChars
    const next = text.slice(from, from + most + 1)
    const space = /\S\s/.exec(next.slice(Math.max(0, least - 2)))
    const word = space ? Math.max(0, least - 2) + space.index + 2 : most + 1
    if (word > most && next.length <= most) return [...pieces, next]
    // Half of a surrogate pair is no character.
    const isPair = /[\uD800-\uDBFF]/.test(next.charAt(most - 1))
    const length = word <= most ? word : isPair ? most + 1 : most
    pieces.push(next.slice(0, length))
    from += length
  }
}
