import {
  type CallIntent,
  callItemTypes,
  type ItemStatus,
  type ItemView,
  isBrought,
  type JsonObject,
  type Lane,
  type MaybePromise,
  type Tool,
  type ToolFailure,
} from '../../contracts/index.ts'
import { openRequests, type ReviewableCall } from '../../core/index.ts'
import { asSentence } from '../../util/as-sentence.ts'
import { copyJson, plainJson } from '../../util/json-values.ts'
import type { ActiveSession } from '../session/active-session.ts'
import { notRunEvents } from '../session/not-run-events.ts'
import { itemStarted } from '../session/step-events.ts'
import { type Arguments, parseArguments } from '../tools/call-arguments.ts'
import { findTool } from '../tools/searched-tool.ts'
import type { Offer, OfferedTool } from '../tools/tool-registry.ts'
import { submitOpenRequests } from './approval-decisions.ts'
import { askTool } from './ask-tool.ts'
import { checkedInTime } from './checked-arguments.ts'
import { beforeCall } from './hooks.ts'
import { checkPermission, deniedSinceRequest, needsPermission } from './permission.ts'
import { asRepeatedFailure, repetitionFailure } from './repeated-calls.ts'

// The first half of the pipeline: find the tool → parse, repair and validate the arguments → hooks, validate again →
// approval → intent. Intents are recorded and not flushed: they share a commit with the reply that made the calls. A call
// that needs no wait is reviewed synchronously.

export function review(session: ActiveSession, calls: readonly ReviewableCall[]): MaybePromise<void> {
  const { step } = session.turn
  if (step.kind !== 'calling') return
  const offer = session.offer(session.modelOfStep(step.model))
  let reviewed = 0
  for (const call of calls) {
    // The loop skips the rest.
    if (isCancelled(session)) return
    const reviewing = reviewCall(session, call, offer)
    reviewed++
    if (reviewing) return reviewing.then(() => review(session, calls.slice(reviewed)))
  }
  if (openRequests(session.state).length > 0) return submitOpenRequests(session).then(() => undefined)
}

const isCancelled = ({ interrupt, turn }: ActiveSession): boolean => interrupt.reason !== undefined || turn.cancel !== 'no'

function reviewCall(session: ActiveSession, call: ReviewableCall, offer: Offer): MaybePromise<void> {
  const found = findTool(offer, call.part, () => session.ports.tree.agentsOf(session))
  if (found.kind === 'refused') return refuse(session, call, { failure: found.failure })
  const { offered, input } = found
  if (call.kind === 'denied') return refuse(session, call, { failure: denial(call.feedback), offered })
  if (call.kind === 'approved') return startApproved(session, call, offered)
  const parsed = parseArguments(session.ports.validator, offered, input)
  const mustWait = parsed instanceof Promise || session.ports.hooks.length > 0 || needsPermission(session, offered)
  if (mustWait) return checkAndStart(session, call, { offered, parsing: parsed })
  if (!parsed.ok) return refuse(session, call, { failure: parsed.failure, offered })
  return start(session, call, { offered, input: parsed.input, title: parsed.reason ?? offered.name })
}

/** The asynchronous part: schema compilation, checks of libraries, hooks, rules and approval. */
async function checkAndStart(
  session: ActiveSession,
  call: ReviewableCall,
  { offered, parsing }: { offered: OfferedTool; parsing: MaybePromise<Arguments> },
): Promise<void> {
  const parsed = parsing instanceof Promise ? await checkedInTime(session, offered, parsing) : parsing
  if (!parsed) return
  if (!parsed.ok) return refuse(session, call, { failure: parsed.failure, offered })
  const hooked = session.ports.hooks.length === 0 ? parsed : await beforeCall(session, call, { offered, input: parsed.input })
  if (!hooked.ok) return refuse(session, call, { failure: hooked.failure, offered })
  if (isCancelled(session)) return
  const permitted = await checkPermission(session, call, { offered, input: hooked.input, reason: parsed.reason })
  if (permitted.kind === 'ended') return
  if (permitted.kind === 'refused') return refuse(session, call, { failure: permitted.failure, offered })
  if (permitted.kind === 'asked') {
    const lane = await laneOf(session, offered.tool, hooked.input)
    session.note({ type: 'interaction.approval.requested', itemId: call.itemId, request: { ...permitted.request, lane } })
    return
  }
  const understood = { offered, input: hooked.input, title: parsed.reason ?? offered.name }
  await start(session, call, permitted.by === undefined ? understood : { ...understood, approved: { by: permitted.by } })
}

/** Runs with the arguments, the lane and the answer of the approved request. */
function startApproved(
  session: ActiveSession,
  call: Extract<ReviewableCall, { kind: 'approved' }>,
  offered: OfferedTool,
): MaybePromise<void> {
  const { request, by, answer } = call
  const forbidden = deniedSinceRequest(session, offered, request)
  if (forbidden) return refuse(session, call, { failure: forbidden, offered })
  const { input, reason, summary, lane = exclusive } = request
  const understood = { offered, input, title: reason ?? summary, approved: { by }, lane }
  return start(session, call, answer === undefined ? understood : { ...understood, answer: session.ports.redactor.text(answer) })
}

