import type { Message, ModelPart } from '../../contracts/index.ts'
import { type Fields, fieldsOf, type GatheredCall, isFields, listOf, textOf, withIds, withWork } from '../shared/index.ts'
import { signedBy } from './messages.ts'
import { RawFacts } from './raw-facts.ts'

interface CallSoFar {
  readonly call: Fields
  /** Of its arguments. */
  readonly characters: number
}

/** Turns the chunks of a LlamaIndex reply into parts. Calls go out at the end, and only where the reply was not cut. */
export class ReplyReader {
  readonly #id: string
  readonly #messages: readonly Message[]
  readonly #facts = new RawFacts()
  /** By id: each chunk brings the whole of a call so far. Those without an id are whole when they come. */
  readonly #calls = new Map<unknown, CallSoFar>()

  constructor(id: string, messages: readonly Message[]) {
    this.#id = id
    this.#messages = messages
  }

  take(chunk: unknown): readonly ModelPart[] {
    if (!isFields(chunk)) return []
    this.#facts.take(chunk.raw)
    const options = fieldsOf(chunk.options)
    let written = 0
    for (const call of listOf(options.toolCall).filter(isFields)) written += this.#write(call)
    const parts: ModelPart[] = []
    const thinking = textOf(options.thinking)
    const signature = textOf(options.thinking_signature)
    const text = textOf(chunk.delta)
    if (thinking !== undefined || signature !== undefined)
      parts.push({ type: 'reasoning', text: thinking ?? '', ...(signature !== undefined && { metadata: signedBy(this.#id, signature) }) })
    if (text !== undefined) parts.push({ type: 'text', text })
    return withWork(parts, written)
  }

  /** Answers how many characters of its arguments are new. */
  #write(call: Fields): number {
    const key = textOf(call.id) ?? Symbol('unnamed')
    const known = this.#calls.get(key)
    const characters = known && known.call.input === call.input ? known.characters : textOfInput(call).length
    this.#calls.set(key, { call, characters })
    return Math.max(0, characters - (known?.characters ?? 0))
  }

  /** Nothing at all where the reply was cut. */
  end(): readonly ModelPart[] {
    const calls = [...this.#calls.values()].map(({ call }) => gathered(call))
    const reason = this.#facts.reason(calls)
    if (reason === undefined) return []
    const { usage } = this.#facts
    const named = withIds(calls, this.#messages)
    return [...named.map((call) => ({ type: 'call', ...call }) as const), { type: 'finish', reason, ...(usage && { usage }) }]
  }
}

/** Arguments are a text while they come in, and with some providers to the end. */
const textOfInput = ({ input }: Fields): string => (typeof input === 'string' ? input : JSON.stringify(fieldsOf(input)))

function gathered(call: Fields): GatheredCall {
  const text = textOfInput(call)
  return { id: textOf(call.id), name: textOf(call.name) ?? '', input: text.trim() === '' ? '{}' : text }
}
