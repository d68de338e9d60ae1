import type { BlobId, CallId, Confinement, ItemStatus, RemainingBudget, Tool, ToolContext, ToolOutput } from '../contracts/index.ts'
import { callName, remainingTime, type StartedCall, timeReserve } from '../core/index.ts'
import { Interrupt } from '../util/interrupt.ts'
import { keepShape } from '../util/keep-shape.ts'
import { normal } from './output.ts'
import { remaining } from './remaining.ts'
import type { Stage } from './stage.ts'

export interface RunResult {
  readonly status: ItemStatus
  readonly output: ToolOutput
}

/** How long a tool may take to heed its signal and say how far it came. */
const graceMs = 250

/**
 * One run of one tool, and what the tool sees of the world.
 *
 * 1. It ends once: by itself, at its deadline, or with the turn, whether or not the tool heeds its signal.
 * 2. What finished keeps its real result, even after the signal; what did not says what is known.
 * 3. After the end the tool can do nothing more here: its result and its progress are dropped.
 */
export class CallRun implements ToolContext {
  readonly result: Promise<RunResult>
  readonly #stage: Stage
  readonly #call: StartedCall
  readonly #interrupt: Interrupt
  /** On the monotonic clock. */
  readonly started: number
  readonly #cancelTimer: () => void
  #cancelGrace: (() => void) | undefined
  #resolve: ((result: RunResult) => void) | undefined

  constructor(stage: Stage, tool: Tool, call: StartedCall) {
    const { clock } = stage
    const limit = deadline(stage, tool)
    this.#stage = stage
    this.#call = call
    this.#interrupt = new Interrupt(stage.interrupt)
    this.started = clock.monotonic()
    this.result = new Promise((resolve) => {
      this.#resolve = resolve
    })
    this.#cancelTimer = clock.after(limit.ms, () => this.#interrupt.fire(limit.reason))
    this.#interrupt.listen(() => {
      this.#cancelGrace = clock.after(graceMs, () => this.#end(this.#cutShort()))
    })
    this.#enter(tool)
    keepShape('call', this)
  }

  get callId(): CallId {
    return callName(this.#stage.state.sessionId, this.#call.itemId)
  }

  get attempt(): number {
    return this.#call.attempt
  }

  get overlay(): { readonly [name: string]: string } {
    return this.#stage.ports.overlay
  }

  get confinement(): Confinement {
    return this.#call.unsandboxed ? { kind: 'none' } : this.#stage.ports.sandbox.confinement
  }

  get signal(): AbortSignal {
    return this.#interrupt.signal
  }

  get remaining(): RemainingBudget {
    return remaining(this.#stage.state, this.#stage.turn, this.#stage.clock.now())
  }

  get maxOutputBytes(): number {
    return this.#stage.state.agent.limits.maxOutputBytes
  }

  // Tools take their context apart, so functions on it must not need it as their `this`.
  get storedOutput(): ToolContext['storedOutput'] {
    return async (handle) => this.#stage.ports.blobs.get(this.#stage.state.treeId, handle as BlobId)
  }

  get progress(): ToolContext['progress'] {
    return (text) => this.#progress(text)
  }

  #progress(text: string): void {
    const { turn } = this.#stage.state
    if (!this.#resolve || turn.kind !== 'open' || turn.step.kind !== 'calling') return
    const shown = this.#stage.ports.redactor.text(String(text))
    this.#stage.live({ stepId: turn.step.id, itemId: this.#call.itemId, attempt: this.attempt, kind: 'progress', text: shown })
  }

  #enter(tool: Tool): void {
    try {
      const answer = tool.execute(this.#call.intent.input, this)
      if (answer instanceof Promise)
        answer.then(
          (raw) => this.#settle(normal(raw, tool.name)),
          (error: unknown) => this.#settle(thrown(error)),
        )
      else this.#settle(normal(answer, tool.name))
    } catch (error) {
      this.#settle(thrown(error))
    }
  }

  #settle(output: ToolOutput): void {
    if (output.ok) this.#end({ status: 'completed', output })
    else this.#end(this.#interrupt.reason === undefined ? { status: 'failed', output } : this.#cutShort(output))
  }

  #end(result: RunResult): void {
    if (!this.#resolve) return
    this.#cancelTimer()
    this.#cancelGrace?.()
    this.#interrupt.close()
    this.#resolve(result)
    this.#resolve = undefined
  }

  /** A call that did not finish, with what is known about it. */
  #cutShort(said?: Extract<ToolOutput, { ok: false }>): RunResult {
    const { intent } = this.#call
    const seconds = ((this.#stage.clock.monotonic() - this.started) / 1000).toFixed(1)
    const effect = intent.effect === 'read' ? 'It only reads.' : 'It may have taken effect.'
    const own = said ? ` It said: ${said.error.message}` : ''
    const partial = said?.partial === undefined ? {} : { partial: said.partial }
    const message = (why: string): string => `"${intent.tool}" ran for ${seconds} s and was ended because ${why}. ${effect}${own}`
    switch (this.#interrupt.reason) {
      case 'timeout':
        return failure(
          'failed',
          { class: 'timeout', message: message('its time limit was reached'), remedy: 'Ask for less at once, or raise toolTimeout.' },
          partial,
        )
      case 'budget':
        return failure(
          'failed',
          { class: 'timeout', message: message('the time budget ran out'), remedy: 'Answer with what you have.' },
          partial,
        )
      default:
        return failure('interrupted', { class: 'cancelled', message: message('the turn was interrupted') }, partial)
    }
  }
}

function failure(status: ItemStatus, error: Extract<ToolOutput, { ok: false }>['error'], partial: { partial?: string }): RunResult {
  return { status, output: { ok: false, error, ...partial } }
}

const thrown = (error: unknown): Extract<ToolOutput, { ok: false }> => ({
  ok: false,
  error: { class: 'failed', message: error instanceof Error ? error.message : String(error) },
})

function deadline(stage: Stage, tool: Tool): { ms: number; reason: 'timeout' | 'budget' } {
  const limit = tool.timeoutMs ?? stage.state.agent.limits.toolTimeout
  if (stage.state.agent.limits.timeBudget === undefined) return { ms: limit, reason: 'timeout' }
  const left = remainingTime(stage.state, stage.turn, stage.clock.now()) ?? Number.POSITIVE_INFINITY
  const usable = Math.max(0, left - timeReserve(stage.state))
  return usable < limit ? { ms: usable, reason: 'budget' } : { ms: limit, reason: 'timeout' }
}
