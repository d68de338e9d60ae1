import { type FinishReason, type Message, type ModelPart, noUsage, type Usage } from '../../contracts/index.ts'
import { isRecord } from '../../util/is-record.ts'
import { countOf, type Fields, fieldsOf, listOf, textOf } from '../../util/unknown-fields.ts'
import { endOfReply, type GatheredCall, withIds, withProgress } from '../shared/index.ts'
import { signedBy } from './llama-index-messages.ts'

interface CallSoFar {
  readonly call: Fields
  /** The length of its arguments. */
  readonly characters: number
}

/** Turns the chunks of a LlamaIndex reply into parts. Calls are sent at the end, unless the reply was cut off. */
export class ReplyReader {
  readonly #id: string
  readonly #messages: readonly Message[]
  readonly #facts = new RawFacts()
  /** By id: each chunk has the whole call so far. Calls without an id are complete. */
  readonly #calls = new Map<unknown, CallSoFar>()

  constructor(id: string, messages: readonly Message[]) {
    this.#id = id
    this.#messages = messages
  }

  take(chunk: unknown): readonly ModelPart[] {
    if (!isRecord(chunk)) return []
    this.#facts.take(chunk.raw)
    const options = fieldsOf(chunk.options)
    let written = 0
    for (const call of listOf(options.toolCall).filter(isRecord)) written += this.#write(call)
    const parts: ModelPart[] = []
    const thinking = textOf(options.thinking)
    const signature = textOf(options.thinking_signature)
    const text = textOf(chunk.delta)
    if (thinking !== undefined || signature !== undefined)
      parts.push({ type: 'reasoning', text: thinking ?? '', ...(signature !== undefined && { metadata: signedBy(this.#id, signature) }) })
    if (text !== undefined) parts.push({ type: 'text', text })
    return withProgress(parts, written)
  }

  /** Returns the number of new argument characters. */
  #write(call: Fields): number {
    const key = textOf(call.id) ?? Symbol('unnamed')
    const known = this.#calls.get(key)
    const characters = known && known.call.input === call.input ? known.characters : textOfInput(call).length
    this.#calls.set(key, { call, characters })
    return Math.max(0, characters - (known?.characters ?? 0))
  }

  /** Empty if the reply was cut off. */
  end(): readonly ModelPart[] {
    const calls = [...this.#calls.values()].map(({ call }) => gathered(call))
    const reason = this.#facts.reason(calls)
    if (reason === undefined) return []
    const { usage } = this.#facts
    const named = withIds(calls, this.#messages)
    return [...named.map((call) => ({ type: 'call', ...call }) as const), { type: 'finish', reason, ...(usage && { usage }) }]
  }
}

/** Arguments are a text while they arrive, and with some providers also at the end. */
const textOfInput = ({ input }: Fields): string => (typeof input === 'string' ? input : JSON.stringify(fieldsOf(input)))

function gathered(call: Fields): GatheredCall {
  const text = textOfInput(call)
  return { id: textOf(call.id), name: textOf(call.name) ?? '', input: text.trim() === '' ? '{}' : text }
}

/**
 * LlamaIndex reports neither finish reason nor usage. This reads them from the provider's `raw` data: that of OpenAI,
 * Anthropic, Gemini and Ollama.
 */
class RawFacts {
  #word: string | undefined
  #usage: Usage | undefined
  #alwaysGivesReason = false

  take(raw: unknown): void {
    if (!isRecord(raw)) return
    const choice = fieldsOf(listOf(raw.choices)[0])
    const candidate = fieldsOf(listOf(raw.candidates)[0])
    // Providers that stream choices always give a reason.
    this.#alwaysGivesReason ||= Array.isArray(raw.choices)
    const words = [choice.finish_reason, fieldsOf(raw.delta).stop_reason, candidate.finishReason, raw.done_reason]
    this.#word = words.map(textOf).find((word) => word !== undefined) ?? this.#word
    this.#usage = usageIn(raw) ?? this.#usage
  }

  get usage(): Usage | undefined {
    return this.#usage
  }

  reason(calls: readonly GatheredCall[]): FinishReason | undefined {
    return endOfReply({ word: this.#word, alwaysGivesReason: this.#alwaysGivesReason, calls })
  }
}

function usageIn(raw: Fields): Usage | undefined {
  const usage = fieldsOf(raw.usage ?? fieldsOf(raw.message).usage)
  const gemini = fieldsOf(raw.usageMetadata)
  const input = first(usage.prompt_tokens, gemini.promptTokenCount, raw.prompt_eval_count)
  const output = first(usage.completion_tokens, gemini.candidatesTokenCount, raw.eval_count)
  if (input === undefined || output === undefined) return anthropicUsage(usage)
  return {
    ...noUsage,
    input,
    output,
    cacheRead: first(fieldsOf(usage.prompt_tokens_details).cached_tokens, gemini.cachedContentTokenCount) ?? 0,
    reasoning: first(fieldsOf(usage.completion_tokens_details).reasoning_tokens) ?? 0,
  }
}

/** Anthropic counts cached tokens separately from the input. */
function anthropicUsage(usage: Fields): Usage | undefined {
  const input = countOf(usage.input_tokens)
  const output = countOf(usage.output_tokens)
  if (input === undefined || output === undefined) return undefined
  const cacheRead = countOf(usage.cache_read_input_tokens) ?? 0
  const cacheWrite = countOf(usage.cache_creation_input_tokens) ?? 0
  return { ...noUsage, input: input + cacheRead + cacheWrite, output, cacheRead, cacheWrite }
}

const first = (...values: readonly unknown[]): number | undefined => values.map(countOf).find((value) => value !== undefined)
