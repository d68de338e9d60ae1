import type { LanguageModelV3StreamPart, LanguageModelV3Usage, LanguageModelV4StreamPart, LanguageModelV4Usage } from '@ai-sdk/provider'
import type { FinishReason, Json, JsonObject, ModelFailure, ModelPart, Usage } from '../../contracts/index.ts'
import { isRecord } from '../../util/is-record.ts'
import { plainJson } from '../../util/json-values.ts'
import { amountOf, countOf, type Fields, fieldsOf, listOf, textOf } from '../../util/unknown-fields.ts'
import { cutOff, failing, shorten } from '../failures/index.ts'

export type AiSdkPart = LanguageModelV4StreamPart | LanguageModelV3StreamPart

/** Parts with the block that they belong to: each block has its own signature. */
type BlockPart = Extract<ModelPart, { type: 'text' | 'reasoning' }> & { readonly block?: string }

interface Block {
  readonly type: 'text' | 'reasoning'
  readonly name?: string
  metadata: JsonObject
}

interface ReplySource {
  /** The content type of the response, if known. */
  readonly contentType: string | undefined
  readFailure(error: unknown): ModelFailure
}

/**
 * Translates the parts of one stream.
 *
 * 1. The metadata of a block is sent once, at its end.
 * 2. Nothing follows an `error` or a `finish`.
 * 3. Only a reply that the provider ended is finished; one that was cut off is an error.
 */
export class ReplyParts {
  readonly #source: ReplySource
  readonly #blocks = new Map<string, Block>()
  #response: JsonObject = {}
  #hasContent = false
  #argumentLength = 0

  constructor(source: ReplySource) {
    this.#source = source
  }

  /** Appends the parts. Returns whether the reply is over. */
  read(part: AiSdkPart, into: ModelPart[]): 'more' | 'over' {
    switch (part.type) {
      case 'text-delta':
      case 'reasoning-delta':
        return this.#delta(part, into)
      case 'text-start':
      case 'reasoning-start':
        this.#start(part)
        return 'more'
      case 'text-end':
      case 'reasoning-end':
        this.#end(keyOf(part), part.providerMetadata, into)
        return 'more'
      case 'tool-input-delta':
        return this.#arguments(part.delta, into)
      case 'tool-input-start':
      case 'ping':
        into.push(working)
        return 'more'
      case 'tool-call':
        this.#call(part, into)
        return 'more'
      case 'stream-start':
        for (const warning of listOf(part.warnings).filter(isRecord)) into.push({ type: 'notice', message: warningText(warning) })
        return 'more'
      case 'response-metadata':
        this.#response = { ...this.#response, ...(part.id && { responseId: part.id }), ...(part.modelId && { model: part.modelId }) }
        return 'more'
      case 'error':
        into.push({ type: 'error', failure: this.#source.readFailure(part.error) })
        return 'over'
      case 'finish':
        this.#finish(part, into)
        return 'over'
      case 'tool-approval-request':
        into.push({ type: 'notice', message: 'The provider asked for approval of one of its own tools. That is not supported.' })
        return 'more'
      case 'file':
        into.push({ type: 'notice', message: `The model sent a file (${part.mediaType}), which is left out.` })
        return 'more'
      default:
        // Ignored: the end of arguments (the call follows), sources, raw chunks, results of the provider's own tools, unknown
        // types.
        return 'more'
    }
  }

  /** The stream ended without a finish. */
  cut(into: ModelPart[]): void {
    into.push({ type: 'error', failure: this.#brokenOff() })
  }

  #start(part: Extract<AiSdkPart, { type: 'text-start' | 'reasoning-start' }>): void {
    const type = part.type === 'text-start' ? 'text' : 'reasoning'
    const metadata = plainJson(part.providerMetadata) ?? {}
    const isNamed = type === 'reasoning' || Object.keys(metadata).length > 0
    this.#blocks.set(keyOf(part), { type, metadata, ...(isNamed && { name: keyOf(part) }) })
  }

  #delta(part: Extract<AiSdkPart, { type: 'text-delta' | 'reasoning-delta' }>, into: ModelPart[]): 'more' {
    const block = this.#blocks.get(keyOf(part))
    if (part.providerMetadata) {
      if (block) block.metadata = merged(block.metadata, part.providerMetadata)
      else this.#blocks.set(keyOf(part), { type: typeOf(part), metadata: merged({}, part.providerMetadata) })
    }
    if (part.delta === '') return 'more'
    this.#hasContent = true
    into.push(blockPart(typeOf(part), part.delta, block?.name))
    return 'more'
  }

  #end(key: string, metadata: unknown, into: ModelPart[]): void {
    const block = this.#blocks.get(key)
    this.#blocks.delete(key)
    if (!block) return
    const whole = merged(block.metadata, metadata)
    if (Object.keys(whole).length > 0) into.push({ ...blockPart(block.type, '', block.name), metadata: whole })
  }

  #arguments(delta: string, into: ModelPart[]): 'more' | 'over' {
    this.#argumentLength += delta.length
    if (this.#argumentLength <= maxArgumentLength) {
      into.push({ type: 'working', characters: delta.length })
      return 'more'
    }
    into.push({ type: 'error', failure: failing('invalid_response', 'The arguments of the calls are too long.') })
    return 'over'
  }

