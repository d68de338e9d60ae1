import type { Model, ModelRequest, StepId } from '../../contracts/index.ts'
import { type AskAction, maxDelayMs, stepIdOf } from '../../core/index.ts'
import { Interrupt } from '../../util/interrupt.ts'
import type { ActiveSession } from '../loop/active-session.ts'
import { reportOnce } from '../loop/report-once.ts'
import { stepStarted } from '../loop/step-events.ts'
import { queueTimeout, waitInQueueForTime } from '../queues/enter-in-time.ts'
import type { QueueSlots } from '../queues/queue-slot.ts'
import type { Queues } from '../queues/queues.ts'
import { Attempt } from './attempt.ts'

// One attempt at one step. `[results + step.started]` is handed to the journal and not waited for: the model may
// think meanwhile, and whoever acts on the reply waits for everything before it.

export function ask(session: ActiveSession, action: AskAction): Promise<void> {
  if (action.attempt === 1 && !action.probes && !session.ports.modelHealth.isEmpty) reportExclusions(session)
  if (isTooEarly(session, action)) return pause(session, action)
  return session.ports.queues ? askInQueue(session, action, session.ports.queues) : attempt(session, action)
}

const isTooEarly = (session: ActiveSession, action: AskAction): boolean => action.notBefore > 0 && !session.hasPaused(action)

function reportExclusions(session: ActiveSession): void {
  const reason = 'its provider asked to wait, or refused the key or the account'
  for (const [model, until] of session.exclusions) {
    const message = `The model ${model} is not asked before ${new Date(until).toISOString()}: ${reason}.`
    reportOnce(session, { code: 'model_excluded', severity: 'info', message })
  }
}

/** Nothing is recorded or set aside in line; whoever has waited decides anew. */
async function askInQueue(session: ActiveSession, action: AskAction, queues: Queues): Promise<void> {
  const { slots } = session
  if (slots && !slots.tryEnter()) {
    await takeSlot(session, slots, action)
    return
  }
  const slot = queues.forModel(session.model(action.model).id, slots)
  if (!slot) return attempt(session, action)
  try {
    const isIn = slot.tryEnter()
    // The slot stands for those above it, too. Where no call can be in the way, whoever is before ends by itself: only
    // there may one wait with slots in hand.
    if (slot.isNested || (!isIn && slot.isForCalls)) slots?.leave()
    if (isIn) return await attempt(session, action)
    if (!(await takeSlot(session, slot, action))) return
    const next = session.decide()
    if (next.kind === 'ask' && next.model === action.model && !isTooEarly(session, next)) await attempt(session, next)
  } finally {
    slot.close()
  }
}

/** Ends with the turn, or with its time: the loop then sees that it is over. */
async function takeSlot(session: ActiveSession, slot: QueueSlots, { last }: AskAction): Promise<boolean> {
  // What has happened so far is not to be lost meanwhile.
  void session.flush()
  const entered = await waitInQueueForTime(session, slot, { isLast: last !== undefined })
  if (entered === 'late') session.note({ type: 'interaction.diagnostic', diagnostic: queueTimeout })
  return entered === 'in' && session.interrupt.reason === undefined
}

/** Hooks are asked once a step: what they add for its first attempt stands in the history of the next. */
function attempt(session: ActiveSession, action: AskAction): Promise<void> {
  const isAsked = hasRequestHooks(session) && !action.compacts && action.attempt === 1 && !session.hasAskedHooks(action)
  return isAsked ? attemptAfterHooks(session, action) : begin(session, action)
}

const hasRequestHooks = ({ ports }: ActiveSession): boolean => ports.hooks.some((hook) => hook.beforeRequest)

/** What hooks add is part of the request: what it may take is looked at again. A hook that must not fail and does ends the turn. */
async function attemptAfterHooks(session: ActiveSession, action: AskAction): Promise<void> {
  const { beforeRequest, endTurn } = await import('../loop/lazy-steps.ts')
  const verdict = await beforeRequest(session, session.model(action.model))
  if (session.interrupt.reason !== undefined) return
  session.rememberHooks(action)
  if (verdict.kind === 'failed') return endTurn(session, { status: 'failed', reason: 'hook', message: verdict.message })
  const next = session.decide()
  if (next.kind === 'ask' && next.model === action.model) await begin(session, next)
}

function stepAndModel(session: ActiveSession, { attempt, model }: AskAction): { readonly stepId: StepId; readonly model: Model } {
  const { turn } = session
  return { stepId: stepIdOf(turn.id, attempt === 1 ? turn.steps + 1 : turn.steps), model: session.model(model) }
}

function begin(session: ActiveSession, action: AskAction): Promise<void> {
  return action.compacts || action.last === 'context' ? beginWithFullWindow(session, action) : request(session, action, unchanged)
}

/** Where the history has become too long: asks for a summary of it, or notes that there is no room left. */
async function beginWithFullWindow(session: ActiveSession, action: AskAction): Promise<void> {
  const { summaryRequest, reportNoRoom } = await import('../loop/lazy-steps.ts')
  if (action.last === 'context' && session.turn.last === undefined) reportNoRoom(session)
  await request(session, action, action.compacts ? (assembled) => summaryRequest(session, assembled) : unchanged)
}

const unchanged = (assembled: ModelRequest): ModelRequest => assembled

function request(session: ActiveSession, action: AskAction, shape: (assembled: ModelRequest) => ModelRequest): Promise<void> {
  const { stepId, model } = stepAndModel(session, action)
  const moment = session.clock.monotonic()
  session.record(stepStarted(session, stepId, { action, model, moment }))
  // Handed over, not awaited.
  void session.flush()
  const wanted = shape(session.recipe.assemble(session.state, session.offer(model)))
  const asker = Promise.withResolvers<void>()
  new Attempt(session, model, { stepId, action, moment }).begin(limitOutput(session, wanted, action), asker)
  return asker.promise
}

/** Waits before a further attempt. Whatever happens meanwhile, the loop looks again before it asks. */
async function pause(session: ActiveSession, action: AskAction): Promise<void> {
  const woken = session.nextWake()
  await session.flush()
  const interrupt = new Interrupt(session.interrupt)
  const left = session.timeLeft()?.ms ?? Number.POSITIVE_INFINITY
  const ms = Math.max(0, Math.min(action.notBefore - session.now, maxDelayMs, left))
  const cancel = session.clock.after(ms, () => {
    session.rememberPause(action)
    interrupt.fire('over')
  })
  await Promise.race([woken, new Promise<void>((resolve) => interrupt.listen(resolve))])
  cancel()
  interrupt.close()
}

/** Under a budget the provider is told the cap, so that it cannot overspend by talking. */
function limitOutput(session: ActiveSession, request: ModelRequest, { reservation }: AskAction): ModelRequest {
  if (!hasOutputLimit(session)) return request
  return { ...request, parameters: { ...request.parameters, maxOutputTokens: reservation.output } }
}

function hasOutputLimit(session: ActiveSession): boolean {
  const { maxTokens, maxSessionTokens, maxCostUsd } = session.state.agent.limits
  if ((maxTokens ?? maxSessionTokens ?? maxCostUsd) !== undefined) return true
  return session.headroom.some(({ key }) => key !== 'timeBudget')
}
