import { type FinishReason, noUsage, type Usage } from '../../contracts/index.ts'
import { countOf, endOfReply, type Fields, fieldsOf, finishReasonOf, type GatheredCall, isFields, textOf } from '../shared/index.ts'

/** Integrations that always tell why a reply ended. A stream of theirs without that was cut. */
const alwaysTelling: readonly unknown[] = ['openai', 'anthropic']

/** What the chunks of a reply say about its end and its cost. */
export class Ending {
  #word: string | undefined
  #usage: Usage | undefined
  #hasWrongFigures = false
  #provider: unknown

  take(message: Fields): void {
    const metadata = fieldsOf(message.response_metadata)
    const extras = fieldsOf(message.additional_kwargs)
    this.#provider ??= metadata.model_provider
    this.#word = wordIn(metadata) ?? wordIn(extras) ?? (textOf(extras.refusal) ? 'refusal' : undefined) ?? this.#word
    if (!isFields(message.usage_metadata)) return
    const sum = added(this.#usage ?? noUsage, message.usage_metadata)
    this.#usage = sum ?? this.#usage
    this.#hasWrongFigures ||= sum === undefined
  }

  /** Nothing where any of the figures is none: half of a sum would be too little. */
  get usage(): Usage | undefined {
    return this.#hasWrongFigures ? undefined : this.#usage
  }

  reason(calls: readonly GatheredCall[]): FinishReason | undefined {
    return endOfReply({ word: this.#word, isAlwaysTelling: alwaysTelling.includes(this.#provider), calls })
  }
}

function wordIn(facts: Fields): string | undefined {
  const incomplete = textOf(fieldsOf(facts.incomplete_details).reason)
  const stopped = textOf(fieldsOf(facts.messageStop).stopReason)
  const words = [facts.finish_reason, facts.stop_reason, facts.finishReason, facts.stopReason, facts.done_reason]
  return incomplete ?? stopped ?? words.map(textOf).find((word) => word !== undefined) ?? statusIn(facts)
}

/** A status may also say that it is at work, or belong to something else. */
function statusIn({ status }: Fields): string | undefined {
  const word = textOf(status)
  return word === undefined || finishReasonOf(word) === 'other' ? undefined : word
}

/** LangChain's figures of the chunks are to be added up. */
function added(sum: Usage, figures: Fields): Usage | undefined {
  const inputs = fieldsOf(figures.input_token_details)
  const outputs = fieldsOf(figures.output_token_details)
  const input = countOf(sum.input + (countOf(figures.input_tokens ?? 0) ?? Number.NaN))
  const output = countOf(sum.output + (countOf(figures.output_tokens ?? 0) ?? Number.NaN))
  if (input === undefined || output === undefined) return undefined
  return {
    input,
    output,
    cacheRead: sum.cacheRead + (countOf(inputs.cache_read) ?? 0),
    cacheWrite: sum.cacheWrite + (countOf(inputs.cache_creation) ?? 0),
    reasoning: sum.reasoning + (countOf(outputs.reasoning) ?? 0),
  }
}
