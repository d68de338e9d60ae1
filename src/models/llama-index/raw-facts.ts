import { type FinishReason, noUsage, type Usage } from '../../contracts/index.ts'
import { countOf, endOfReply, type Fields, fieldsOf, type GatheredCall, isFields, listOf, textOf } from '../shared/index.ts'

/**
 * LlamaIndex itself says neither why a reply ended nor what it cost. What the provider has sent lies in `raw`, and is
 * read here where its form is known: that of OpenAI, Anthropic, Gemini and Ollama.
 */
export class RawFacts {
  #word: string | undefined
  #usage: Usage | undefined
  #isAlwaysTelling = false

  take(raw: unknown): void {
    if (!isFields(raw)) return
    const choice = fieldsOf(listOf(raw.choices)[0])
    const candidate = fieldsOf(listOf(raw.candidates)[0])
    // Whoever streams choices ends each with a reason.
    this.#isAlwaysTelling ||= Array.isArray(raw.choices)
    const words = [choice.finish_reason, fieldsOf(raw.delta).stop_reason, candidate.finishReason, raw.done_reason]
    this.#word = words.map(textOf).find((word) => word !== undefined) ?? this.#word
    this.#usage = usageIn(raw) ?? this.#usage
  }

  get usage(): Usage | undefined {
    return this.#usage
  }

  reason(calls: readonly GatheredCall[]): FinishReason | undefined {
    return endOfReply({ word: this.#word, isAlwaysTelling: this.#isAlwaysTelling, calls })
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

/** Anthropic counts what comes from its cache beside the input. */
function anthropicUsage(usage: Fields): Usage | undefined {
  const input = countOf(usage.input_tokens)
  const output = countOf(usage.output_tokens)
  if (input === undefined || output === undefined) return undefined
  const cacheRead = countOf(usage.cache_read_input_tokens) ?? 0
  const cacheWrite = countOf(usage.cache_creation_input_tokens) ?? 0
  return { ...noUsage, input: input + cacheRead + cacheWrite, output, cacheRead, cacheWrite }
}

const first = (...values: readonly unknown[]): number | undefined => values.map(countOf).find((value) => value !== undefined)
