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
import { computeCost, exceededText, failurePolicy, isCount, isUsage, maxReplyCharacters } from '../../core/index.ts'
import type { Queues } from '../../steps/index.ts'
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

/** For estimates. */
export const charsPerToken = 4

/** What has arrived of the answer. */
interface Reply {
  text: string
  /** The length of the answer, its reasoning, and calls that were not requested. */
  characters: number
  usage: Usage | undefined
  costUsd: number | undefined
}

type Spent = Pick<AskedFirst, 'usage' | 'cost' | 'paidUsd'>
const nothingSpent: Spent = { usage: noUsage, cost: 0, paidUsd: 0 }

/** One model request outside of any session. */
export async function askOnce(
  options: InquiryOptions,
  inquiry: { readonly request: ModelRequest; readonly reservation: Reservation; readonly timeMs: number | undefined },
  startInterrupt: Interrupt,
): Promise<{ readonly text: string; readonly asked: AskedFirst }> {
  const { clock, model, queues } = options
  const started = clock.monotonic()
  const interrupt = new Interrupt(startInterrupt)
  const cancelTimer = inquiry.timeMs === undefined ? undefined : clock.after(inquiry.timeMs, () => interrupt.fire('budget'))
  const slots = queues?.forModel(model.id)
  const reply: Reply = { text: '', characters: 0, usage: undefined, costUsd: undefined }
  try {
    const hasEntered = slots ? await slots.enter(interrupt) : true
    const isAsked = hasEntered && interrupt.reason === undefined
    const failure = isAsked ? await readWithTimeout(options, inquiry.request, { reply, interrupt }) : interruption(interrupt, options)
    const isUnbilled = !isAsked || (failure && reply.characters === 0 && !failurePolicy[failure.class].billed)
    const spent = isUnbilled ? nothingSpent : spentOn(reply, inquiry.reservation, model)
    const latencyMs = Math.round(clock.monotonic() - started)
    return { text: reply.text, asked: { model: model.id, ...spent, latencyMs, ...(failure && { failure }) } }
  } finally {
    cancelTimer?.()
    // Cancels the request if it is still running.
    interrupt.fire('interrupted')
    slots?.close()
  }
}

interface Reading {
  readonly reply: Reply
  readonly interrupt: Interrupt
}

async function readWithTimeout(options: InquiryOptions, request: ModelRequest, reading: Reading): Promise<ModelFailure | undefined> {
  const { clock, llmTimeout, model, redact } = options
  const { interrupt } = reading
  const cancelTimer = clock.after(llmTimeout, () => interrupt.fire('timeout'))
  try {
    const failure = await unlessInterrupted(interrupt, readReply(model, request, reading))
    return failure && { ...failure, message: redact(failure.message) }
  } catch (error) {
    return interrupt.reason === undefined ? { class: 'model', message: redact(messageOf(error)) } : interruption(interrupt, options)
  } finally {
    cancelTimer()
  }
}

async function readReply(model: Model, request: ModelRequest, { reply, interrupt }: Reading): Promise<ModelFailure | undefined> {
  const bound = request.parameters.maxOutputTokens
  const most = maxReplyCharacters(bound, charsPerToken)
  for await (const part of model.stream(request, { signal: interrupt.signal })) {
    if (interrupt.reason !== undefined) break
    if (bound !== undefined && reply.characters > most && part.type !== 'finish')
      return { class: 'invalid_response', message: `the model ${exceededText(bound)}` }
    if (part.type === 'text') reply.text += part.text
    if (part.type === 'text' || part.type === 'reasoning') reply.characters += part.text.length
    if (part.type === 'working' && isCount(part.characters)) reply.characters += part.characters
    if (part.type === 'error') return part.failure
    if (part.type !== 'finish') continue
    reply.usage = part.usage
    reply.costUsd = part.costUsd
    return undefined
  }
  return { class: 'invalid_response', message: 'the model did not finish its answer' }
}

function interruption({ reason }: Interrupt, { llmTimeout }: InquiryOptions): ModelFailure {
  if (reason === 'timeout') return { class: 'timeout', message: `the model did not answer within ${llmTimeout} ms` }
  if (reason === 'budget') return { class: 'budget', message: 'the model did not answer within half of the time budget' }
  return { class: 'cancelled', message: 'the request was interrupted' }
}

/** Estimates the usage if the model reports none. Without a price, the reserved cost is charged. */
function spentOn(reply: Reply, { input, costUsd: reserved = 0 }: Reservation, model: Model): Spent {
  const output = Math.ceil(reply.characters / charsPerToken)
  const usage = isUsage(reply.usage) ? reply.usage : { ...noUsage, input, output, estimated: true as const }
  const cost = computeCost(model, usage, reply.costUsd)
  return { usage, cost, paidUsd: cost === 'unknown' ? reserved : cost }
}
