import {
  type CallRecord,
  type ClientId,
  type ItemId,
  type ItemStatus,
  isAgentTool,
  type MaybePromise,
  type Tool,
  type ToolFailure,
  type ToolOutput,
  type ToolQuestions,
} from '../../contracts/index.ts'
import {
  type EscalationStage,
  escalationStage,
  findCall,
  isBetweenAttempts,
  LaneSet,
  notRunAgain,
  Released,
  type StartedCall,
} from '../../core/index.ts'
import { utf8Length } from '../../util/fit-text.ts'
import { keepHiddenClass } from '../../util/keep-hidden-class.ts'
import { messageOf } from '../../util/message-of.ts'
import { askBetweenAttempts } from '../approval/ask-person.ts'
import { canEscalate, escalate } from '../approval/escalate.ts'
import { afterCall, hasHooksAt } from '../approval/hooks.ts'
import { deniedByRules } from '../approval/permission.ts'
import { readToolQuestions } from '../approval/read-question.ts'
import { fitOutput, type ShownOutput } from '../output/call-output.ts'
import type { QueueSlots } from '../queues/queue-slot.ts'
import { type ActiveSession, elapsedBetween, elapsedSince } from '../session/active-session.ts'
import { itemEnded } from '../session/step-events.ts'
import { waitInQueueForTime } from '../session/wait-in-queue.ts'
import { returnedByClient } from '../tools/client-tools.ts'
import { Lanes } from './lanes.ts'
import { type RunResult, runTool } from './run-tool.ts'

// The second half of the pipeline: execute in the sandbox with deadline and signal → escalate if approved → hooks → redact
// and cut → record. Nothing acts before its intent is durable. A call that waits for another also waits for that one's
// result to be durable, so that recovery can tell what has not begun.

export function execute(session: ActiveSession, calls: readonly StartedCall[]): MaybePromise<void> {
  const [only] = calls
  if (!only || calls.length > 1) return runParallel(session, calls)
  const running = runCall(session, only)
  if (!running) return
  session.callsInFlight++
  return trackCall(session, running)
}

function runParallel(session: ActiveSession, calls: readonly StartedCall[]): MaybePromise<void> {
  const max = session.state.agent.limits.parallelToolCalls
  const lanes = calls.length <= max && calls.every((call) => call.intent.lane.kind === 'shared') ? undefined : new Lanes(max)
  const held = new LaneSet()
  const running: Promise<void>[] = []
  try {
    for (const call of calls) {
      const run = lanes ? lanes.run(call.intent.lane, () => runInLane(session, call, held)) : runCall(session, call)
      if (!run) continue
      if (!lanes) session.callsInFlight++
      running.push(trackCall(session, run))
    }
  } catch (error) {
    running.push(Promise.reject(error))
  }
  return running.length > 0 ? waitForAll(session, running) : undefined
}

async function waitForAll(session: ActiveSession, running: readonly Promise<void>[]): Promise<void> {
  try {
    await Promise.all(running)
  } catch (error) {
    // Only the journal fails here. Nothing can be recorded, so the other calls are interrupted and awaited.
    session.interrupt.fire('interrupted')
    await Promise.allSettled(running)
    throw error
  }
}

/** A call is in flight until it is recorded and calls that waited for it are in flight: zero really means at rest. */
async function trackCall(session: ActiveSession, running: Promise<void>): Promise<void> {
  try {
    await running
  } finally {
    session.callsInFlight--
    session.ports.tree.callEnded()
  }
}

/** `held`: lanes of earlier calls that stay open because their approval is deferred. */
async function runInLane(session: ActiveSession, call: StartedCall, held: LaneSet): Promise<void> {
  const { lane } = call.intent
  session.callsInFlight++
  if (held.conflictsWith(lane)) {
    held.add(lane)
    return
  }
  try {
    await runCall(session, call)
    if (isLeftOpen(session, call)) held.add(lane)
  } catch (error) {
    // Before the lane is free: a call that waits for it must not start if the result could not be stored.
    session.interrupt.fire('interrupted')
    throw error
  }
}

