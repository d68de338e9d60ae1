import type { MaybePromise, Model, ModelRequest, Reservation } from '../../contracts/index.ts'
import { type AskAction, isOutputLimited, maxDelayMs, stepIdOf } from '../../core/index.ts'
import { Interrupt } from '../../util/interrupt.ts'
import type { QueueSlots } from '../queues/queue-slot.ts'
import type { Queues } from '../queues/queues.ts'
import type { ActiveSession } from '../session/active-session.ts'
import { stepStarted } from '../session/step-events.ts'
import { queueTimeout, waitInQueueForTime } from '../session/wait-in-queue.ts'
import { Attempt } from './attempt.ts'
import type { PartSource } from './load-parts.ts'

// One attempt at one step. The journal stores results and `step.started` while the model works; whatever acts on the reply
// awaits a flush first.

export function ask(session: ActiveSession, action: AskAction): MaybePromise<void> {
  // The loop decides again: a request with other tools may be too large.
  if (session.ports.tree.adoptTools(session)) return
  if (action.attempt === 1 && !action.probes && !session.ports.modelHealth.isEmpty) reportExclusions(session)
  if (isTooEarly(session, action)) return pause(session, action)
  return session.ports.queues ? askInQueue(session, action, session.ports.queues) : attempt(session, action)
}

const isTooEarly = (session: ActiveSession, action: AskAction): boolean =>
  action.notBefore > 0 && session.pausedAttempt !== session.attemptKey(action)

function reportExclusions(session: ActiveSession): void {
  const reason = 'its provider asked to wait, or refused the key or the account'
  for (const [model, until] of session.exclusions) {
    const message = `The model ${model} is excluded until ${new Date(until).toISOString()}: ${reason}.`
    session.reportOnce({ code: 'model_excluded', severity: 'info', message })
  }
}

/** Nothing is recorded or reserved while it waits. After a wait, the loop decides again. */
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
    // A nested slot covers those above it. Waiting with slots is safe only for queues that no call uses: model requests
    // always end.
    if (slot.isNested || (!isIn && slot.isForCalls)) slots?.leave()
    if (isIn) return await attempt(session, action)
    if (!(await takeSlot(session, slot, action))) return
    const next = session.decide()
    if (next.kind === 'ask' && next.model === action.model && !isTooEarly(session, next)) await attempt(session, next)
  } finally {
    slot.close()
  }
}

/** Ends with the turn or its time; the loop then finishes the turn. */
async function takeSlot(session: ActiveSession, slot: QueueSlots, { last }: AskAction): Promise<boolean> {
  void session.flush()
  const entered = await waitInQueueForTime(session, slot, { isLast: last !== undefined })
  if (entered === 'late') session.note({ type: 'interaction.diagnostic', diagnostic: queueTimeout })
  return entered === 'in' && session.interrupt.reason === undefined
}

/** Hooks are asked once a step: their context stays in the history for its retries. */
function attempt(session: ActiveSession, action: AskAction): Promise<void> {
  const isAsked =
    hasRequestHooks(session) && !action.compacts && action.attempt === 1 && session.hookedAttempt !== session.attemptKey(action)
  return isAsked ? attemptAfterHooks(session, action) : begin(session, action)
}

const hasRequestHooks = ({ ports }: ActiveSession): boolean => ports.hooks.some((hook) => hook.beforeRequest)

/** Decides again after hooks: their context makes the request larger. A failed hook with `onFailure: closed` ends the turn. */
async function attemptAfterHooks(session: ActiveSession, action: AskAction): Promise<void> {
  const { beforeRequest, endTurn } = await import('./lazy-additions.ts')
  const verdict = await beforeRequest(session, session.model(action.model))
  if (session.interrupt.reason !== undefined) return
  session.hookedAttempt = session.attemptKey(action)
  if (verdict.kind === 'failed') return endTurn(session, { status: 'failed', reason: 'hook', message: verdict.message })
  const next = session.decide()
  if (next.kind === 'ask' && next.model === action.model) await begin(session, next)
}

