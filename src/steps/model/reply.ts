import type {
  CallPart,
  FinishReason,
  ItemId,
  JsonObject,
  ModelFailure,
  ModelPart,
  ReplyRef,
  StepId,
  TextItemType,
  ToolChoice,
  ToolSpec,
  Usage,
} from '../../contracts/index.ts'
import { exceededText, failurePolicy, isCount, isUsage, itemIdOf } from '../../core/index.ts'
import { isBlank } from '../../util/is-blank.ts'
import { plainJson } from '../../util/json-values.ts'
import type { Redactor } from '../../util/redact.ts'
import { wellFormed, wellFormedJson } from '../../util/well-formed.ts'

export interface ReplyText {
  readonly id: ItemId
  readonly type: Extract<TextItemType, 'agent_message' | 'reasoning'>
  text: string
  metadata?: JsonObject
}

export type Verdict =
  | { readonly ok: true; readonly reply: readonly ReplyRef[]; readonly finish: FinishReason }
  | { readonly ok: false; readonly failure: ModelFailure }

const maxCharacters = 16 * 1024 * 1024

/**
 * Collects the parts of one attempt and checks the complete reply.
 *
 * 1. A reply is valid only with its `finish`: a stream that was cut never becomes a call.
 * 2. Only `stop` and `tool-calls` make calls valid; `length` may end a text, never a call.
 * 3. A reply that exceeded its output limit is treated as one that ended there with `length`.
 */
export class Reply {
  readonly #stepId: StepId
  readonly #attempt: number
  readonly #refs: ReplyRef[] = []
  readonly texts: ReplyText[] = []
  readonly notices: string[] = []
  #finish: Extract<ModelPart, { type: 'finish' }> | undefined
  #failure: ModelFailure | undefined
  /** Set if the model exceeded its output limit. */
  beyond: { readonly message: string; readonly remedy: string } | undefined
  #saidCharacters = 0
  /** Characters of arguments: as they arrived, and in complete calls. The same text, counted twice. */
  #writtenCharacters = 0
  #calledCharacters = 0
  #block: string | undefined

  constructor(stepId: StepId, attempt: number) {
    this.#stepId = stepId
    this.#attempt = attempt
  }

  /** Adds a part. Returns the text that it extends, if any. */
  add(part: ModelPart): ReplyText | undefined {
    const wrong = partProblem(part)
    if (wrong !== undefined) {
      this.fail({ class: 'invalid_response', message: wrong })
      return undefined
    }
    switch (part.type) {
      case 'text':
      case 'reasoning':
        return this.#extend(part)
      case 'call':
        this.#calledCharacters += part.input.length
        this.#refs.push(plainCall(part))
        this.#checkLength()
        return undefined
      case 'error':
        this.fail(part.failure)
        return undefined
      case 'finish':
        this.#finish = part
        return undefined
      case 'notice':
        this.notices.push(wellFormed(part.message))
        return undefined
      case 'working':
        if (part.characters === undefined) return undefined
        this.#writtenCharacters += part.characters
        this.#checkLength()
        return undefined
      default:
        return part satisfies never
    }
  }

  /** Whether the part adds output. The complete form of a call that has already arrived does not. */
  isContinuedBy(part: ModelPart): boolean {
    switch (part?.type) {
      case 'text':
      case 'reasoning':
        return part.text !== ''
      case 'call':
        return this.#calledCharacters + part.input?.length > this.#writtenCharacters
      case 'working':
        return part.characters !== 0
      default:
        return false
    }
  }

  /** The first failure wins. */
  fail(failure: ModelFailure): void {
    this.#failure ??= failure
  }

  /** The model exceeded its output limit: ignore the rest. */
  stopAt(maxOutputTokens: number): void {
    if (this.isOver) return
    this.#finish = { type: 'finish', reason: 'length' }
    this.beyond = {
      message: `The model ${exceededText(maxOutputTokens)} and was stopped.`,
      remedy: 'Use another model, or raise maxOutputTokens or the budget.',
    }
  }

