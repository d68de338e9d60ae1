import type { BlobId, Confinement, ItemStatus, Tool, ToolContext, ToolFailure, ToolOutput } from '../contracts/index.ts'
import { callIdOf, remainingTime, type StartedCall, timeReserve } from '../core/index.ts'
import { copyJson } from '../util/copy-json.ts'
import { Interrupt } from '../util/interrupt.ts'
import { keepShape } from '../util/keep-shape.ts'
import { messageOf } from '../util/message-of.ts'
import type { ActiveSession } from './active-session.ts'
import { outputOf } from './output.ts'
import { remaining } from './remaining.ts'

export interface RunResult {
  readonly status: ItemStatus
  readonly output: ToolOutput
}

/** How long a tool may take to heed its signal and say how far it came. */
const graceMs = 250

/** Runs a tool once. */
export function runTool(session: ActiveSession, tool: Tool, call: StartedCall): Promise<RunResult> {
  return new Promise((resolve) => new CallRun(session, call, resolve).enter(tool))
}

/**
 * One run of one tool.
 *
 * 1. It ends once: by itself, at its deadline, or with the turn, whether or not the tool heeds its signal.
 * 2. What finished keeps its real result, even after the signal; what did not says what is known.
 * 3. After the end the tool can do nothing more here: its result and its progress are dropped.
 */
class CallRun {
  readonly #session: ActiveSession
  readonly #call: StartedCall
  readonly #interrupt: Interrupt
  readonly #started: number
  #resolve: ((result: RunResult) => void) | undefined
  #cancelTimer: (() => void) | undefined

  constructor(session: ActiveSession, call: StartedCall, resolve: (result: RunResult) => void) {
    this.#session = session
    this.#call = call
    this.#resolve = resolve
    this.#interrupt = new Interrupt(session.interrupt)
    this.#started = session.clock.monotonic()
    keepShape('call', this)
  }

  enter(tool: Tool): void {
    const { clock } = this.#session
    const limit = deadline(this.#session, tool)
    this.#cancelTimer = clock.after(limit.ms, () => this.#interrupt.fire(limit.reason))
    this.#interrupt.listen(() => {
      this.#cancelTimer?.()
      this.#cancelTimer = clock.after(graceMs, () => this.#end(this.#cutShort()))
    })
    try {
      const answer = tool.execute(copyJson(this.#call.intent.input), this.#context())
      if (isThenable(answer)) {
        answer.then(
          (raw) => this.#settle(outputOf(raw, tool.name)),
          (error: unknown) => this.#settle(thrown(error)),
        )
      } else this.#settle(outputOf(answer, tool.name))
    } catch (error) {
      this.#settle(thrown(error))
    }
  }

  /** A plain object: tools spread it, take it apart and hand it on. */
  #context(): ToolContext {
    const { state, turn, ports } = this.#session
    return {
      signal: this.#interrupt.signal,
      callId: callIdOf(state.sessionId, this.#call.itemId),
      attempt: this.#call.attempt,
      overlay: ports.overlay,
      remaining: remaining(state, turn, this.#session.now),
      confinement: this.#call.walls.kind === 'outside' ? unconfined : ports.sandbox.confinement,
      maxOutputBytes: state.agent.limits.maxOutputBytes,
      storedOutput: async (handle) => ports.blobs.get(state.treeId, handle as BlobId),
      progress: (text) => this.#progress(text),
    }
  }

  #progress(text: string): void {
    const { turn } = this.#session.state
    if (!this.#resolve || turn.kind !== 'open' || turn.step.kind !== 'calling') return
    const { step } = turn
    const shown = this.#session.ports.redactor.text(String(text))
    this.#session.live({ stepId: step.id, itemId: this.#call.itemId, attempt: this.#call.attempt, kind: 'progress', text: shown })
  }

  #settle(output: ToolOutput): void {
    if (output.ok) this.#end({ status: 'completed', output })
    else this.#end(this.#interrupt.reason === undefined ? { status: 'failed', output } : this.#cutShort(output))
  }

  #end(result: RunResult): void {
    const resolve = this.#resolve
    if (!resolve) return
    this.#resolve = undefined
    this.#cancelTimer?.()
    this.#interrupt.close()
    resolve(result)
  }

  /** A call that did not finish, with what is known about it. */
  #cutShort(said?: Extract<ToolOutput, { ok: false }>): RunResult {
    const { intent } = this.#call
    const seconds = ((this.#session.clock.monotonic() - this.#started) / 1000).toFixed(1)
    const effect = intent.effect === 'read' ? 'It only reads.' : 'It may have taken effect.'
    const own = said ? ` It said: ${said.error.message}` : ''
    const { status, why, ...failure } = cuts[this.#interrupt.reason as keyof typeof cuts] ?? cuts.interrupted
    const error: ToolFailure = {
      ...failure,
      message: `"${intent.tool}" ran for ${seconds} s and was ended because ${why}. ${effect}${own}`,
    }
    return { status, output: { ok: false, error, ...(said?.partial !== undefined && { partial: said.partial }) } }
  }
}

const cuts = {
  timeout: { status: 'failed', why: 'its time limit was reached', class: 'timeout', remedy: 'Ask for less at once, or raise toolTimeout.' },
  budget: { status: 'failed', why: 'the time budget ran out', class: 'timeout', remedy: 'Answer with what you have.' },
  interrupted: { status: 'interrupted', why: 'the turn was interrupted', class: 'cancelled' },
} as const

const unconfined: Confinement = { kind: 'none' }

const isThenable = (value: unknown): value is PromiseLike<unknown> =>
  typeof value === 'object' && value !== null && typeof (value as { then?: unknown }).then === 'function'

const thrown = (error: unknown): ToolOutput => ({ ok: false, error: { class: 'failed', message: messageOf(error) } })

function deadline(session: ActiveSession, tool: Tool): { ms: number; reason: 'timeout' | 'budget' } {
  const limit = tool.timeoutMs ?? session.state.agent.limits.toolTimeout
  const left = remainingTime(session.state, session.turn, session.now)
  const usable = left === undefined ? Number.POSITIVE_INFINITY : Math.max(0, left - timeReserve(session.state))
  return usable < limit ? { ms: usable, reason: 'budget' } : { ms: limit, reason: 'timeout' }
}
