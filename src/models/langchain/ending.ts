import { type FinishReason, noUsage, type Usage } from '../../contracts/index.ts'
import { countOf, type Fields, fieldsOf, finishReasonOf, isFields, textOf } from '../foreign/index.ts'

/** Integrations that always tell why a reply ended. A stream of theirs without that was cut. */
const alwaysTelling: readonly unknown[] = ['openai', 'anthropic']

/** What the chunks of a reply say about its end and its cost. */
export class Ending {
  #word: string | undefined
  #usage: Usage | undefined
  #provider: unknown

  take(message: Fields): void {
    const metadata = fieldsOf(message.response_metadata)
    const extras = fieldsOf(message.additional_kwargs)
    this.#provider ??= metadata.model_provider
    this.#word = wordIn(metadata) ?? wordIn(extras) ?? (textOf(extras.refusal) ? 'refusal' : undefined) ?? this.#word
    if (isFields(message.usage_metadata)) this.#usage = added(this.#usage ?? noUsage, message.usage_metadata)
  }

  get usage(): Usage | undefined {
    return this.#usage
  }

  /** `undefined` where the reply was cut. Where nobody tells, an orderly end of the stream is the end of the reply. */
  reason({ hasCalls, areWhole }: { readonly hasCalls: boolean; readonly areWhole: boolean }): FinishReason | undefined {
    if (this.#word === undefined) return alwaysTelling.includes(this.#provider) || !areWhole ? undefined : hasCalls ? 'tool-calls' : 'stop'
    const reason = finishReasonOf(this.#word)
    return reason === 'stop' && hasCalls ? 'tool-calls' : reason
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
function added(sum: Usage, figures: Fields): Usage {
  const inputs = fieldsOf(figures.input_token_details)
  const outputs = fieldsOf(figures.output_token_details)
  return {
    input: sum.input + (countOf(figures.input_tokens) ?? 0),
    output: sum.output + (countOf(figures.output_tokens) ?? 0),
    cacheRead: sum.cacheRead + (countOf(inputs.cache_read) ?? 0),
    cacheWrite: sum.cacheWrite + (countOf(inputs.cache_creation) ?? 0),
    reasoning: sum.reasoning + (countOf(outputs.reasoning) ?? 0),
  }
}
