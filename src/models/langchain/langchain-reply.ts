import { type FinishReason, type JsonObject, type Message, type ModelPart, noUsage, type Usage } from '../../contracts/index.ts'
import { isRecord } from '../../util/is-record.ts'
import { plainJson } from '../../util/json-values.ts'
import { countOf, type Fields, fieldsOf, listOf, textOf } from '../../util/unknown-fields.ts'
import { endOfReply, finishReasonOf, type GatheredCall, type NamedCall, withIds, withProgress } from '../shared/index.ts'
import { CallChunks } from './call-chunks.ts'
import { type Kept, type KeptBlock, keptMetadata, mergeDelta, outsideTypes, type ReadBlock, readContent } from './reply-blocks.ts'

type Words = Extract<ReadBlock, { kind: 'text' | 'reasoning' }>

interface OpenBlock {
  readonly index: unknown
  block: JsonObject
  chars: number
}
/** Consecutive blocks of one kind: they become one text. */
interface Run {
  readonly kind: Words['kind']
  readonly blocks: OpenBlock[]
}

/** Fields beside the content that integrations need back. */
const returned = ['reasoning', '__openai_function_call_ids__', '__gemini_function_call_thought_signatures__']

/**
 * Turns the chunks of a LangChain reply into parts.
 *
 * 1. Texts are sent as they arrive; their stored data is sent once, before the next part.
 * 2. Calls are sent at the end, unless the reply was cut off.
 */
export class ReplyReader {
  readonly #id: string
  readonly #messages: readonly Message[]
  readonly #calls = new CallChunks()
  readonly #ending = new Ending()
  readonly #callBlocks: JsonObject[] = []
  #extras: JsonObject = {}
  #facts: JsonObject = {}
  #run: Run | undefined
  #hasKeptBlocks = false

  constructor(id: string, messages: readonly Message[]) {
    this.#id = id
    this.#messages = messages
  }

