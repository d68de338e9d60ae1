import {
  type Cost,
  type InteractionEvent,
  type Model,
  type ModelFailure,
  type ModelRequest,
  noUsage,
  type StepId,
  type Usage,
} from '../contracts/index.ts'
import { type AskAction, remainingTime, stepIdOf, timeReserve } from '../core/index.ts'
import { Interrupt } from '../util/interrupt.ts'
import { keepShape } from '../util/keep-shape.ts'
import { messageOf } from '../util/message-of.ts'
import { type ActiveSession, since } from './active-session.ts'
import { Reply, type ReplyText } from './reply.ts'

// One attempt at one step. `[results + step.started]` is handed to the journal and not waited for: the model may
// think meanwhile, and whoever acts on the reply waits for everything before it.

export async function ask(session: ActiveSession, action: AskAction): Promise<void> {
  if (action.notBefore > 0 && !session.hasPaused(action)) return pause(session, action)
  const { turn } = session
  const stepId = stepIdOf(turn.id, action.attempt === 1 ? turn.steps + 1 : turn.steps)
  const model = session.model(action.model)
  session.record(stepStarted(session, stepId, { action, model }))
  // Handed over, not awaited.
  void session.flush()
  const request = session.recipe.assemble(session.state, session.offer(model))
  await new Attempt(session, stepId, action).run(model, capped(session, request, action))
}

class Attempt {
  readonly #session: ActiveSession
  readonly #stepId: StepId
  readonly #action: AskAction
  readonly #interrupt: Interrupt
  readonly #reply: Reply
  readonly #started: number
  #over = false

  constructor(session: ActiveSession, stepId: StepId, action: AskAction) {
    this.#session = session
    this.#stepId = stepId
    this.#action = action
    this.#interrupt = new Interrupt(session.interrupt)
    this.#reply = new Reply(stepId, action.attempt)
    this.#started = session.clock.monotonic()
    keepShape('attempt', this)
  }

  /** Reads the stream until it ends, fails, takes too long or is interrupted, whether or not the model heeds its signal. */
  run(model: Model, request: ModelRequest): Promise<void> {
    const limit = deadline(this.#session, this.#action)
    return new Promise((resolve, reject) => {
      const cancelTimer = this.#session.clock.after(limit.ms, () => this.#interrupt.fire(limit.reason))
      const end = (failure?: ModelFailure): void => {
        if (this.#over) return
        this.#over = true
        cancelTimer()
        this.#interrupt.close()
        if (failure) this.#reply.fail(failure)
        try {
          this.#conclude(request.toolChoice)
          resolve()
        } catch (error) {
          reject(error)
        }
      }
      this.#interrupt.listen(() => end(interruption(this.#interrupt.reason, limit.ms)))
      this.#read(model, request).then(end, (error: unknown) => end(thrown(error)))
    })
  }

  async #read(model: Model, request: ModelRequest): Promise<undefined> {
    const reply = this.#reply
    for await (const part of model.stream(request, { signal: this.#interrupt.signal })) {
      // Leaving the loop closes the model's iterator: an endless stream ends here.
      if (this.#over || reply.failed) return
      const known = reply.texts.length
      const text = reply.add(part)
      if (!text) continue
      if (reply.texts.length > known) this.#open(text)
      if (part.type === 'text' || part.type === 'reasoning') {
        this.#session.live({ stepId: this.#stepId, itemId: text.id, attempt: this.#action.attempt, kind: part.type, text: part.text })
      }
    }
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
    const completed = {
      ...this.#session.here(),
      type: 'interaction.step.completed',
      reply,
      finish,
      usage,
      cost,
      latencyMs: this.#latency(),
    } as const
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
    const redacted = { ...failure, message: this.#session.ports.redactor.text(failure.message) }
    const fraction = random.fraction(`${this.#stepId}/${this.#action.attempt}`)
    const delayMs = failure.class === 'cancelled' ? 0 : backoff(this.#action.attempt, failure, fraction)
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
  const ms = Math.min(Math.max(0, action.notBefore - session.clock.now()), longestPauseMs)
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
  const left = remainingTime(session.state, session.turn, session.clock.now())
  const usable = left === undefined ? Number.POSITIVE_INFINITY : Math.max(0, left - (last === undefined ? timeReserve(session.state) : 0))
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

const notices = {
  steps: 'This is the last step of this turn',
  tokens: 'The token budget of this turn is used up',
  time: 'The time budget of this turn is used up',
  calls: 'No further tool calls are allowed in this turn',
  stopped: 'The person asked to stop here',
} as const

function stepStarted(session: ActiveSession, stepId: StepId, { action, model }: { action: AskAction; model: Model }): InteractionEvent {
  const { attempt, reservation, absorbs, last } = action
  const names = { model: action.model, modelId: model.id }
  const started = { ...session.here(), stepId, type: 'interaction.step.started', ...names, attempt, reservation, absorbs } as const
  if (last === undefined) return started
  return { ...started, last: { reason: last, notice: `${notices[last]}. Answer now with what you have; tools are switched off.` } }
}