  #call(part: Extract<AiSdkPart, { type: 'tool-call' }>, into: ModelPart[]): void {
    if (part.providerExecuted) {
      into.push({ type: 'notice', message: `The provider ran a tool of its own (${part.toolName}), which is not shown.` })
      return
    }
    this.#hasContent = true
    const metadata = plainJson(part.providerMetadata)
    into.push({ type: 'call', id: part.toolCallId, name: part.toolName, input: part.input, ...(metadata && { metadata }) })
  }

  #finish(part: Extract<AiSdkPart, { type: 'finish' }>, into: ModelPart[]): void {
    const reason = finishReasons.get(part.finishReason?.unified) ?? 'other'
    if (reason === 'cut' || this.#isNoReply(reason)) {
      this.cut(into)
      return
    }
    for (const key of [...this.#blocks.keys()]) this.#end(key, undefined, into)
    const usage = usageOf(part.usage)
    const costUsd = reportedCost(part.usage)
    into.push({
      type: 'finish',
      reason,
      ...(usage && { usage }),
      ...(costUsd !== undefined && { costUsd }),
      ...(Object.keys(this.#response).length > 0 && { metadata: this.#response }),
    })
  }

  /** For a page instead of a stream the packages report nothing. */
  #isNoReply(reason: FinishReason): boolean {
    return !this.#hasContent && (reason === 'error' || reason === 'other') && !isStream(this.#source.contentType)
  }

  #brokenOff(): ModelFailure {
    const { contentType } = this.#source
    if (this.#hasContent || isStream(contentType)) return cutOff
    return failing('invalid_response', `The server answered with ${contentType} instead of a stream of events.`, 'Check the base URL.')
  }
}

/** A limit for all calls of a reply together; the packages have none. */
const maxArgumentLength = 16 * 1024 * 1024

const working: ModelPart = { type: 'working' }

const finishReasons = new Map<unknown, FinishReason | 'cut'>([
  ['stop', 'stop'],
  ['tool-calls', 'tool-calls'],
  ['length', 'length'],
  ['content-filter', 'content-filter'],
  ['error', 'error'],
  ['interrupted', 'cut'],
])

const isStream = (contentType: string | undefined): boolean => contentType === undefined || /event-stream/i.test(contentType)

const typeOf = (part: { readonly type: string }): Block['type'] => (part.type.startsWith('text') ? 'text' : 'reasoning')

const keyOf = (part: { readonly type: string; readonly id: string }): string => `${typeOf(part)}:${part.id}`

const blockPart = (type: Block['type'], text: string, block: string | undefined): BlockPart =>
  block === undefined ? { type, text } : { type, text, block }

/** Merged by provider and key: metadata can come at the beginning and at the end. */
function merged(known: JsonObject, added: unknown): JsonObject {
  const more = plainJson(added)
  if (!more) return known
  const result: Record<string, Json | undefined> = { ...known }
  for (const [owner, value] of Object.entries(more)) {
    const before = result[owner]
    result[owner] = isRecord(before) && isRecord(value) ? withoutLoss(before, value) : value
  }
  return result
}

/** `null` does not replace a value. */
function withoutLoss(before: JsonObject, value: JsonObject): JsonObject {
  const result: Record<string, Json | undefined> = { ...before }
  for (const [key, inner] of Object.entries(value)) if (inner !== null || result[key] === undefined) result[key] = inner
  return result
}

/** For an unknown type of warning, its text. */
function warningText(warning: Fields): string {
  const { type, feature, setting, details, message } = warning
  const head = warningHeads.get(type)
  const subject = textOf(feature) ?? textOf(setting)
  const said = [head !== undefined && subject !== undefined ? `${head}: ${subject}` : subject, textOf(details), textOf(message)]
  return shorten(said.filter((each) => each !== undefined).join('. ')) || 'The provider will not do something as asked.'
}

const warningHeads = new Map<unknown, string>([
  ['unsupported', 'Not supported'],
  ['compatibility', 'Done in another way'],
  ['deprecated', 'Outdated'],
])

type AiSdkUsage = LanguageModelV4Usage | LanguageModelV3Usage

/** `undefined` if the provider reports no usage: some packages then report zeros. */
function usageOf(usage: AiSdkUsage | undefined): Usage | undefined {
  const input = countOf(usage?.inputTokens?.total)
  const output = countOf(usage?.outputTokens?.total)
  if (!usage || input === undefined || output === undefined || !countOf(input + output)) return undefined
  return {
    input,
    output,
    cacheRead: count(usage.inputTokens.cacheRead),
    cacheWrite: count(usage.inputTokens.cacheWrite),
    reasoning: count(usage.outputTokens.reasoning),
  }
}

/** OpenRouter reports the cost. With the user's own key the upstream cost is added. */
function reportedCost(usage: AiSdkUsage | undefined): number | undefined {
  const { cost, cost_details, is_byok } = fieldsOf(usage?.raw)
  const charged = amountOf(cost)
  if (charged === undefined) return undefined
  return charged + (is_byok === true ? (amountOf(fieldsOf(cost_details).upstream_inference_cost) ?? 0) : 0)
}

const count = (value: unknown): number => countOf(value) ?? 0