function isLeftOpen(session: ActiveSession, { itemId }: StartedCall): boolean {
  const { step } = session.turn
  return step.kind === 'calling' && findCall(step.calls, itemId)?.kind === 'started'
}

/** Not async: most calls are synchronous, and there are very many. The start of a child has no effect: the child waits before its first. */
function runCall(session: ActiveSession, call: StartedCall): MaybePromise<void> {
  const writing = session.flush()
  const mustWait = writing && !isAgentCall(session, call)
  return mustWait ? writing.then(() => startOrResume(session, call)) : startOrResume(session, call)
}

function isAgentCall(session: ActiveSession, { intent }: StartedCall): boolean {
  const tool = session.toolOf(intent.tool)
  return tool !== undefined && isAgentTool(tool)
}

function startOrResume(session: ActiveSession, call: StartedCall): MaybePromise<void> {
  const own = session.toolOf(call.intent.tool)
  const tool = own ?? (call.intent.lane.kind === 'client' ? returnedByClient(call.intent.tool) : undefined)
  // Recorded by an earlier driver.
  if (tool && (call.attempt > 1 || call.inherited || isBetweenAttempts(call))) return resumeCall(session, call, tool)
  return startCall(session, call, tool)
}

/** Rules may have changed since the intent was recorded. */
async function resumeCall(session: ActiveSession, call: StartedCall, tool: Tool): Promise<void> {
  const forbidden = await deniedByRules(session, call.intent)
  if (forbidden) return end(session, call, { status: 'failed', output: { ok: false, error: forbidden }, latencyMs: 0 })
  if (!isBetweenAttempts(call)) return startCall(session, call, tool)
  return runAgainOrEnd(session, call, { tool, result: resultBefore(call), started: session.clock.monotonic() })
}

function startCall(session: ActiveSession, call: StartedCall, tool: Tool | undefined): MaybePromise<void> {
  const refusal = session.interrupt.reason !== undefined ? notRun : tool ? undefined : toolRemoved(call.intent.tool)
  if (refusal || !tool) {
    // Without the second attempt, it stays unknown whether the first one ran.
    const isUnknown = call.attempt > 1
    const status = session.interrupt.reason === undefined ? 'failed' : isUnknown ? 'unknown' : 'skipped'
    const error = isUnknown && session.interrupt.reason !== undefined ? notRunAgain : (refusal ?? notRun)
    return end(session, call, { status, output: { ok: false, error }, latencyMs: 0 })
  }
  const slots = session.ports.queues?.forCall(tool, session.slots)
  return slots ? runQueued(session, call, { tool, slots }) : run(session, call, tool)
}

function run(session: ActiveSession, call: StartedCall, tool: Tool): MaybePromise<void> {
  const started = session.clock.monotonic()
  const running = runTool(session, tool, { call, started, slots: undefined })
  return running instanceof Promise
    ? running.then((result) => finishCall(session, call, { tool, result, started }))
    : finishCall(session, call, { tool, result: running, started })
}

/** Its timeout starts when it has its slots. */
async function runQueued(session: ActiveSession, call: StartedCall, { tool, slots }: Queued): Promise<void> {
  const entered = await takeSlots(session, slots, call.intent.id)
  if (entered !== 'in') {
    const isUnknown = call.attempt > 1
    const error = isUnknown ? notRunAgain : entered === 'late' ? tooLate : notRun
    return end(session, call, { status: isUnknown ? 'unknown' : 'skipped', output: { ok: false, error }, latencyMs: 0 })
  }
  const started = session.clock.monotonic()
  const result = await runWithSlots(session, tool, { call, started, slots })
  return finishCall(session, call, { tool, result, started })
}

interface Queued {
  readonly tool: Tool
  readonly slots: QueueSlots
}

