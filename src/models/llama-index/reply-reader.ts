import type { Message, ModelPart } from '../../contracts/index.ts'
import { type Fields, fieldsOf, type GatheredCall, isFields, listOf, textOf, withIds } from '../shared/index.ts'
import { signedBy } from './messages.ts'
import { RawFacts } from './raw-facts.ts'

/** Turns the chunks of a LlamaIndex reply into parts. Calls go out at the end, and only where the reply was not cut. */
export class ReplyReader {
  readonly #id: string
  readonly #messages: readonly Message[]
  readonly #facts = new RawFacts()
  /** By id: each chunk brings the whole of a call so far. Those without an id are whole when they come. */
  readonly #calls = new Map<unknown, Fields>()

  constructor(id: string, messages: readonly Message[]) {
    this.#id = id
    this.#messages = messages
  }

  take(chunk: unknown): readonly ModelPart[] {
    if (!isFields(chunk)) return []
    this.#facts.take(chunk.raw)
    const options = fieldsOf(chunk.options)
    for (const call of listOf(options.toolCall).filter(isFields)) this.#calls.set(textOf(call.id) ?? Symbol('unnamed'), call)
    const parts: ModelPart[] = []
    const thinking = textOf(options.thinking)
    const signature = textOf(options.thinking_signature)
    const text = textOf(chunk.delta)
    if (thinking !== undefined || signature !== undefined)
      parts.push({ type: 'reasoning', text: thinking ?? '', ...(signature !== undefined && { metadata: signedBy(this.#id, signature) }) })
    if (text !== undefined) parts.push({ type: 'text', text })
    return parts.length > 0 ? parts : [{ type: 'working' }]
  }

  /** Nothing at all where the reply was cut. */
  end(): readonly ModelPart[] {
    const calls = [...this.#calls.values()].map(gathered)
    const reason = this.#facts.reason(calls)
    if (reason === undefined) return []
    const { usage } = this.#facts
    const named = withIds(calls, this.#messages)
    return [...named.map((call) => ({ type: 'call', ...call }) as const), { type: 'finish', reason, ...(usage && { usage }) }]
  }
}

/** Arguments are a text while they come in, and with some providers to the end. */
function gathered(call: Fields): GatheredCall {
  const { input } = call
  const text = typeof input === 'string' ? input : JSON.stringify(fieldsOf(input))
  return { id: textOf(call.id), name: textOf(call.name) ?? '', input: text.trim() === '' ? '{}' : text }
}
