import {
  type AskedFirst,
  type Clock,
  type Model,
  type ModelFailure,
  type ModelRequest,
  noUsage,
  type Reservation,
  type TokenPrice,
  type Usage,
} from '../../contracts/index.ts'
import { computeCost, exceededText, failurePolicy, isCount, isPrice, isUsage, maxReplyCharacters } from '../../core/index.ts'
import type { QueueSlots, Queues } from '../../steps/index.ts'
import { Interrupt, unlessInterrupted } from '../../util/interrupt.ts'
import { messageOf } from '../../util/message-of.ts'

export interface InquiryOptions {
  readonly model: Model
  readonly price: TokenPrice | undefined
  /** For one attempt. */
  readonly llmTimeout: number
  readonly queues: Queues | undefined
  readonly clock: Clock
  redact(text: string): string
}

interface InquiryRequest {
  readonly request: ModelRequest
  readonly reservation: Reservation
  /** Including the time in queues. */
  readonly timeMs: number | undefined
}

/** For estimates. */
export const charsPerToken = 4

/** One model request outside of any session. */
export class ModelInquiry {
  readonly #options: InquiryOptions
  readonly #request: InquiryRequest
  #text = ''
  /** Of the answer, its reasoning, and calls that were not requested. */
  #characters = 0
  #usage: Usage | undefined
  #costUsd: number | undefined

  constructor(options: InquiryOptions, inquiry: InquiryRequest) {
    this.#options = options
    this.#request = inquiry
  }

  async ask(startInterrupt: Interrupt): Promise<{ readonly text: string; readonly asked: AskedFirst }> {
    const { clock, model, queues } = this.#options
    const { timeMs } = this.#request
    const started = clock.monotonic()
    const interrupt = new Interrupt(startInterrupt)
    const cancelTimer = timeMs === undefined ? undefined : clock.after(timeMs, () => interrupt.fire('budget'))
    const slots = queues?.forModel(model.id)
    try {
      const { failure, spent } = await this.#askInQueue(interrupt, slots)
      const latencyMs = Math.round(clock.monotonic() - started)
      return { text: this.#text, asked: { model: model.id, ...spent, latencyMs, ...(failure && { failure }) } }
    } finally {
      cancelTimer?.()
      // Cancels the request if it is still running.
      interrupt.fire('interrupted')
      slots?.close()
    }
  }

  async #askInQueue(
    interrupt: Interrupt,
    slots: QueueSlots | undefined,
  ): Promise<{ readonly failure: ModelFailure | undefined; readonly spent: Spent }> {
    const hasEntered = slots ? await slots.enter(interrupt) : true
    if (!hasEntered || interrupt.reason !== undefined) return { failure: this.#interruption(interrupt), spent: nothingSpent }
    const failure = await this.#askWithTimeout(interrupt)
    const isUnbilled = failure && this.#characters === 0 && !failurePolicy[failure.class].billed
    return { failure, spent: isUnbilled ? nothingSpent : this.#spent() }
  }

  async #askWithTimeout(interrupt: Interrupt): Promise<ModelFailure | undefined> {
    const { clock, llmTimeout } = this.#options
    const cancelTimer = clock.after(llmTimeout, () => interrupt.fire('timeout'))
    try {
      return await unlessInterrupted(interrupt, this.#read(interrupt))
    } catch (error) {
      return interrupt.reason === undefined ? this.#redacted({ class: 'model', message: messageOf(error) }) : this.#interruption(interrupt)
    } finally {
      cancelTimer()
    }
  }

  async #read(interrupt: Interrupt): Promise<ModelFailure | undefined> {
    const { request } = this.#request
    const bound = request.parameters.maxOutputTokens
    const most = maxReplyCharacters(bound, charsPerToken)
    for await (const part of this.#options.model.stream(request, { signal: interrupt.signal })) {
      if (interrupt.reason !== undefined) break
      if (bound !== undefined && this.#characters > most && part.type !== 'finish')
        return { class: 'invalid_response', message: `the model ${exceededText(bound)}` }
      if (part.type === 'text') this.#text += part.text
      if (part.type === 'text' || part.type === 'reasoning') this.#characters += part.text.length
      if (part.type === 'working' && isCount(part.characters)) this.#characters += part.characters
      if (part.type === 'error') return this.#redacted(part.failure)
      if (part.type !== 'finish') continue
      this.#usage = part.usage
      this.#costUsd = part.costUsd
      return undefined
    }
    return { class: 'invalid_response', message: 'the model did not finish its answer' }
  }

  #redacted(failure: ModelFailure): ModelFailure {
    return { ...failure, message: this.#options.redact(failure.message) }
  }

  #interruption({ reason }: Interrupt): ModelFailure {
    if (reason === 'timeout') return { class: 'timeout', message: `the model did not answer within ${this.#options.llmTimeout} ms` }
    if (reason === 'budget') return { class: 'budget', message: 'the model did not answer within half of the time budget' }
    return { class: 'cancelled', message: 'the request was interrupted' }
  }

  /** Estimates the usage if the model reports none. Without a price, the reserved cost is charged. */
  #spent(): Spent {
    const { input, costUsd: reserved = 0 } = this.#request.reservation
    const output = Math.ceil(this.#characters / charsPerToken)
    const usage = isUsage(this.#usage) ? this.#usage : { ...noUsage, input, output, estimated: true as const }
    const cost = isPrice(this.#costUsd) ? this.#costUsd : computeCost(this.#options.model, usage)
    return { usage, cost, paidUsd: cost === 'unknown' ? reserved : cost }
  }
}

type Spent = Pick<AskedFirst, 'usage' | 'cost' | 'paidUsd'>
const nothingSpent: Spent = { usage: noUsage, cost: 0, paidUsd: 0 }
