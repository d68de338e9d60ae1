// One run of `invoke`, with the limits of its agent.
//
// 1. `time_budget_ms` bounds the code of `invoke`. While an agent runs that it started, the time budget of that agent applies.
// 2. `max_turns` and `max_tokens_per_invocation` bound all agents that it starts together: each one gets what is left.
import type { AgentLimits, AgentResult, ChildResult, Clock } from '../../contracts/index.ts'
import { showDuration } from '../../util/parse-units.ts'
import type { AgentSection } from '../shared/kernel-types.ts'
import { WorkingTime } from '../shared/working-time.ts'
import { failedResult } from './agent-results.ts'

/** After its signal has aborted, `invoke` may return a part of its result. */
export const invokeGraceMs = 1_000

export class Invocation {
  readonly signal: AbortSignal
  readonly #limits: AgentSection['limits']
  readonly #deadline = new AbortController()
  readonly #late = Promise.withResolvers<AgentResult>()
  readonly #time: WorkingTime
  #cancelGrace = (): void => {}
  #steps = 0
  #tokens = 0
  hasStarted = false

  constructor(limits: AgentSection['limits'], clock: Clock, signal: AbortSignal | undefined) {
    this.#limits = limits
    this.signal = signal ? AbortSignal.any([signal, this.#deadline.signal]) : this.#deadline.signal
    this.#time = new WorkingTime(clock, limits.timeBudgetMs, () => {
      this.#deadline.abort(new Error(this.#timeout.message))
      this.#cancelGrace = clock.after(invokeGraceMs, () => this.#late.resolve(failedResult(this.#timeout)))
    })
  }

  /** The result, or a failure once the time is used. */
  async within(work: () => Promise<AgentResult>): Promise<AgentResult> {
    try {
      const result = await Promise.race([work(), this.#late.promise])
      return this.#deadline.signal.aborted && result.status === 'completed'
        ? { ...result, status: 'partial', error: this.#timeout }
        : result
    } finally {
      this.#time.end()
      this.#cancelGrace()
    }
  }

  /** Runs an agent inside of `invoke`. */
  async child(start: (left: Partial<AgentLimits>) => Promise<ChildResult>): Promise<ChildResult> {
    const refusal = this.#refusal
    this.hasStarted = true
    if (refusal !== undefined)
      return { kind: 'refused', failure: { class: 'budget', message: refusal, remedy: 'Answer with what you have.' } }
    this.#time.pause()
    try {
      const { maxTurns, maxTokensPerInvocation } = this.#limits
      const result = await start({ maxToolTurns: maxTurns - this.#steps, maxTokens: maxTokensPerInvocation - this.#tokens })
      if (result.kind === 'ended') this.#charge(result)
      return result
    } finally {
      this.#time.resume()
    }
  }

  get #refusal(): string | undefined {
    const { maxTurns, maxTokensPerInvocation } = this.#limits
    if (this.#steps >= maxTurns) return `All ${maxTurns} steps of this invocation are used.`
    return this.#tokens >= maxTokensPerInvocation ? `All ${maxTokensPerInvocation} tokens of this invocation are used.` : undefined
  }

  #charge({ accounting, operations }: Extract<ChildResult, { kind: 'ended' }>): void {
    this.#steps += operations.steps.length
    for (const entry of accounting) if (entry.kind === 'model') this.#tokens += entry.usage.input + entry.usage.output
  }

  get #timeout(): NonNullable<AgentResult['error']> {
    const message = `The agent has used its time budget of ${showDuration(this.#limits.timeBudgetMs)}.`
    return { class: 'timeout', message, remedy: 'Raise `agent.limits.time_budget_ms` in its manifest.' }
  }
}