/** A session gives its own slots back while its call waits, or when the call needs the same queue. */
async function takeSlots(session: ActiveSession, slots: QueueSlots, itemId: ItemId): Promise<'in' | 'interrupted' | 'late'> {
  const isIn = slots.tryEnter()
  if (!isIn || slots.isNested) session.slots?.leave()
  if (isIn) return 'in'
  session.callsInFlight++
  const entered = await waitInQueueForTime(session, slots, { isLast: false, itemId })
  session.callsInFlight--
  if (entered === 'in' && session.interrupt.reason === undefined) return 'in'
  slots.close()
  return entered === 'in' ? 'interrupted' : entered
}

async function runWithSlots(
  session: ActiveSession,
  tool: Tool,
  held: { call: StartedCall; started: number; slots: QueueSlots },
): Promise<RunResult> {
  try {
    return await runTool(session, tool, held)
  } finally {
    held.slots.close()
  }
}

function finishCall(session: ActiveSession, call: StartedCall, finishing: Finishing): MaybePromise<void> {
  const { status, output } = finishing.result
  if (canEscalate(session, output) || asks(output) || hasHooksAt(session, 'afterCall')) return runAgainOrEnd(session, call, finishing)
  const moment = session.clock.monotonic()
  return end(session, call, { status, output, latencyMs: elapsedBetween(finishing.started, moment), moment })
}

interface Finishing {
  readonly tool: Tool
  readonly result: RunResult
  readonly started: number
}

/** Runs further attempts, if a person approves or answers, and then the hooks. */
async function runAgainOrEnd(session: ActiveSession, call: StartedCall, { tool, result, started }: Finishing): Promise<void> {
  const ran = await furtherAttempts(session, call, { tool, result })
  if (ran === 'waiting') return
  const { status, output } = ran
  const latencyMs = elapsedSince(session.clock, started)
  const looked = await afterCall(session, call, output)
  // Hooks did not see the result: the call stays unfinished.
  if (session.isReleased && hasHooksAt(session, 'afterCall')) throw new Released()
  await end(session, call, { status, output: looked, latencyMs })
}

/** One attempt outside the sandbox, and one for each round of questions. A person decides; meanwhile the session has no slot. */
async function furtherAttempts(
  session: ActiveSession,
  first: StartedCall,
  { tool, result }: AttemptResult,
): Promise<RunResult | 'waiting'> {
  let call = first
  let ran = result
  for (;;) {
    const { output } = ran
    if (asks(output)) {
      session.slots?.leave()
      const next = await askAgain(session, call, output)
      if (next.kind === 'waiting') return 'waiting'
      if (next.kind === 'over')
        return { status: session.interrupt.reason === undefined ? 'failed' : 'interrupted', output: { ok: false, error: next.error } }
      call = next.call
    } else if (call.sandbox.kind !== 'outside' && canEscalate(session, output)) {
      session.slots?.leave()
      const way = await escalate(session, call, output)
      if (way === 'waiting') return way
      if (way !== 'outside') return { status: 'failed', output: way }
      call = unsandboxedCall(call)
    } else return ran
    ran = await runAgain(session, call, { tool, output })
  }
}

interface AttemptResult {
  readonly tool: Tool
  readonly result: RunResult
}
type Failed = Extract<ToolOutput, { ok: false }>
type Asking = Failed & { readonly ask: ToolQuestions }

const asks = (output: ToolOutput): output is Asking => !output.ok && output.ask !== undefined

async function askAgain(session: ActiveSession, call: StartedCall, { ask }: Asking): ReturnType<typeof askBetweenAttempts> {
  try {
    return await askBetweenAttempts(session, call, readToolQuestions(session.ports.redactor, ask))
  } catch (error) {
    if (error instanceof Released) throw error
    return { kind: 'over', error: { class: 'failed', message: `"${call.intent.tool}" asked something invalid: ${messageOf(error)}` } }
  }
}