function begin(session: ActiveSession, action: AskAction): Promise<void> {
  return action.compacts || action.last === 'context' ? beginWithFullWindow(session, action) : request(session, action, unchanged)
}

/** Asks for a summary, or reports that the context window is full. */
async function beginWithFullWindow(session: ActiveSession, wanted: AskAction): Promise<void> {
  const { summaryRequest, reportNoRoom } = await import('./lazy-additions.ts')
  // Other sessions may have reserved something meanwhile.
  const action = session.decide()
  if (action.kind !== 'ask' || action.model !== wanted.model || action.attempt !== wanted.attempt) return
  if (action.last === 'context' && session.turn.last === undefined) reportNoRoom(session)
  await request(session, action, action.compacts ? (assembled) => summaryRequest(session, assembled) : unchanged)
}

const unchanged = (assembled: ModelRequest): ModelRequest => assembled

function request(session: ActiveSession, action: AskAction, shape: (assembled: ModelRequest) => ModelRequest): Promise<void> {
  const { turn } = session
  const stepId = stepIdOf(turn.id, action.attempt === 1 ? turn.steps + 1 : turn.steps)
  const model = session.model(action.model)
  const offer = session.offer(model)
  const capsOutput = isOutputLimited(session.state.agent.limits) || session.headroom.some(({ resource }) => resource !== 'time')
  const changed = session.changedOffer(offer, model, capsOutput)
  const moment = session.clock.monotonic()
  session.record(stepStarted(session, stepId, { action, model, moment, offer: changed }))
  void session.flush()
  const wanted = shape(session.recipe.assemble(session.state, offer))
  const attempted = new Attempt(session, model, { stepId, action, moment })
  const limited = capsOutput ? withOutputCap(wanted, action.reservation) : wanted
  if (session.state.stored.parts) return beginWithParts(session, { model, request: limited, attempted })
  const asker = Promise.withResolvers<void>()
  attempted.begin(limited, asker)
  return asker.promise
}

/** An interrupt while the bytes are loaded ends the attempt when it begins. */
async function beginWithParts(session: ActiveSession, { model, request, attempted }: WithParts): Promise<void> {
  const { withLoadedParts } = await import('./lazy-additions.ts')
  const asker = Promise.withResolvers<void>()
  const { request: complete, loaded } = await withLoadedParts(request, partSource(session, model))
  session.loadedParts = loaded
  attempted.begin(complete, asker)
  return asker.promise
}

const partSource = ({ ports, state, loadedParts }: ActiveSession, { abilities }: Model): PartSource => ({
  abilities,
  kept: loadedParts,
  read: (blob) => ports.blobs.getBytes(state.treeId, blob),
})

interface WithParts {
  readonly model: Model
  readonly request: ModelRequest
  readonly attempted: Attempt
}

/** Waits before a retry. The loop decides again afterwards. */
async function pause(session: ActiveSession, action: AskAction): Promise<void> {
  const woken = session.nextWake()
  await session.flush()
  const interrupt = new Interrupt(session.interrupt)
  const left = session.timeLeft()?.ms ?? Number.POSITIVE_INFINITY
  const ms = Math.max(0, Math.min(action.notBefore - session.now, maxDelayMs, left))
  const cancel = session.clock.after(ms, () => {
    session.pausedAttempt = session.attemptKey(action)
    interrupt.fire('over')
  })
  await Promise.race([woken, new Promise<void>((resolve) => interrupt.listen(resolve))])
  cancel()
  interrupt.close()
}

/** Under a budget the provider gets the reservation as its output limit. */
export const withOutputCap = (request: ModelRequest, { output }: Reservation): ModelRequest => ({
  ...request,
  parameters: { ...request.parameters, maxOutputTokens: output },
})
