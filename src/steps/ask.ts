import {
  type Cost,
  type Model,
  type ModelFailure,
  type ModelPart,
  type ModelRequest,
  noUsage,
  type StepId,
  type Usage,
} from '../contracts/index.ts'
import { type AskAction, stepIdOf, timeReserve } from '../core/index.ts'
import { Interrupt } from '../util/interrupt.ts'
import { keepShape } from '../util/keep-shape.ts'
import { messageOf } from '../util/message-of.ts'
import { type ActiveSession, since } from './active-session.ts'
import { Reply, type ReplyText } from './reply.ts'
import { stepCompleted, stepStarted } from './step-events.ts'

// One attempt at one step. `[results + step.started]` is handed to the journal and not waited for: the model may
// think meanwhile, and whoever acts on the reply waits for everything before it.

export function ask(session: ActiveSession, action: AskAction): Promise<void> {
  return action.notBefore > 0 && !session.hasPaused(action) ? pause(session, action) : attempt(session, action)
}

function attempt(session: ActiveSession, action: AskAction): Promise<void> {
  const { turn } = session
  const stepId = stepIdOf(turn.id, action.attempt === 1 ? turn.steps + 1 : turn.steps)
  const model = session.model(action.model)
  session.record(stepStarted(session, stepId, { action, model }))
  // Handed over, not awaited.
  void session.flush()
  const request = session.recipe.assemble(session.state, session.offer(model))
  const asker = Promise.withResolvers<void>()
  new Attempt(session, stepId, action).begin(model, capped(session, request, action), asker)
  return asker.promise
}

/**
 * One request to one model.
 *
 * 1. It ends once: with a whole reply, a failure, its deadline or the turn, whether or not the model heeds its signal.
 * 2. After its end no part counts, and the model's stream is closed, but not waited for.
 */
class Attempt {
  readonly #session: ActiveSession
  readonly #stepId: StepId
  readonly #action: AskAction
  readonly #interrupt: Interrupt
  readonly #reply: Reply
  readonly #started: number
  #toolChoice: ModelRequest['toolChoice'] = 'auto'
  #parts: AsyncIterator<ModelPart> | undefined
  #cancelTimer: (() => void) | undefined
  /** Whoever waits for the end; nobody after it. */
  #asker: Asker | undefined

  constructor(session: ActiveSession, stepId: StepId, action: AskAction) {
    this.#session = session
    this.#stepId = stepId
    this.#action = action
    this.#interrupt = new Interrupt(session.interrupt)
    this.#reply = new Reply(stepId, action.attempt)
    this.#started = session.clock.monotonic()
    keepShape('attempt', this)
  }

  begin(model: Model, request: ModelRequest, asker: Asker): void {
    const limit = deadline(this.#session, this.#action)
    this.#asker = asker
    this.#toolChoice = request.toolChoice
    this.#cancelTimer = this.#session.clock.after(limit.ms, () => this.#interrupt.fire(limit.reason))
    this.#interrupt.listen(() => this.#end(interruption(this.#interrupt.reason, limit.ms)))
    if (limit.ms <= 0) this.#interrupt.fire(limit.reason)
    if (!this.#asker) return
    try {
      this.#parts = model.stream(request, { signal: this.#interrupt.signal })[Symbol.asyncIterator]()
      this.#pull()
    } catch (error) {
      this.#end(thrown(error))
    }
  }

  #end(failure?: ModelFailure): void {
    const asker = this.#asker
    if (!asker) return
    this.#asker = undefined
    this.#cancelTimer?.()
    this.#interrupt.close()
    close(this.#parts)
    if (failure) this.#reply.fail(failure)
    try {
      this.#conclude(this.#toolChoice)
      asker.resolve()
    } catch (error) {
      asker.reject(error)
    }
  }

  // By hand, not by `for await`: that would wait for the stream to close, and costs as much again for each part.
  #pull(): void {
    this.#parts?.next().then(this.#take, this.#fail)
  }

  readonly #take = (next: IteratorResult<ModelPart>): void => {
    if (!this.#asker) return
    try {
      if (next.done || this.#add(next.value) !== 'more') this.#end()
      else this.#pull()
    } catch (error) {
      this.#fail(error)
    }
  }

  readonly #fail = (error: unknown): void => this.#end(thrown(error))

  #add(part: ModelPart): 'more' | 'whole' {
    const known = this.#reply.texts.length
    const text = this.#reply.add(part)
    if (text && this.#reply.texts.length > known) this.#open(text)
    if (text && 'text' in part) {
      const kind = text.type === 'reasoning' ? 'reasoning' : 'text'
      this.#session.live({ stepId: this.#stepId, itemId: text.id, attempt: this.#action.attempt, kind, text: part.text })
    }
    return this.#reply.isOver ? 'whole' : 'more'
  }

  /** A text is shown while it comes, so its beginning is committed while the rest is on its way. */
  #open({ id, type }: ReplyText): void {
    this.#session.note({ type: 'interaction.item.started', itemId: id, item: { kind: 'text', id, type } })
    void this.#session.flush()
  }

  /** Records how the attempt ended. Not flushed: it goes with the intents, or with the end of the turn. */
  #conclude(toolChoice: 'auto' | 'none'): void {
    const verdict = this.#reply.verdict(toolChoice)
    for (const text of this.#reply.texts) {
      const status = verdict.ok ? 'completed' : verdict.failure.class === 'cancelled' ? 'interrupted' : 'failed'
      this.#session.note({ type: 'interaction.item.completed', itemId: text.id, item: { kind: 'text', ...text, status } })
    }
    if (verdict.ok) this.#completed(verdict)
    else this.#failed(verdict.failure)
  }