  /** Redacts everything: models repeat what they read. Names of offered tools stay. */
  hide(redactor: Redactor, offered: readonly ToolSpec[] = []): void {
    for (const text of this.texts) text.text = redactor.text(text.text)
    const hidden = (metadata: JsonObject | undefined) => metadata && (redactor.json(metadata) as JsonObject)
    for (const text of this.texts) {
      const metadata = hidden(text.metadata)
      if (metadata) text.metadata = metadata
    }
    for (let index = 0; index < this.#refs.length; index++) {
      const ref = this.#refs[index]
      if (ref?.type !== 'call') continue
      const metadata = hidden(ref.metadata)
      const name = offered.some((tool) => tool.name === ref.name) ? ref.name : hiddenName(ref.name, redactor)
      const input = redactor.text(ref.input)
      if (name !== ref.name || input !== ref.input || metadata) this.#refs[index] = { ...ref, name, input, ...(metadata && { metadata }) }
    }
    const metadata = hidden(this.metadata)
    if (this.#finish && metadata) this.#finish = { ...this.#finish, metadata }
    for (const [index, notice] of this.notices.entries()) this.notices[index] = redactor.text(notice)
  }

  /** Ended at its output limit. */
  get wasCut(): boolean {
    return this.#failure === undefined && this.#finish?.reason === 'length'
  }

  get isOver(): boolean {
    return this.#failure !== undefined || this.#finish !== undefined
  }

  /** The provider refused the request, or has not seen it, and charges nothing. */
  get wasRefused(): boolean {
    const failure = this.#failure
    return this.characters === 0 && failure !== undefined && (failure.unsent === true || !failurePolicy[failure.class].billed)
  }

  /** `undefined` if the provider reported no valid usage. */
  get usage(): Usage | undefined {
    const usage = this.#finish?.usage
    return isUsage(usage) ? usage : undefined
  }

  /** As reported: it is not checked. */
  get costUsd(): number | undefined {
    return this.#finish?.costUsd
  }

  get metadata(): JsonObject | undefined {
    return plainJson(this.#finish?.metadata)
  }

  /** The text of the answer. */
  get said(): string {
    return this.texts.reduce((said, { type, text }) => (type === 'agent_message' ? said + text : said), '')
  }

  get characters(): number {
    return this.#saidCharacters + Math.max(this.#writtenCharacters, this.#calledCharacters)
  }

  verdict(toolChoice: ToolChoice): Verdict {
    if (this.#failure) return { ok: false, failure: this.#failure }
    const finish = this.#finish?.reason
    if (finish === undefined) return failed('invalid_response', 'The stream ended before the reply was complete.')
    if (finish === 'content-filter') return failed('model', 'The provider withheld the reply (content filter).', { withheld: true })
    if (finish === 'error' || finish === 'other') return failed('invalid_response', `The reply ended with "${finish}".`)
    const said = !isBlank(this.said)
    if (toolChoice === 'none' && said) return { ok: true, reply: this.#refs.filter((ref) => ref.type === 'item'), finish }
    const called = this.#refs.length > this.texts.length
    if (this.beyond && (called || this.#writtenCharacters > 0 || !said))
      return { ok: false, failure: { class: 'invalid_response', ...this.beyond, ...(toolChoice === 'none' && noAnswer) } }
    if (toolChoice === 'none')
      return failed('invalid_response', called ? 'The model called a tool although tools were disabled.' : 'The reply was empty.', noAnswer)
    if (finish === 'length' && called)
      return failed('invalid_response', 'The reply was cut at its output limit, in the middle of its calls.')
    if (!said && !called) return failed('invalid_response', 'The reply was empty.')
    const wrong = this.#wrongCall()
    return wrong === undefined ? { ok: true, reply: this.#refs, finish } : failed('invalid_response', wrong)
  }

  #extend(part: Extract<ModelPart, { type: 'text' | 'reasoning' }>): ReplyText {
    const type = part.type === 'text' ? 'agent_message' : 'reasoning'
    const last = this.#refs.at(-1)?.type === 'item' ? this.texts.at(-1) : undefined
    let text = last?.type === type && part.block === this.#block ? last : undefined
    if (!text) {
      this.#block = part.block
      text = { id: itemIdOf(this.#stepId, this.#attempt, this.texts.length + 1), type, text: '' }
      this.texts.push(text)
      this.#refs.push({ type: 'item', id: text.id })
    }
    text.text += part.text
    const metadata = part.metadata && plainJson(part.metadata)
    if (metadata) text.metadata = { ...text.metadata, ...metadata }
    this.#saidCharacters += part.text.length
    this.#checkLength()
    return text
  }

  #checkLength(): void {
    if (this.characters > maxCharacters) this.fail({ class: 'invalid_response', message: 'The reply did not stop.' })
  }

  #wrongCall(): string | undefined {
    const ids = this.#refs.length > 1 ? new Set<string>() : undefined
    for (const call of this.#refs) {
      if (call.type !== 'call') continue
      if (call.id === '' || call.name === '') return 'A call has no id or no name.'
      if (ids?.has(call.id)) return `Two calls share the id "${call.id}".`
      ids?.add(call.id)
    }
    return undefined
  }
}

const noAnswer = { noAnswer: true } as const
const failed = (kind: ModelFailure['class'], message: string, more?: Pick<ModelFailure, 'noAnswer' | 'withheld'>): Verdict => ({
  ok: false,
  failure: { class: kind, message, ...more },
})

// Models are third-party code: every part is checked.

const finishReasons: readonly unknown[] = ['stop', 'tool-calls', 'length', 'content-filter', 'error', 'other'] satisfies FinishReason[]

function partProblem(part: ModelPart): string | undefined {
  switch (part?.type) {
    case 'text':
    case 'reasoning':
      return typeof part.text === 'string' ? undefined : `A ${part.type} part has no text.`
    case 'call':
      return typeof part.id === 'string' && typeof part.name === 'string' && typeof part.input === 'string'
        ? undefined
        : 'A call lacks its id, its name or its input.'
    case 'error':
      return typeof part.failure?.message === 'string' && Object.hasOwn(failurePolicy, part.failure.class)
        ? undefined
        : 'An error part has no valid failure.'
    case 'notice':
      return typeof part.message === 'string' ? undefined : 'A notice has no message.'
    case 'working':
      return part.characters === undefined || isCount(part.characters) ? undefined : 'The characters of a working part are not a count.'
    case 'finish':
      return finishReasons.includes(part.reason) ? undefined : `The reply ended with the unknown reason ${JSON.stringify(part.reason)}.`
    default:
      return 'The model sent a part of an unknown type.'
  }
}

function plainCall({ type, id, name, input, metadata }: CallPart): CallPart {
  const kept = metadata && plainJson(metadata)
  const call = { type, id: wellFormed(id), name: wellFormed(name), input: wellFormedJson(input) }
  return kept ? { ...call, metadata: kept } : call
}

/** The name goes back to the provider, which accepts letters, digits, `_` and `-` only. */
function hiddenName(name: string, redactor: Redactor): string {
  const hidden = redactor.text(name)
  return hidden === name ? name : hidden.replaceAll(/[^\w-]+/g, '_')
}
