import {
  type CheckedOutput,
  type Cost,
  type InteractionEvent,
  type Model,
  type ModelFailure,
  type ModelPart,
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
import { checkOutput } from './check-output.ts'
import { Reply, type ReplyText, type Verdict } from './reply.ts'

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
  const attempted = new Attempt(session, model, { stepId, action })
  return new Promise((resolve, reject) => attempted.begin(capped(session, request, action), { resolve, reject }))
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
  readonly #model: Model
  /** When the model was last heard, once it has begun to answer. */
  #heard: number | undefined
  #cancelTimer: () => void = noTimer
  #end: ((failure?: ModelFailure) => void) | undefined
  #parts: AsyncIterator<ModelPart> | undefined

  constructor(session: ActiveSession, model: Model, { stepId, action }: { stepId: StepId; action: AskAction }) {
    this.#session = session
    this.#model = model
    this.#stepId = stepId
    this.#action = action
    this.#interrupt = new Interrupt(session.interrupt)
    this.#reply = new Reply(stepId, action.attempt)
    this.#started = session.clock.monotonic()
    keepShape('attempt', this)
  }

  begin(request: ModelRequest, { resolve, reject }: { resolve(): void; reject(error: unknown): void }): void {
    const limit = deadline(this.#session, this.#action)
    const { idleTimeout } = this.#session.state.agent.limits
    this.#end = (failure) => {
      this.#end = undefined
      this.#cancelTimer()
      this.#interrupt.close()
      close(this.#parts)
      if (failure) this.#reply.fail(failure)
      try {
        const concluded = this.#conclude(request)
        if (concluded) concluded.then(resolve, reject)
        else resolve()
      } catch (error) {
        reject(error)
      }
    }
    this.#interrupt.listen(() => this.#end?.(interruption(this.#interrupt.reason, { limitMs: limit.ms, idleTimeout })))
    this.#watch(limit, idleTimeout)
    if (!this.#end) return
    try {
      this.#parts = this.#model.stream(request, { signal: this.#interrupt.signal })[Symbol.asyncIterator]()
      this.#pull()
    } catch (error) {
      this.#end?.(thrown(error))
    }
  }

  /** One timer for the deadline and for silence: it looks how things stand, and comes again. */
  #watch(limit: Limit, idleTimeout: number): void {
    const { clock } = this.#session
    const now = clock.monotonic()
    const left = this.#started + limit.ms - now
    const quiet = (this.#heard ?? now) + idleTimeout - now
    if (left <= 0) this.#interrupt.fire(limit.reason)
    else if (quiet <= 0) this.#interrupt.fire('silence')
    else this.#cancelTimer = clock.after(Math.min(left, quiet), () => this.#watch(limit, idleTimeout))
  }

  // By hand, not by `for await`: that would wait for the stream to close, and costs as much again for each part.
  #pull(): void {
    this.#parts?.next().then(this.#take, this.#fail)
  }

  readonly #take = (next: IteratorResult<ModelPart>): void => {
    if (!this.#end) return
    try {
      if (next.done || this.#add(next.value) !== 'more') this.#end()
      else this.#pull()
    } catch (error) {
      this.#fail(error)
    }
  }

  readonly #fail = (error: unknown): void => this.#end?.(thrown(error))

  #add(part: ModelPart): 'more' | 'whole' {
    if (part?.type !== 'notice') this.#heard = this.#session.clock.monotonic()
    const known = this.#reply.texts.length
    const text = this.#reply.add(part)
    if (text && this.#reply.texts.length > known) this.#open(text)
    if (text && 'text' in part && part.text !== '') {
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
  #conclude({ toolChoice, output }: ModelRequest): Promise<void> | undefined {
    const verdict = this.#reply.verdict(toolChoice)
    if (!verdict.ok) return this.#failed(verdict.failure)
    if (!output || verdict.reply.some(({ type }) => type === 'call')) return this.#completed(verdict)
    const answer = { text: this.#reply.said, truncated: verdict.finish === 'length' }
    const checked = checkOutput(this.#session.ports.validator, output, answer)
    if (checked instanceof Promise) return checked.then((found) => this.#completed(verdict, found))
    return this.#completed(verdict, checked)
  }

  #endTexts(status: 'completed' | 'interrupted' | 'failed'): void {
    for (const text of this.#reply.texts)
      this.#session.note({ type: 'interaction.item.completed', itemId: text.id, item: { kind: 'text', ...text, status } })
    if (this.#reply.notices.length === 0) return
    const told = this.#session.turn.diagnostics.toArray()
    for (const message of new Set(this.#reply.notices)) {
      if (told.some((diagnostic) => diagnostic.message === message)) continue
      this.#session.note({ type: 'interaction.diagnostic', diagnostic: { code: 'model_notice', severity: 'info', message } })
    }
  }

  #completed({ reply, finish }: Extract<Verdict, { ok: true }>, output?: CheckedOutput): undefined {
    this.#endTexts('completed')
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
    this.#session.record(metadata || output ? { ...completed, ...(metadata && { metadata }), ...(output && { output }) } : completed)
    if (finish === 'length' && !output) {
      const diagnostic = {
        code: 'answer_truncated',
        severity: 'warning',
        message: 'The answer was cut at its length limit.',
        remedy: 'Raise maxOutputTokens.',
      } as const
      this.#session.note({ type: 'interaction.diagnostic', diagnostic })
    }
  }

  #failed(failure: ModelFailure): undefined {
    this.#endTexts(failure.class === 'cancelled' ? 'interrupted' : 'failed')
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
    const used = usage ?? this.#estimate()
    return { usage: used, cost: costUsd ?? priced(this.#model.costOf?.(used)) }
  }

  #estimate(): Usage {
    const output = Math.ceil(this.#reply.characters / this.#session.state.charsPerToken)
    return { input: this.#action.reservation.input, output, cacheRead: 0, cacheWrite: 0, reasoning: 0, estimated: true }
  }
}

/** Prices are other people's code, too. */
function priced(cost: number | undefined): Cost {
  return typeof cost === 'number' && Number.isFinite(cost) && cost >= 0 ? cost : 'unknown'
}

const noTimer = (): void => {}

/** A stream that does not want to close is left to itself. */
function close(parts: AsyncIterator<ModelPart> | undefined): void {
  try {
    parts?.return?.()?.then(undefined, () => {})
  } catch {
    // It has said what it had to say.
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
  const left = remainingTime(session.state, session.turn, session.now) ?? Number.POSITIVE_INFINITY
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

interface Limit {
  readonly ms: number
  readonly reason: 'timeout' | 'budget'
}

/** A step that is not the last leaves the reserve for the last one untouched. */
function deadline(session: ActiveSession, { last }: AskAction): Limit {
  const { llmTimeout } = session.state.agent.limits
  const left = remainingTime(session.state, session.turn, session.now)
  const usable = left === undefined ? Number.POSITIVE_INFINITY : Math.max(0, left - (last === undefined ? timeReserve(session.state) : 0))
  return usable < llmTimeout ? { ms: usable, reason: 'budget' } : { ms: llmTimeout, reason: 'timeout' }
}

function interruption(reason: string | undefined, { limitMs, idleTimeout }: { limitMs: number; idleTimeout: number }): ModelFailure {
  if (reason === 'timeout')
    return { class: 'timeout', message: `The model did not finish within ${limitMs} ms.`, remedy: 'Raise llmTimeout.' }
  if (reason === 'silence')
    return { class: 'timeout', message: `The model fell silent for ${idleTimeout} ms in its answer.`, remedy: 'Raise idleTimeout.' }
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
