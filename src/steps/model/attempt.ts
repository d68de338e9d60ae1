import {
  type CheckedOutput,
  type Cost,
  type LivePlace,
  type Model,
  type ModelFailure,
  type ModelPart,
  type ModelRequest,
  noUsage,
  type StepId,
  type Usage,
} from '../../contracts/index.ts'
import { type AskAction, computeCost, maxReplyCharacters, requestChars } from '../../core/index.ts'
import { Interrupt, Interrupted } from '../../util/interrupt.ts'
import { keepHiddenClass } from '../../util/keep-hidden-class.ts'
import { messageOf } from '../../util/message-of.ts'
import type { RedactionStream } from '../../util/redact-stream.ts'
import { maxAnswerMs, withDeadline } from '../../util/with-deadline.ts'
import { type ActiveSession, elapsedBetween, elapsedSince } from '../session/active-session.ts'
import { itemEnded, itemStarted, stepCompleted } from '../session/step-events.ts'
import { type AttemptLimit, attemptLimit, interruption } from './attempt-limit.ts'
import { checkOutput, uncheckedOutput } from './check-output.ts'
import { modelRemedies } from './model-remedies.ts'
import { Reply, type ReplyText, type Verdict } from './reply.ts'
import { retryDelay } from './retry-delay.ts'

/**
 * One request to one model.
 *
 * 1. It ends once: with a complete reply, a failure, its deadline or the turn, even if the model ignores its signal.
 * 2. After the end all parts are ignored. The stream is closed, but not awaited.
 * 3. A model that exceeds its output limit is stopped immediately.
 */
export class Attempt {
  readonly #session: ActiveSession
  readonly #stepId: StepId
  readonly #action: AskAction
  readonly #interrupt: Interrupt
  readonly #reply: Reply
  readonly #model: Model
  readonly #started: number
  /** Last reading of the clock. */
  #now: number
  #limit: AttemptLimit = { ms: Number.POSITIVE_INFINITY, reason: 'replyTimeout' }
  #mostCharacters = Number.POSITIVE_INFINITY
  /** For a reply with calls: a further request has to read it. */
  #mostWithCalls = Number.POSITIVE_INFINITY
  #request: ModelRequest | undefined
  /** Time of the last part. */
  #heard: number | undefined
  /** Time of the first part with a piece of the reply. */
  #firstToken: number | undefined
  #parts: AsyncIterator<ModelPart> | undefined
  #cancelTimer: (() => void) | undefined
  /** The text that is published live, its place, and its redactor. */
  #shown: ReplyText | undefined
  #place: LivePlace | undefined
  #veil: RedactionStream | undefined
  /** Waits for the end. `undefined` after it. */
  #asker: Asker | undefined

  constructor(session: ActiveSession, model: Model, { stepId, action, moment }: { stepId: StepId; action: AskAction; moment: number }) {
    this.#session = session
    this.#model = model
    this.#stepId = stepId
    this.#action = action
    this.#interrupt = new Interrupt(session.interrupt)
    this.#reply = new Reply(stepId, action.attempt)
    this.#started = moment
    this.#now = moment
    keepHiddenClass('attempt', this)
  }