interface Understood {
  readonly offered: OfferedTool
  readonly input: JsonObject
  readonly title: string
  readonly approved?: { readonly by: string }
  readonly answer?: string
  /** The lane of the approved request. */
  readonly lane?: Lane
}

/** Records the intent: from here on the call may have run. */
function start(session: ActiveSession, call: ReviewableCall, understood: Understood): MaybePromise<void> {
  const { maxCalls } = session.state.agent.limits
  if (maxCalls !== undefined && session.turn.calls >= maxCalls) {
    const failure = {
      class: 'budget',
      message: `The limit of ${maxCalls} calls in this turn is reached.`,
      remedy: 'Answer with what you have.',
    } as const
    refuse(session, call, { failure, offered: understood.offered })
    return
  }
  const { tool } = understood.offered
  // A person who approved a repetition wants it.
  const repeated = call.kind === 'approved' ? undefined : repetitionFailure(session, call, understood.offered)
  if (repeated) return refuse(session, call, { failure: repeated, offered: understood.offered })
  const lane = understood.lane ?? laneOf(session, tool, understood.input)
  const view = tool.view && askTool(session, tool, { ask: () => tool.view?.(copyJson(understood.input)), fallback: undefined })
  if (view instanceof Promise || lane instanceof Promise) return startWhenReady(session, call, { understood, lane, view })
  session.record(itemStarted(session, intentOf(call, understood, { lane, view: view && redactView(session, view) })))
}

/** For tools whose view or lane is a promise. */
async function startWhenReady(
  session: ActiveSession,
  call: ReviewableCall,
  { understood, ...asked }: { understood: Understood; lane: MaybePromise<Lane>; view: MaybePromise<ItemView | undefined> },
): Promise<void> {
  const view = await asked.view
  const lane = await asked.lane
  session.record(itemStarted(session, intentOf(call, understood, { lane, view: view && redactView(session, view) })))
}

function redactView(session: ActiveSession, { type, details }: ItemView): ItemView {
  const known = callItemTypes.includes(type) ? type : 'tool_call'
  const plain = details && plainJson(details)
  return plain ? { type: known, details: session.ports.redactor.json(plain) as JsonObject } : { type: known }
}

interface LaneAndView {
  readonly lane: Lane
  readonly view: ItemView | undefined
}

function intentOf({ itemId, part }: ReviewableCall, understood: Understood, { lane, view }: LaneAndView): CallIntent {
  const { offered, input, title, approved, answer } = understood
  const { tool, name } = offered
  const intent: CallIntent = {
    kind: 'call',
    id: itemId,
    type: view?.type ?? 'tool_call',
    tool: name,
    namespace: tool.namespace ?? '',
    title,
    providerCallId: part.id,
    input,
    effect: tool.effect ?? 'write',
    lane,
  }
  if (view?.details === undefined && approved === undefined) return intent
  return {
    ...intent,
    ...(view?.details && { details: view.details }),
    ...(approved && { approved }),
    ...(answer !== undefined && { answer }),
  }
}

const shared: Lane = { kind: 'shared' }
const exclusive: Lane = { kind: 'exclusive' }
const inClient: Lane = { kind: 'client' }

function laneOf(session: ActiveSession, tool: Tool, input: JsonObject): MaybePromise<Lane> {
  if (isBrought(tool)) return inClient
  const { concurrency = 'exclusive' } = tool
  if (concurrency === 'shared') return shared
  if (concurrency === 'exclusive') return exclusive
  const ask = async (): Promise<Lane> => ({
    kind: 'key',
    key: session.ports.redactor.text(String(await concurrency.key(copyJson(input)))),
  })
  return askTool(session, tool, { ask, fallback: exclusive })
}

const statuses: { readonly [Class in ToolFailure['class']]?: ItemStatus } = { denied: 'declined', budget: 'skipped' }

/** Records a call that will not run. */
function refuse(session: ActiveSession, call: ReviewableCall, refused: { failure: ToolFailure; offered?: OfferedTool }): void {
  const { offered } = refused
  const facts = offered && { tool: offered.name, namespace: offered.tool.namespace ?? '', effect: offered.tool.effect ?? 'write' }
  const status = statuses[refused.failure.class] ?? 'failed'
  const failure = asRepeatedFailure(session, call, { failure: refused.failure, offered })
  for (const draft of notRunEvents(call, { failure, status, ...(facts && { facts }) })) session.note(draft)
}

const denial = (feedback: string | undefined): ToolFailure => ({
  class: 'denied',
  message: feedback ? `This call was declined: ${asSentence(feedback)}` : 'This call was declined.',
  remedy: 'Continue without it, or try something else.',
})