  #completed({ reply, finish }: Extract<ReturnType<Reply['verdict']>, { ok: true }>): void {
    const { metadata } = this.#reply
    const { usage, cost } = this.#spent()
    const completed = stepCompleted(this.#session, { reply, finish, usage, cost, latencyMs: this.#latency() })
    this.#session.record(metadata ? { ...completed, metadata } : completed)
    if (finish === 'length') {
      const diagnostic = {
        code: 'answer_truncated',
        severity: 'warning',
        message: 'The answer was cut at its length limit.',
        remedy: 'Raise maxOutputTokens.',
      } as const
      this.#session.note({ type: 'interaction.diagnostic', diagnostic })
    }
  }

  #failed(failure: ModelFailure): void {
    const { random } = this.#session.ports
    const { redactor } = this.#session.ports
    const told = { ...failure, message: redactor.text(failure.message) }
    const redacted = failure.remedy === undefined ? told : { ...told, remedy: redactor.text(String(failure.remedy)) }
    const fraction = random.fraction(`${this.#stepId}/${this.#action.attempt}`)
    const isAskedAgain = !['cancelled', 'auth', 'quota', 'config'].includes(failure.class)
    const delayMs = isAskedAgain ? backoff(this.#action.attempt, failure, fraction) : 0
    this.#session.note({ type: 'interaction.step.failed', failure: redacted, ...this.#spent(), latencyMs: this.#latency(), delayMs })
  }

  #latency(): number {
    return since(this.#session.clock, this.#started)
  }

  #spent(): { usage: Usage; cost: Cost } {
    const { usage, costUsd, wasRefused } = this.#reply
    if (wasRefused) return { usage: noUsage, cost: 0 }
    return { usage: usage ?? this.#estimate(), cost: costUsd ?? 'unknown' }
  }

  #estimate(): Usage {
    const output = Math.ceil(this.#reply.characters / this.#session.state.charsPerToken)
    return { input: this.#action.reservation.input, output, cacheRead: 0, cacheWrite: 0, reasoning: 0, estimated: true }
  }
}

/** Whoever waits for an attempt to end. */
interface Asker {
  resolve(): void
  reject(error: unknown): void
}

/** A stream that does not want to close is left to itself. */
function close(parts: AsyncIterator<ModelPart> | undefined): void {
  try {
    parts?.return?.()?.then(undefined, ignore)
  } catch {
    // It has said what it had to say.
  }
}

const ignore = (): void => {}

/** 200 ms · 2ⁿ ± 10 %; what the server asks for wins, up to a minute. */
export function backoff(attempt: number, failure: ModelFailure, fraction: number): number {
  if (failure.retryAfterMs !== undefined) return Math.min(60_000, Math.max(0, failure.retryAfterMs))
  return Math.round(Math.min(60_000, 200 * 2 ** (attempt - 1)) * (0.9 + 0.2 * fraction))
}

/** Waits before a further attempt. Whatever happens meanwhile, the loop looks again before it asks. */
async function pause(session: ActiveSession, action: AskAction): Promise<void> {
  const woken = session.woken()
  await session.flush()
  const interrupt = new Interrupt(session.interrupt)
  const left = session.timeLeft ?? Number.POSITIVE_INFINITY
  const ms = Math.max(0, Math.min(action.notBefore - session.now, longestPauseMs, left))
  const cancel = session.clock.after(ms, () => {
    session.rememberPause(action)
    interrupt.fire('over')
  })
  await Promise.race([woken, new Promise<void>((resolve) => interrupt.listen(resolve))])
  cancel()
  interrupt.close()
}

/** Also bounds what a wall clock that was set back can cost. */
const longestPauseMs = 60_000

/** Under a token budget the provider is told the cap, so that it cannot overspend by talking. */
function capped(session: ActiveSession, request: ModelRequest, { reservation }: AskAction): ModelRequest {
  const { maxTokens, maxSessionTokens } = session.state.agent.limits
  if (maxTokens === undefined && maxSessionTokens === undefined) return request
  return { ...request, parameters: { ...request.parameters, maxOutputTokens: reservation.output } }
}

/** A step that is not the last leaves the reserve for the last one untouched. */
function deadline(session: ActiveSession, { last }: AskAction): { ms: number; reason: 'timeout' | 'budget' } {
  const { llmTimeout } = session.state.agent.limits
  const { timeLeft } = session
  const reserve = last === undefined ? timeReserve(session.state) : 0
  const usable = timeLeft === undefined ? Number.POSITIVE_INFINITY : Math.max(0, timeLeft - reserve)
  return usable < llmTimeout ? { ms: usable, reason: 'budget' } : { ms: llmTimeout, reason: 'timeout' }
}

function interruption(reason: string | undefined, ms: number): ModelFailure {
  if (reason === 'timeout') return { class: 'timeout', message: `The model did not finish within ${ms} ms.`, remedy: 'Raise llmTimeout.' }
  if (reason === 'budget')
    return { class: 'timeout', message: 'The time budget of the turn ran out while the model was answering.', remedy: 'Raise timeBudget.' }
  return { class: 'cancelled', message: 'The turn was interrupted.' }
}

function thrown(error: unknown): ModelFailure {
  return { class: 'model', message: `The model adapter threw: ${messageOf(error)}` }
}