  begin(request: ModelRequest, asker: Asker): void {
    const session = this.#session
    this.#asker = asker
    this.#request = request
    this.#limit = attemptLimit(session, this.#action, request)
    const { maxOutputTokens } = request.parameters
    this.#mostCharacters = maxReplyCharacters(maxOutputTokens, session.state.charsPerToken)
    this.#mostWithCalls = maxReplyCharacters(this.#action.callTokens ?? maxOutputTokens, session.state.charsPerToken)
    this.#interrupt.listen(() => this.#end(interruption(session, this.#interrupt.reason)))
    this.#watch(this.#started)
    if (!this.#asker) return
    try {
      const context = { signal: this.#interrupt.signal, sessionId: session.state.sessionId }
      this.#parts = this.#model.stream(request, context)[Symbol.asyncIterator]()
      this.#pull()
    } catch (error) {
      this.#end(thrown(error))
    }
  }

  /** One timer for all limits: it checks them and is set again for the earliest that can expire. */
  #watch(now: number): void {
    const { clock, state } = this.#session
    const { llmTimeout, idleTimeout } = state.agent.limits
    const { ms, reason } = this.#limit
    const elapsed = now - this.#started
    const left = ms - elapsed
    const quiet = idleTimeout - (now - (this.#heard ?? now))
    const unheard = this.#heard === undefined ? llmTimeout - elapsed : Number.POSITIVE_INFINITY
    if (left <= 0) this.#interrupt.fire(reason)
    else if (unheard <= 0) this.#interrupt.fire('llmTimeout')
    else if (quiet <= 0) this.#interrupt.fire('idleTimeout')
    else this.#cancelTimer = clock.after(Math.min(left, unheard, quiet), () => this.#watch(clock.monotonic()))
  }

  #end(failure?: ModelFailure): void {
    const asker = this.#asker
    if (!asker) return
    this.#asker = undefined
    this.#cancelTimer?.()
    this.#interrupt.close()
    close(this.#parts)
    if (failure) this.#reply.fail(failure)
    this.#reveal()
    this.#reply.hide(this.#session.ports.redactor, this.#request?.tools)
    try {
      const concluded = this.#conclude()
      if (concluded) concluded.then(asker.resolve, asker.reject)
      else asker.resolve()
    } catch (error) {
      asker.reject(error)
    }
  }

  // Not `for await`: that awaits the close of the stream, and doubles the cost of each part.
  #pull(): void {
    this.#parts?.next().then(this.#take, this.#fail)
  }

  readonly #take = (next: IteratorResult<ModelPart>): void => {
    if (!this.#asker) return
    try {
      if (next.done || this.#add(next.value) !== 'more') this.#end()
      else if (this.#asker) this.#pull()
    } catch (error) {
      this.#fail(error)
    }
  }

  readonly #fail = (error: unknown): void => this.#end(thrown(error))

  #add(part: ModelPart): 'more' | 'whole' {
    const now = this.#session.clock.monotonic()
    this.#now = now
    if (part?.type !== 'notice') this.#heard = now
    if (this.#firstToken === undefined && hasTokens(part)) this.#firstToken = now
    // A model that sends without a pause keeps timers from firing.
    if (now - this.#started > this.#limit.ms) this.#interrupt.fire(this.#limit.reason)
    if (!this.#asker) return 'more'
    // Only if there is more to come: a complete reply is kept.
    const isOfCall = part?.type === 'call' || part?.type === 'working'
    const most = isOfCall ? this.#mostWithCalls : this.#mostCharacters
    if (this.#reply.characters > most && this.#reply.isContinuedBy(part)) return this.#stop(isOfCall)
    const known = this.#reply.texts.length
    const text = this.#reply.add(part)
    // Summaries are not published.
    if (this.#action.compacts) return this.#reply.isOver ? 'whole' : 'more'
    if (text && this.#reply.texts.length > known) this.#open(text)
    if (text && 'text' in part && part.text !== '') this.#show(text, part.text)
    return this.#reply.isOver ? 'whole' : 'more'
  }

  #stop(isOfCall: boolean): 'whole' {
    const { maxOutputTokens = 0 } = this.#request?.parameters ?? {}
    this.#reply.stopAt(isOfCall ? (this.#action.callTokens ?? maxOutputTokens) : maxOutputTokens)
    return 'whole'
  }

  #show(text: ReplyText, piece: string): void {
    if (!this.#veil || this.#shown !== text) {
      this.#reveal()
      this.#shown = text
      const kind = text.type === 'reasoning' ? 'reasoning' : 'text'
      this.#place = { stepId: this.#stepId, itemId: text.id, attempt: this.#action.attempt, kind, offset: 0 }
      this.#veil = this.#session.ports.redactor.stream()
    }
    this.#live(this.#veil.push(piece))
  }

  /** Publishes text that was held back as a possible secret. */
  #reveal(): void {
    if (this.#veil) this.#live(this.#veil.end())
  }

  #live(text: string): void {
    if (this.#place && text !== '') this.#session.live(this.#place, text)
  }

  /** The start of a text is committed while the rest arrives. */
  #open({ id, type }: ReplyText): void {
    this.#session.record(itemStarted(this.#session, { kind: 'text', id, type }))
    void this.#session.flush()
  }

  /** Records how the attempt ended. Not flushed: it shares a commit with the intents or the end of the turn. */
  #conclude(): Promise<void> | undefined {
    const { toolChoice = 'auto', output } = this.#request ?? {}
    const verdict = this.#reply.verdict(toolChoice)
    // An excluded model has answered.
    const { probes, notBefore } = this.#action
    if (verdict.ok && (probes || notBefore > 0)) this.#session.ports.modelHealth.recover(this.#model)
    if (this.#action.compacts) return this.#summedUp(verdict)
    if (!verdict.ok) return this.#failed(this.#withCause(verdict.failure))
    if (!output || verdict.reply.some(({ type }) => type === 'call')) return this.#completed(verdict)
    const answer = { text: this.#reply.said, truncated: verdict.finish === 'length' }
    const checked = checkOutput(this.#session.ports.validator, output, answer)
    if (checked instanceof Promise) return this.#completedWhenChecked(verdict, checked)
    return this.#completed(verdict, checked)
  }

  /** The schema of a program may check the answer for a while, or forever. */
  async #completedWhenChecked(verdict: Extract<Verdict, { ok: true }>, checking: Promise<CheckedOutput>): Promise<void> {
    const { clock, interrupt } = this.#session
    const ms = Math.min(maxAnswerMs, Math.max(0, this.#limit.ms - (clock.monotonic() - this.#started)))
    try {
      this.#completed(verdict, await withDeadline(checking, { clock, ms, interrupt }))
    } catch (error) {
      if (!(error instanceof Interrupted)) throw error
      if (error.reason === 'timeout') this.#completed(verdict, uncheckedOutput(ms))
      else this.#failed(interruption(this.#session, error.reason))
    }
  }

  /** If the model fails, the loop shortens the history by rule. */
  async #summedUp(verdict: Verdict): Promise<void> {
    if (!verdict.ok) {
      this.#noteFailure(verdict.failure)
      return
    }
    const latencyMs = this.#latency()
    const firstTokenMs = this.#firstTokenMs(latencyMs)
    this.#session.record(stepCompleted(this.#session, { ...verdict, reply: [], ...this.#spent(), latencyMs, firstTokenMs }))
    const { said } = this.#reply
    const { compact } = await import('./lazy-additions.ts')
    if (this.#session.interrupt.reason === undefined) await compact(this.#session, said.trim() === '' ? undefined : said)
  }

  #endTexts(status: 'completed' | 'interrupted' | 'failed', moment?: number): void {
    for (const { id, type, text, metadata } of this.#reply.texts) {
      const item = { kind: 'text', id, type, text, status } as const
      this.#session.record(itemEnded(this.#session, metadata ? { ...item, metadata } : item, moment))
    }
    for (const message of this.#reply.notices) this.#session.reportOnce({ code: 'model_notice', severity: 'info', message })
  }

  #completed({ reply, finish }: Extract<Verdict, { ok: true }>, output?: CheckedOutput): undefined {
    // The last part arrived just now, unless the output check took time.
    const moment = output ? this.#session.clock.monotonic() : this.#now
    this.#endTexts('completed', moment)
    const { metadata } = this.#reply
    const { usage, cost } = this.#spent()
    const latencyMs = elapsedBetween(this.#started, moment)
    const firstTokenMs = this.#firstTokenMs(latencyMs)
    const completed = stepCompleted(this.#session, { reply, finish, usage, cost, latencyMs, firstTokenMs, moment })
    this.#session.record(metadata || output ? { ...completed, ...(metadata && { metadata }), ...(output && { output }) } : completed)
    const { beyond } = this.#reply
    if (finish === 'length' && (beyond || !output))
      this.#session.note({
        type: 'interaction.diagnostic',
        diagnostic: { ...truncated, ...(this.#action.reservation.limit && cutByBudget), ...beyond },
      })
  }

  #withCause(failure: ModelFailure): ModelFailure {
    const { limit } = this.#action.reservation
    return limit && this.#reply.wasCut ? { ...failure, cutBy: limit } : failure
  }

  #failed(failure: ModelFailure): undefined {
    this.#endTexts(failure.class === 'cancelled' || failure.class === 'lost' ? 'interrupted' : 'failed')
    this.#noteFailure(failure)
  }

  #noteFailure(failure: ModelFailure): void {
    const { random, redactor, modelHealth } = this.#session.ports
    modelHealth.note(this.#model, failure, this.#session.now)
    const { remedy = modelRemedies[failure.class], ...told } = { ...failure, message: redactor.text(failure.message) }
    const redacted = remedy === undefined ? told : { ...told, remedy: redactor.text(String(remedy)) }
    const fraction = random.fraction(`${this.#stepId}/${this.#action.attempt}`)
    const delayMs = retryDelay(this.#action.attempt, failure, fraction)
    const failed = { type: 'interaction.step.failed', failure: redacted, ...this.#spent(), latencyMs: this.#latency(), delayMs } as const
    this.#session.note(failure.class === 'cancelled' ? { ...failed, keepsText: true } : failed)
  }

  #latency(): number {
    return elapsedSince(this.#session.clock, this.#started)
  }

  /** Only of a reply that was streamed: of another one it is the latency. */
  #firstTokenMs(latencyMs: number): number | undefined {
    if (this.#firstToken === undefined) return undefined
    const ms = elapsedBetween(this.#started, this.#firstToken)
    return latencyMs - ms < leastStreamMs ? undefined : ms
  }

  #spent(): { usage: Usage; cost: Cost } {
    const { usage, costUsd, wasRefused } = this.#reply
    if (wasRefused) return { usage: noUsage, cost: 0 }
    const used = usage ?? this.#estimate()
    return { usage: used, cost: computeCost(this.#model, used, costUsd) }
  }

  #estimate(): Usage {
    const { state } = this.#session
    const input = Math.ceil(requestChars(state) / state.charsPerToken)
    const output = Math.ceil(this.#reply.characters / state.charsPerToken)
    return { input, output, cacheRead: 0, cacheWrite: 0, reasoning: 0, estimated: true }
  }
}

/** A reply whose parts arrive within less time came whole. */
const leastStreamMs = 1

/** Providers also report that they work, before they have written anything. */
function hasTokens(part: ModelPart): boolean {
  switch (part?.type) {
    case 'text':
    case 'reasoning':
      return part.text !== ''
    case 'working':
      return part.characters !== undefined
    default:
      return part?.type === 'call'
  }
}

const truncated = {
  code: 'answer_truncated',
  severity: 'warning',
  message: 'The answer was cut at its output limit.',
  remedy: 'Raise maxOutputTokens.',
} as const

const cutByBudget = {
  message: 'The answer was cut: the budget allows no more output.',
  remedy: 'Raise the reported limit.',
} as const

interface Asker {
  resolve(): void
  reject(error: unknown): void
}

/** Not awaited: a stream may never close. */
function close(parts: AsyncIterator<ModelPart> | undefined): void {
  try {
    parts?.return?.()?.then(undefined, ignore)
  } catch {
    // The result is complete without it.
  }
}

const ignore = (): void => {}

function thrown(error: unknown): ModelFailure {
  return { class: 'model', message: `The model adapter threw: ${messageOf(error)}` }
}