  take(message: unknown): readonly ModelPart[] {
    if (!isRecord(message)) return []
    const written = this.#calls.take(message)
    this.#ending.take(message)
    this.#remember(message)
    const parts: ModelPart[] = []
    const content = readContent(message.content)
    if (!content.some(({ kind }) => kind === 'reasoning')) parts.push(...this.#say(outsideContent(message)))
    for (const block of content) {
      if (block.kind === 'call') this.#callBlocks.push(block.block)
      else parts.push(...this.#say(block))
    }
    return withProgress(parts, written)
  }

  /** Empty if the reply was cut off. */
  end(): readonly ModelPart[] {
    const { calls } = this.#calls
    const reason = this.#ending.reason(calls)
    if (reason === undefined) return []
    const { usage } = this.#ending
    const message = this.#message()
    const parts = calls.length > 0 ? [...this.#close(), ...this.#callParts(withIds(calls, this.#messages), message)] : this.#close(message)
    return [...parts, { type: 'finish', reason, ...(usage && { usage }) }]
  }

  #say(words: Words | undefined): readonly ModelPart[] {
    if (!words) return []
    const { kind, text, index, block } = words
    const closing = this.#run && this.#run.kind !== kind ? this.#close() : []
    this.#run ??= { kind, blocks: [] }
    const open = this.#run.blocks.at(-1)
    if (open && continues(open, words)) {
      open.chars += text.length
      if (Object.keys(block).length > 1) open.block = mergeDelta(open.block, block)
    } else this.#run.blocks.push({ index, block, chars: text.length })
    return text === '' ? closing : [...closing, { type: kind, text }]
  }

  /** Ends the run of blocks. Their stored data is a part without text. */
  #close(message?: Kept['message']): readonly ModelPart[] {
    const run = this.#run
    this.#run = undefined
    if (!run) return []
    const isPlain = run.kind === 'text' && run.blocks.every(({ block }) => Object.keys(block).length === 1)
    if (isPlain && !message) return []
    this.#hasKeptBlocks ||= !isPlain
    const blocks: readonly KeptBlock[] = run.blocks.map(({ block, chars }) => ({ block, chars }))
    const kept = { from: this.#id, ...(!isPlain && { blocks }), ...(message && { message }) }
    return [{ type: run.kind, text: '', metadata: keptMetadata(kept) }]
  }

  #callParts(calls: readonly NamedCall[], message: Kept['message']): readonly ModelPart[] {
    return calls.map(({ id, name, input }, place) => {
      const block = this.#callBlocks.find((each) => each.id === id)
      const isLast = place === calls.length - 1
      const kept = { from: this.#id, ...(block && { call: block }), ...(isLast && message && { message }) }
      const part = { type: 'call', id, name, input } as const
      return Object.keys(kept).length > 1 ? { ...part, metadata: keptMetadata(kept) } : part
    })
  }

  #remember(message: Fields): void {
    const extras = fieldsOf(message.additional_kwargs)
    for (const key of returned) {
      const value = key in extras ? plainJson({ [key]: extras[key] }) : undefined
      if (value) this.#extras = mergeDelta(this.#extras, value)
    }
    const { model_provider, output_version } = fieldsOf(message.response_metadata)
    this.#facts = { ...this.#facts, ...plainJson({ model_provider, output_version }) }
  }

  /** The data that the whole message needs; nothing for plain text. */
  #message(): Kept['message'] {
    const hasBlocks = this.#hasKeptBlocks || this.#callBlocks.length > 0 || this.#run?.kind === 'reasoning'
    const hasExtras = Object.keys(this.#extras).length > 0
    if (!hasExtras && !hasBlocks && this.#facts.output_version === undefined) return undefined
    return {
      ...(hasExtras && { additional_kwargs: this.#extras }),
      ...(Object.keys(this.#facts).length > 0 && { response_metadata: this.#facts }),
    }
  }
}

/** A block without an index continues until it has more than text, such as a signature. */
function continues(open: OpenBlock, { index, block }: Words): boolean {
  if (open.block.type !== block.type) return false
  if (open.index !== undefined || index !== undefined) return open.index === index
  return Object.keys(open.block).length === 1
}

/** Some integrations put the reasoning beside the content. */
function outsideContent(message: Fields): Words | undefined {
  const { reasoning, reasoning_content } = fieldsOf(message.additional_kwargs)
  const summary = listOf(fieldsOf(reasoning).summary).map((piece) => textOf(fieldsOf(piece).text) ?? '')
  const text = textOf(reasoning_content)
  const summed = textOf(summary.join(''))
  if (text !== undefined) return { kind: 'reasoning', text, index: undefined, block: { type: outsideTypes.text } }
  return summed === undefined ? undefined : { kind: 'reasoning', text: summed, index: undefined, block: { type: outsideTypes.summary } }
}

/** Integrations that always give a finish reason. Without it their stream was cut off. */
const providersThatGiveReasons: readonly unknown[] = ['openai', 'anthropic']

/** The finish reason and the usage of a reply. */
class Ending {
  #word: string | undefined
  #usage: Usage | undefined
  #hasWrongFigures = false
  #provider: unknown

  take(message: Fields): void {
    const metadata = fieldsOf(message.response_metadata)
    const extras = fieldsOf(message.additional_kwargs)
    this.#provider ??= metadata.model_provider
    this.#word = wordIn(metadata) ?? wordIn(extras) ?? (textOf(extras.refusal) ? 'refusal' : undefined) ?? this.#word
    if (!isRecord(message.usage_metadata)) return
    const sum = added(this.#usage ?? noUsage, message.usage_metadata)
    this.#usage = sum ?? this.#usage
    this.#hasWrongFigures ||= sum === undefined
  }

  /** `undefined` if any number is invalid: a partial sum would be too small. */
  get usage(): Usage | undefined {
    return this.#hasWrongFigures ? undefined : this.#usage
  }

  reason(calls: readonly GatheredCall[]): FinishReason | undefined {
    return endOfReply({ word: this.#word, alwaysGivesReason: providersThatGiveReasons.includes(this.#provider), calls })
  }
}

function wordIn(facts: Fields): string | undefined {
  const incomplete = textOf(fieldsOf(facts.incomplete_details).reason)
  const stopped = textOf(fieldsOf(facts.messageStop).stopReason)
  const words = [facts.finish_reason, facts.stop_reason, facts.finishReason, facts.stopReason, facts.done_reason]
  return incomplete ?? stopped ?? words.map(textOf).find((word) => word !== undefined) ?? statusIn(facts)
}

/** A status may also mean "in progress", or something else. */
function statusIn({ status }: Fields): string | undefined {
  const word = textOf(status)
  return word === undefined || finishReasonOf(word) === 'other' ? undefined : word
}

/** The usage of all chunks is added up. */
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
