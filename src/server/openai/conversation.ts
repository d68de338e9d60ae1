import type { InputPart, Message, ReplyPart } from '../../contracts/index.ts'
import { CallPairs } from '../../policy/call-pairs.ts'
import { type Content, inputParts, invalid } from './content.ts'

/** The messages of a client as a session takes them. */
export interface Conversation {
  readonly history: readonly Message[]
  readonly input: readonly InputPart[]
  /** Texts of system messages. */
  readonly instructions: readonly string[]
}

interface ClientCall {
  readonly id: string
  readonly name: string
  readonly input: string
}

/** Collects messages. The last one is from the user: it is the input. `place` is the name of the list, for errors. */
export class ConversationReader {
  readonly #history: Message[] = []
  readonly #instructions: string[] = []
  readonly #place: string
  readonly #pairs = new CallPairs(({ place, message, remedy }) => {
    throw invalid(place, message, remedy)
  })

  constructor(place: string) {
    this.#place = place
  }

  instruct(text: string): void {
    if (text.trim() !== '') this.#instructions.push(text)
  }

  user(content: Content, place: string): void {
    this.#pairs.close()
    this.#history.push({ role: 'user', parts: inputParts(content, place) })
  }

  assistant({ text, calls = [] }: { readonly text: string; readonly calls?: readonly ClientCall[] }, place: string): void {
    this.#pairs.close()
    const parts: ReplyPart[] = [
      ...(text === '' ? [] : [{ type: 'text', text } as const]),
      ...calls.map((call) => ({ type: 'call', ...call }) as const),
    ]
    if (parts.length === 0) return
    this.#history.push({ role: 'assistant', parts })
    for (const call of calls) this.#pairs.call(call, place)
  }

  /** A call of the message before it, together with others that have no result yet. */
  call(call: ClientCall, place: string): void {
    const last = this.#history.at(-1)
    if (last?.role !== 'assistant') {
      this.assistant({ text: '', calls: [call] }, place)
      return
    }
    this.#history.splice(-1, 1, { role: 'assistant', parts: [...last.parts, { type: 'call', ...call }] })
    this.#pairs.call(call, place)
  }

  result({ id, content, ok = true }: { readonly id: string; readonly content: string; readonly ok?: boolean }, place: string): void {
    this.#history.push({ role: 'tool', results: [{ id, name: this.#pairs.result(id, place), ok, content }] })
  }

  end(): Conversation {
    this.#pairs.close()
    const last = this.#history.pop()
    if (last?.role !== 'user') throw invalid(this.#place, 'the last message must be from the user', 'Send what the agent is to answer.')
    return { history: this.#history, input: last.parts, instructions: this.#instructions }
  }
}
