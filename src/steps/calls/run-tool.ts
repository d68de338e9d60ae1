import {
  type BlobId,
  type ChildControl,
  type ChildResult,
  type ChildTask,
  type Confinement,
  type ItemStatus,
  isAgentTool,
  type Json,
  type LivePlace,
  type MaybePromise,
  type Plan,
  type Question,
  type QuestionAnswer,
  type SampleRequest,
  type SampleResult,
  type Tool,
  type ToolContext,
  type ToolFailure,
  type ToolOutput,
  type ToolSpec,
} from '../../contracts/index.ts'
import { callIdOf, planItemIdOf, type StartedCall } from '../../core/index.ts'
import { Interrupt } from '../../util/interrupt.ts'
import { isThenable } from '../../util/is-thenable.ts'
import { copyJson } from '../../util/json-values.ts'
import { keepHiddenClass } from '../../util/keep-hidden-class.ts'
import { messageOf } from '../../util/message-of.ts'
import type { RedactionStream } from '../../util/redact-stream.ts'
import { confinementOf } from '../approval/agent-confinement.ts'
import { answerFrom, askWhileRunning } from '../approval/ask-person.ts'
import { isUseAllowed } from '../approval/permission.ts'
import { readQuestion } from '../approval/read-question.ts'
import { readOutput } from '../output/call-output.ts'
import { storedText } from '../output/store-blob.ts'
import type { QueueSlots } from '../queues/queue-slot.ts'
import type { ActiveSession, ChildStart } from '../session/active-session.ts'
import { waitInQueue } from '../session/wait-in-queue.ts'
import { type CallLimit, callLimit, configuredTimeout, interruptGraceMs, noLimit, timeoutRemedy } from '../tools/call-limit.ts'
import { checkedPlan } from './check-plan.ts'
import { readSample, sampleResult, samplingRefusal } from './sample.ts'

export interface RunResult {
  readonly status: ItemStatus
  readonly output: ToolOutput
}

const defaultGraceMs = 250

/** Runs a tool once. Synchronous if the tool is. */
export function runTool(session: ActiveSession, tool: Tool, run: Run): MaybePromise<RunResult> {
  return new CallRun(session, run).enter(tool)
}

interface Run {
  readonly call: StartedCall
  readonly started: number
  readonly slots: QueueSlots | undefined
}

interface StartedChild {
  readonly result: Promise<ChildResult>
  hasEnded: boolean
  end?: ChildResult
}

/**
 * One run of one tool.
 *
 * 1. It ends once: by itself, at its deadline, or with the turn, even if the tool ignores its signal.
 * 2. A tool that finishes keeps its real result, even after the signal; otherwise the result says what is known.
 * 3. After the end the tool has no effect here: its result and progress are dropped.
 * 4. It ends after the children that it started: those that the tool did not await are ended first.
 * 5. It asks one question at a time. Meanwhile its deadline is paused and it holds no queue slot.
 */
class CallRun {
  readonly #session: ActiveSession
  readonly #call: StartedCall
  readonly #interrupt: Interrupt
  readonly #started: number
  readonly #slots: QueueSlots | undefined
  #tool: Tool | undefined
  #limit: CallLimit = noLimit
  #isOver = false
  #veil: RedactionStream | undefined
  #places: { progress?: LivePlace; output?: LivePlace } | undefined
  #children: StartedChild[] | undefined
  /** How many starts of children were accepted, and the number of the spawned one. */
  #accepted = 0
  #spawned: number | undefined
  /** The starts so far. */
  #starting: Promise<void> | undefined
  #cancelTimer: (() => void) | undefined
  #turnEnd: Interrupt | undefined
  /** When its deadline was paused, and for how long before. */
  #pausedAt: number | undefined
  #pausedMs = 0
  /** The questions so far. */
  #asked: Promise<unknown> | undefined

  constructor(session: ActiveSession, { call, started, slots }: Run) {
    this.#session = session
    this.#call = call
    this.#interrupt = new Interrupt(session.interrupt)
    this.#started = started
    this.#slots = slots
  }

