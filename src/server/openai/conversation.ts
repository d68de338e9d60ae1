import type { InputPart, Message, ReplyPart } from '../../contracts/index.ts'
import { type Content, inputParts, invalid } from './content.ts'

/** The messages of a client as a session takes them. */
export interface Conversation {
  readonly history: readonly Message[]
  readonly input: readonly InputPart[]
  /** Texts of system messages. */
  readonly instructions: readonly string[]
}

export interface ClientCall {
  readonly id: string
  readonly name: string
  readonly input: string
}

// 1. Every call of the history has its result, directly after its message: providers refuse others.
// 2. The last message is from the user: it is the input.

/** Collects messages. `place` is the name of the list, for errors. */
export class ConversationReader {
  readonly #history: Message[] = []
  readonly #instructions: string[] = []
  readonly #place: string
  /** Calls without a result: names by id. */
  #open = new Map<string, string>()
  /** The place of their message. */
  #openPlace = ''

  constructor(place: string) {
    this.#place = place
  }

  instruct(text: string): void {
    if (text.trim() !== '') this.#instructions.push(text)
  }

  user(content: Content, place: string): void {
    this.#closeCalls()
    this.#history.push({ role: 'user', parts: inputParts(content, place) })
  }

  assistant({ text, calls = [] }: { readonly text: string; readonly calls?: readonly ClientCall[] }, place: string): void {
    this.#closeCalls()
    const parts: ReplyPart[] = [
      ...(text === '' ? [] : [{ type: 'text', text } as const]),
      ...calls.map((call) => ({ type: 'call', ...call }) as const),
    ]
    if (parts.length === 0) return
    this.#history.push({ role: 'assistant', parts })
    this.#open = new Map(calls.map(({ id, name }) => [id, name]))
    this.#openPlace = place
  }

  /** A call of the message before it, together with others that have no result yet. */
  call(call: ClientCall, place: string): void {
    const last = this.#history.at(-1)
    if (last?.role !== 'assistant') {
      this.assistant({ text: '', calls: [call] }, place)
      return
    }
    this.#history.splice(-1, 1, { role: 'assistant', parts: [...last.parts, { type: 'call', ...call }] })
    this.#open.set(call.id, call.name)
    this.#openPlace = place
  }

  result({ id, content, ok = true }: { readonly id: string; readonly content: string; readonly ok?: boolean }, place: string): void {
    const name = this.#open.get(id)
    if (name === undefined) throw invalid(place, `there is no call "${id}" directly before its result`)
    this.#open.delete(id)
    this.#history.push({ role: 'tool', results: [{ id, name, ok, content }] })
  }

  end(): Conversation {
    this.#closeCalls()
    const last = this.#history.pop()
    if (last?.role !== 'user') throw invalid(this.#place, 'the last message must be from the user', 'Send what the agent is to answer.')
    return { history: this.#history, input: last.parts, instructions: this.#instructions }
  }

  #closeCalls(): void {
    const [id] = this.#open.keys()
    if (id !== undefined) throw invalid(this.#openPlace, `the call "${id}" has no result`, 'Send its result, or leave the call out.')
  }
}
