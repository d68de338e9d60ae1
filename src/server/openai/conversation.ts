import type { InputPart, Message, ReplyPart } from '../../contracts/index.ts'
import { CallPairs } from '../../policy/call-pairs.ts'
import { textOfParts } from '../../util/text-of-parts.ts'
import { continueWithResults, type Returned, type WireResult } from '../http/index.ts'
import { type Content, inputParts, invalid } from './content.ts'

/** The messages of a client as a session takes them. */
export interface Conversation {
  readonly history: readonly Message[]
  readonly input: readonly InputPart[]
  /** Texts of system messages. */
  readonly instructions: readonly string[]
  /** Present if the conversation ends in results of calls. */
  readonly returned?: Returned
}

interface ClientCall {
  readonly id: string
  readonly name: string
  readonly input: string
}

interface ClientResult {
  readonly id: string
  readonly content: Content
  readonly ok?: boolean
}

/** Collects messages. The last one is the input: from the user, or results of calls. `place` is the name of the list, for errors. */
export class ConversationReader {
  readonly #history: Message[] = []
  readonly #instructions: string[] = []
  /** Since the last message of the assistant. */
  #results: WireResult[] = []
  #after: InputPart[] = []
  readonly #place: string
  readonly #pairs = new CallPairs(({ place, message, remedy }) => {
    throw invalid(place, message, remedy)
  })

  constructor(place: string) {
    this.#place = place
  }

  instruct(text: string): void {
    if (text.trim() === '') return
    this.#instructions.push(text)
    if (this.#results.length > 0) this.#after.push({ type: 'text', text })
  }

  user(content: Content, place: string): void {
    this.#pairs.close()
    const parts = inputParts(content, place)
    this.#history.push({ role: 'user', parts })
    if (this.#results.length > 0) this.#after.push(...parts)
  }

  assistant({ text, calls = [] }: { readonly text: string; readonly calls?: readonly ClientCall[] }, place: string): void {
    this.#pairs.close()
    const parts: ReplyPart[] = [
      ...(text === '' ? [] : [{ type: 'text', text } as const]),
      ...calls.map((call) => ({ type: 'call', ...call }) as const),
    ]
    if (parts.length === 0) return
    this.#results = []
    this.#after = []
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

  result({ id, content, ok = true }: ClientResult, place: string, contentPlace = place): void {
    const parts = typeof content !== 'string' && content.length === 0 ? [] : inputParts(content, contentPlace)
    const text = textOfParts(parts)
    this.#history.push({ role: 'tool', results: [{ id, name: this.#pairs.result(id, place), ok, content: text }] })
    const media = parts.filter(({ type }) => type !== 'text')
    this.#results.push({
      id,
      ok,
      content: media.length > 0 ? textOfParts(parts.filter(({ type }) => type === 'text')) : text,
      parts: media,
    })
  }

  end(): Conversation {
    this.#pairs.close()
    const instructions = this.#instructions
    const returned = this.#results.length > 0 && { returned: { results: this.#results, parts: this.#after } }
    const last = this.#history.at(-1)
    if (last?.role === 'user') return { history: this.#history.slice(0, -1), input: last.parts, instructions, ...returned }
    if (last?.role === 'tool') return { history: this.#history, input: [continueWithResults], instructions, ...returned }
    throw invalid(this.#place, 'the last message must be from the user, or results of calls', 'Send what the agent is to answer.')
  }
}