  enter(tool: Tool): MaybePromise<RunResult> {
    const timeLeft = this.#session.timeLeft()
    this.#tool = tool
    this.#limit = callLimit(tool, this.#session.state.agent, timeLeft?.usable ?? Number.POSITIVE_INFINITY)
    const input = copyJson(this.#call.intent.input)
    keepHiddenClass('call', this, input)
    try {
      const answer = tool.execute(input, this.#context(tool, timeLeft?.ms))
      return isThenable(answer) || this.#children ? this.#wait(answer, tool) : this.#over(this.#result(this.#output(answer, tool)))
    } catch (error) {
      return this.#children ? this.#wait(Promise.reject(error), tool) : this.#over(this.#result(thrown(error)))
    }
  }

  /** Waits for the result, or for the end of the grace period after the deadline or interrupt. */
  #wait(answer: unknown, tool: Tool): Promise<RunResult> {
    return new Promise((resolve) => {
      if (this.#pausedAt === undefined) this.#startTimer(this.#limit.ms)
      const end = (result: RunResult): void => {
        if (this.#isOver) return
        this.#cancelTimer?.()
        resolve(this.#over(result))
      }
      this.#interrupt.listen(() => this.#giveUp(tool, end))
      Promise.resolve(answer).then(
        (raw) => this.#afterChildren(this.#result(this.#output(raw, tool)), end),
        (error: unknown) => this.#afterChildren(this.#result(thrown(error)), end),
      )
    })
  }

  /** Ends the call after its grace period. The turn can be interrupted meanwhile, if the call has only reached its deadline. */
  #giveUp(tool: Tool, end: (result: RunResult) => void): void {
    const { clock, interrupt } = this.#session
    this.#cancelTimer?.()
    this.#cancelTimer = clock.after(this.#graceMs(tool), () => end(this.#cutShort()))
    if (interrupt.reason !== undefined) return
    this.#turnEnd = new Interrupt(interrupt)
    this.#turnEnd.listen(() => this.#giveUp(tool, end))
  }

  /** An interrupted turn waits a second at most. Children have the same second, and a moment to record their end. */
  #graceMs({ graceMs }: Tool): number {
    if (this.#session.interrupt.reason !== 'interrupted') return graceMs ?? defaultGraceMs
    const most = this.#children ? interruptGraceMs.child : interruptGraceMs.call
    return Math.min(graceMs ?? most, most)
  }

  #startTimer(ms: number): void {
    const { by } = this.#limit
    this.#cancelTimer = this.#session.clock.after(ms, () => this.#interrupt.fire(by === 'budget' ? 'budget' : 'timeout'))
  }

  #output(raw: unknown, { name }: Tool): ToolOutput {
    return readOutput(raw, name, (diagnostic) => {
      if (!this.#isOver) this.#session.reportOnce(diagnostic)
    })
  }

  /** A plain object: tools may spread and destructure it. */
  #context(tool: Tool, timeLeft: number | undefined): ToolContext {
    const { state, ports } = this.#session
    const context: ToolContext = {
      treeId: state.treeId,
      sessionId: state.sessionId,
      agentPath: state.agentPath,
      agent: state.agent.name,
      messageId: ports.tree.messageOf(this.#session),
      principal: ports.tree.principal,
      signal: this.#interrupt.signal,
      callId: callIdOf(state.sessionId, this.#call.itemId),
      attempt: this.#call.attempt,
      overlay: ports.overlay,
      remaining: this.#session.remainingBudget(timeLeft),
      confinement: this.#call.sandbox.kind === 'outside' ? unconfined : confinementOf(this.#session),
      maxOutputBytes: state.agent.limits.maxOutputBytes,
      agents: ports.tree.agentsOf(this.#session),
      startChild: (task, signal) => this.#startChild(task, signal),
      storedOutput: (handle) => storedText(this.#session, handle as BlobId),
      searchableTools: () => this.#searchableTools(),
      skills: state.agent.skills?.filter(({ name }) => ports.skills.includes(name)) ?? noSkills,
      ask: (question, signal) => this.#ask(question, signal),
      sample: (request) => this.#sample(request),
      mayUse: (key, how) => isUseAllowed(this.#session, { name: this.#call.intent.tool, tool }, { key, how }),
      progress: (text) => this.#show('progress', ports.redactor.text(String(text))),
      output: (chunk) => this.#pass(String(chunk)),
      updatePlan: (plan) => this.#updatePlan(plan),
    }
    const { answer } = this.#call.intent
    const round = this.#call.questions?.round
    const toolTimeout = configuredTimeout(state.agent)
    // The usual case, without a copy.
    const childControl = state.agent.childControl ?? tool.controlsChildren
    if (answer === undefined && toolTimeout === undefined && childControl === undefined && round === undefined) return context
    return {
      ...context,
      ...(answer !== undefined && { answer }),
      ...(toolTimeout !== undefined && { toolTimeout }),
      ...(childControl && { children: this.#childControl() }),
      ...(round && { answers: round.answers, ...(round.ask.state !== undefined && { askState: round.ask.state }) }),
    }
  }

  #childControl(): ChildControl {
    const session = this.#session
    const call = this.#call
    const { spawned } = session.ports.tree
    const over = { kind: 'refused', failure: callIsOver } as const
    return {
      spawn: async (task) => (this.#isOver ? over : this.#spawn(task, false)),
      handOver: async (task) => (this.#isOver ? over : this.#spawn(task, true)),
      takeBack: async (id, reason) => (this.#isOver ? over : spawned.takeBack(session, id, reason)),
      send: async (id, input, mode = 'steer') => (this.#isOver ? over : spawned.send(session, call, { id, input, mode })),
      wait: (request) => spawned.wait(session, { itemId: call.itemId, interrupt: this.#interrupt, slots: this.#slots }, request),
      close: async (id) => (this.#isOver ? over : spawned.close(session, id)),
      list: () => spawned.list(session),
    }
  }

  async #ask(given: Question, signal: AbortSignal | undefined): Promise<QuestionAnswer> {
    const question = readQuestion(this.#session.ports.redactor, given)
    const withdraw = (): void => this.#session.wake()
    const isWithdrawn = (): boolean => this.#isOver || this.#interrupt.reason !== undefined || signal?.aborted === true
    signal?.addEventListener('abort', withdraw)
    this.#interrupt.listen(withdraw)
    const decision = await this.#whilePaused(() =>
      askWhileRunning(this.#session, this.#call, { asked: { scope: 'question', question }, isWithdrawn }),
    )
    signal?.removeEventListener('abort', withdraw)
    return answerFrom(decision)
  }

  async #sample(request: SampleRequest): Promise<SampleResult> {
    const session = this.#session
    const sample = readSample(session, this.#call, request)
    const isWithdrawn = (): boolean => this.#isOver || this.#interrupt.reason !== undefined
    this.#interrupt.listen(() => session.wake())
    return this.#whilePaused(async () => {
      const error = await samplingRefusal(session, this.#call, { sample, isWithdrawn })
      if (error) return { ok: false, error }
      const { agent, parts } = sample
      const result = await this.#follow({ task: { agent: agent.name, input: parts }, interrupt: this.#interrupt, inline: agent })
      return sampleResult(result, agent.models)
    })
  }

  /** One after the other. The deadline is paused, and others may use the queue slots. */
  #whilePaused<T>(wait: () => Promise<T>): Promise<T> {
    const before = this.#asked
    const waited = (async () => {
      await before
      const session = this.#session
      this.#pause()
      session.slots?.leave()
      this.#slots?.leave()
      try {
        return await wait()
      } finally {
        const mustQueue = !this.#isOver && this.#interrupt.reason === undefined && this.#slots?.tryEnter() === false
        if (mustQueue && this.#slots) await waitInQueue(session, this.#slots, { interrupt: this.#interrupt, itemId: this.#call.itemId })
        this.#continue()
      }
    })()
    this.#asked = waited.catch(() => {})
    return waited
  }

  #pause(): void {
    this.#pausedAt = this.#session.clock.monotonic()
    if (this.#interrupt.reason === undefined) this.#cancelTimer?.()
  }

  #continue(): void {
    const now = this.#session.clock.monotonic()
    this.#pausedMs += now - (this.#pausedAt ?? now)
    this.#pausedAt = undefined
    if (this.#isOver || this.#interrupt.reason !== undefined) return
    const worked = now - this.#started - this.#pausedMs
    const usable = this.#session.timeLeft()?.usable ?? Number.POSITIVE_INFINITY
    if (worked + usable < this.#limit.ms) this.#limit = { ms: worked + usable, by: 'budget' }
    this.#startTimer(Math.max(0, this.#limit.ms - worked))
  }

  #searchableTools(): readonly ToolSpec[] {
    const { step } = this.#session.turn
    if (step.kind !== 'calling') return []
    return this.#session
      .offer(this.#session.modelOfStep(step.model))
      .searchable.map(({ tool: { description, inputSchema }, name }) => ({ name, description, inputSchema }))
  }

  /** Starts are processed in order: a child is numbered once those before it are accepted or refused. */
  #startChild(task: ChildTask, signal?: AbortSignal): Promise<ChildResult> {
    const before = this.#starting
    const settled = Promise.withResolvers<void>()
    this.#starting = settled.promise
    const begin = (): Promise<ChildResult> => this.#begin(task, signal, settled.resolve)
    return before ? before.then(begin) : begin()
  }

  async #begin(task: ChildTask, signal: AbortSignal | undefined, settled: () => void): Promise<ChildResult> {
    const interrupt = signal ? new Interrupt(this.#interrupt) : this.#interrupt
    const abort = (): void => interrupt.fire('interrupted')
    signal?.addEventListener('abort', abort)
    if (signal?.aborted) abort()
    const accepted = (): void => {
      this.#accepted++
      settled()
    }
    try {
      return await this.#follow({ task, interrupt, number: this.#accepted + 1, accepted })
    } finally {
      settled()
      signal?.removeEventListener('abort', abort)
      if (signal) interrupt.close()
    }
  }

  #follow(start: Omit<ChildStart, 'slots'>): Promise<ChildResult> {
    if (this.#isOver) return Promise.resolve({ kind: 'refused', failure: callIsOver })
    const result = this.#session.ports.tree.startChild(this.#session, this.#call.itemId, {
      ...start,
      slots: this.#slots,
      isAgentCall: this.#tool !== undefined && isAgentTool(this.#tool),
    })
    const child: StartedChild = { result, hasEnded: false }
    this.#children ??= []
    this.#children.push(child)
    const ended = (): void => {
      child.hasEnded = true
    }
    // Also handles a rejection that the tool does not await.
    result.then((end) => {
      child.end = end
      ended()
    }, ended)
    return result
  }

  /** A call spawns one child. */
  async #spawn(task: ChildTask, handsOver: boolean): ReturnType<ChildControl['spawn']> {
    const before = this.#starting
    const settled = Promise.withResolvers<void>()
    this.#starting = settled.promise
    await before
    try {
      const number = this.#spawned ?? this.#accepted + 1
      const spawned = await this.#session.ports.tree.spawned.spawn(this.#session, { itemId: this.#call.itemId, number, handsOver }, task)
      if (!('kind' in spawned) && this.#spawned === undefined) {
        this.#spawned = number
        this.#accepted++
      }
      return spawned
    } finally {
      settled.resolve()
    }
  }

  /** Ends children that still run when their tool has returned. The parent pays for them. */
  #afterChildren(result: RunResult, end: (result: RunResult) => void): void {
    const running = this.#children?.filter(({ hasEnded }) => !hasEnded) ?? []
    if (running.length === 0) {
      end(result)
      return
    }
    this.#interrupt.fire('interrupted')
    void Promise.allSettled(running.map((child) => child.result)).then(() => this.#afterChildren(result, end))
  }

  /** A secret may lie across two chunks. */
  #pass(chunk: string): void {
    this.#veil ??= this.#session.ports.redactor.stream()
    this.#show('output', this.#veil.push(chunk))
  }

  #show(kind: 'progress' | 'output', text: string): void {
    const { turn } = this.#session.state
    if (text === '' || this.#isOver || turn.kind !== 'open' || turn.step.kind !== 'calling') return
    const place = { stepId: turn.step.id, itemId: this.#call.itemId, attempt: this.#call.attempt, kind, offset: 0 }
    this.#places ??= {}
    this.#places[kind] ??= place
    this.#session.live(this.#places[kind], text)
  }

  #updatePlan(plan: Plan): void {
    const { turn } = this.#session.state
    if (this.#isOver || turn.kind !== 'open') return
    const planned = this.#session.ports.redactor.json(checkedPlan(plan) as unknown as Json) as unknown as Plan
    const itemId = planItemIdOf(turn.id)
    if (turn.plan) this.#session.note({ type: 'interaction.item.updated', itemId, update: { kind: 'plan', plan: planned } })
    else
      this.#session.note({ type: 'interaction.item.started', itemId, item: { kind: 'plan', id: itemId, type: 'todo_list', plan: planned } })
    // People follow the plan while the call runs.
    void this.#session.flush()
  }

  #result(output: ToolOutput): RunResult {
    if (output.ok && !this.#hasLeftChild) return { status: 'completed', output }
    if (output.ok) return this.#cutShort()
    return this.#interrupt.reason === undefined ? { status: 'failed', output } : this.#cutShort(output)
  }

  /** A child was released and will continue later, whatever the tool returns now. */
  get #hasLeftChild(): boolean {
    return this.#session.isReleased && this.#children?.some(({ end }) => end === undefined) === true
  }

  #over(result: RunResult): RunResult {
    if (this.#veil) this.#show('output', this.#veil.end())
    this.#isOver = true
    this.#interrupt.close()
    this.#turnEnd?.close()
    if (this.#asked) this.#session.wake()
    return result
  }

  /** The result of a call that did not finish. */
  #cutShort(said?: Extract<ToolOutput, { ok: false }>): RunResult {
    const { intent } = this.#call
    const seconds = ((this.#session.clock.monotonic() - this.#started - this.#pausedMs) / 1000).toFixed(1)
    const isIdle = intent.type === 'subagent_call' && this.#children?.every(({ end }) => end !== undefined && !hasBegun(end)) === true
    const effect = isIdle ? 'It had not started.' : intent.effect === 'read' ? 'It only reads.' : 'It may have taken effect.'
    const own = said && !isIdle ? ` It said: ${said.error.message}` : ''
    const { status, why, ...failure } = cutReasons[this.#interrupt.reason as keyof typeof cutReasons] ?? cutReasons.interrupted
    const remedy = this.#interrupt.reason === 'timeout' ? timeoutRemedy(this.#limit) : undefined
    const error: ToolFailure = {
      ...failure,
      ...(remedy !== undefined && { remedy }),
      message: `"${intent.tool}" ${isIdle ? 'waited' : 'ran'} for ${seconds} s and was ended because ${why}. ${effect}${own}`,
    }
    return { status, output: { ok: false, error, ...(said?.partial !== undefined && { partial: said.partial }) } }
  }
}

const cutReasons = {
  timeout: { status: 'failed', why: 'its time limit was reached', class: 'timeout' },
  budget: { status: 'failed', why: 'the time budget ran out', class: 'timeout', remedy: 'Answer with what you have.' },
  interrupted: { status: 'interrupted', why: 'the turn was interrupted', class: 'cancelled' },
} as const

/** Whether a child has asked a model; before that it has no effects. */
const hasBegun = (end: ChildResult): boolean =>
  end.kind === 'refused' ? end.failure.class !== 'cancelled' : end.operations.steps.length > 0

const callIsOver: ToolFailure = { class: 'config', message: 'The call has already ended.' }

const unconfined: Confinement = { kind: 'none' }
const noSkills: readonly never[] = []

const thrown = (error: unknown): ToolOutput => ({ ok: false, error: { class: 'failed', message: messageOf(error) } })