/** It waits in its queues again. `output`: of the attempt before. */
async function runAgain(session: ActiveSession, call: StartedCall, { tool, output }: { tool: Tool; output: Failed }): Promise<RunResult> {
  const slots = session.ports.queues?.forCall(tool, session.slots)
  const entered = slots ? await takeSlots(session, slots, call.intent.id) : 'in'
  // With its questions, the output would be asked about again.
  if (entered !== 'in')
    return { status: 'failed', output: asks(output) ? { ok: false, error: entered === 'late' ? tooLate : notRun } : output }
  const again = { call, started: session.clock.monotonic() }
  return slots ? runWithSlots(session, tool, { ...again, slots }) : runTool(session, tool, { ...again, slots: undefined })
}

/** The result of the last attempt, as an earlier driver recorded it. */
function resultBefore(call: StartedCall): RunResult {
  const stage = escalationStage(call)
  if (stage) return sandboxResult(stage)
  const error = { class: 'cancelled', message: 'It asked a question that was not answered.' } as const
  const { ask } = call.questions?.round ?? {}
  return { status: 'failed', output: { ok: false, error, ...(ask && { ask }) } }
}

function sandboxResult({ request: { tool, inside } }: EscalationStage): RunResult {
  const error = { class: 'sandbox', message: `${tool} was stopped by the sandbox.` } as const
  return { status: 'failed', output: { ok: false, error, ...inside } }
}

const unsandboxedCall = (call: StartedCall): StartedCall => ({ ...call, attempt: call.attempt + 1, sandbox: { kind: 'outside' } })

interface Ended {
  readonly status: ItemStatus
  readonly output: ToolOutput
  readonly latencyMs: number
  /** A reading of the monotonic clock, if it was read just now. */
  readonly moment?: number
}

function end(session: ActiveSession, call: StartedCall, { status, output, latencyMs, moment }: Ended): MaybePromise<void> {
  const shown = fitOutput(session, output)
  if (shown instanceof Promise) return shown.then((fit) => record(session, call, { status, shown: fit, latencyMs, moment: undefined }))
  record(session, call, { status, shown, latencyMs, moment })
}

function record(session: ActiveSession, call: StartedCall, ended: Fitted): void {
  const plain = recordOf(call, ended)
  const item = session.deliveries ? withDeliveries(session.deliveries, plain) : plain
  session.record(itemEnded(session, item, ended.moment))
  if (item.bytesOut < 1_000) keepHiddenClass('ended', item, ended)
  // The last result shares a commit with the next step; the others are committed as they come.
  if (session.turn.step.kind === 'calling') void session.flush()
}

/** Notices are delivered with the result that contains them. */
function withDeliveries(deliveries: Map<ItemId, readonly ClientId[]>, item: CallRecord): CallRecord {
  const delivers = deliveries.get(item.id)
  deliveries.delete(item.id)
  return delivers && item.status === 'completed' ? { ...item, delivers } : item
}

interface Fitted {
  readonly status: ItemStatus
  readonly shown: ShownOutput
  readonly latencyMs: number
  readonly moment: number | undefined
}

function recordOf({ intent: { id, type }, part }: StartedCall, { status, shown, latencyMs }: Fitted): CallRecord {
  const { content, bytesOut, value, error, output, parts, endsTurn } = shown
  const plain = { kind: 'call', id, type, status, content, bytesOut, latencyMs, bytesIn: utf8Length(part.input) } as const
  const isPlain = value === undefined && error === undefined && output === undefined && parts === undefined && endsTurn === undefined
  return isPlain ? plain : { ...plain, ...shown }
}

const tooLate: ToolFailure = {
  class: 'timeout',
  message: 'The call was not run: the time budget ran out while it waited in a queue.',
  remedy: 'Answer with what you have.',
}
const notRun: ToolFailure = { class: 'cancelled', message: 'The call was not run: the turn was interrupted.' }
const toolRemoved = (tool: string): ToolFailure => ({ class: 'config', message: `The tool "${tool}" is no longer available.` })
