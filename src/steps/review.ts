import type {
  ApprovalKey,
  ApprovalRequest,
  CallIntent,
  CallItemType,
  ItemStatus,
  ItemView,
  JsonObject,
  Lane,
  MaybePromise,
  Tool,
  ToolFailure,
} from '../contracts/index.ts'
import { approvalIdOf, callIdOf, neverRan, openRequests, type ReviewableCall } from '../core/index.ts'
import { copyJson, plainJson } from '../util/copy-json.ts'
import { unlessInterrupted } from '../util/interrupt.ts'
import { isThenable } from '../util/is-thenable.ts'
import type { ActiveSession } from './active-session.ts'
import { consult } from './approvals.ts'
import { type Arguments, parseArguments } from './arguments.ts'
import { beforeCall } from './hooks.ts'
import { itemStarted } from './step-events.ts'
import { type Offer, type OfferedTool, unknownTool } from './tool-registry.ts'

// The first half of the pipeline: find → parse, repair, validate, take the reason off → hooks, validate again →
// approval → reserve → intent. Intents are recorded, not flushed: they share a commit with the reply that asked for
// them. Only what has to wait is a promise: a call of a plain tool is reviewed at once.

export function review(session: ActiveSession, calls: readonly ReviewableCall[]): MaybePromise<void> {
  const { step } = session.turn
  if (step.kind !== 'calling') return
  const offer = session.offer(session.model(step.model))
  let reviewed = 0
  for (const call of calls) {
    // What is left is skipped by the loop.
    if (session.interrupt.reason !== undefined) return
    const reviewing = reviewCall(session, call, offer)
    reviewed++
    if (reviewing) return reviewing.then(() => review(session, calls.slice(reviewed)))
  }
  if (openRequests(session.state).length > 0) consult(session)
}

function reviewCall(session: ActiveSession, call: ReviewableCall, offer: Offer): MaybePromise<void> {
  const offered = offer.find(call.part.name)
  if (!offered) return refuse(session, call, { failure: { class: 'unknown_tool', ...unknownTool(call.part.name, offer) } })
  if (call.kind === 'denied') return refuse(session, call, { failure: denial(call.feedback), offered })
  if (call.kind === 'approved') return start(session, call, { offered, input: call.request.input, title: call.request.summary })
  const parsed = parseArguments(session.ports.validator, offered, call.part.input)
  const mustWait = parsed instanceof Promise || session.ports.hooks.length > 0 || offered.tool.approval !== undefined
  if (mustWait) return reviewSlowly(session, call, { offered, parsing: parsed })
  if (!parsed.ok) return refuse(session, call, { failure: parsed.failure, offered })
  return start(session, call, { offered, input: parsed.input, title: parsed.reason ?? offered.name })
}

/** Where there is somebody to ask: a schema that is still loaded, hooks, or the tool about its approval. */
async function reviewSlowly(
  session: ActiveSession,
  call: ReviewableCall,
  { offered, parsing }: { offered: OfferedTool; parsing: MaybePromise<Arguments> },
): Promise<void> {
  const parsed = await parsing
  if (!parsed.ok) return refuse(session, call, { failure: parsed.failure, offered })
  const hooked = session.ports.hooks.length === 0 ? parsed : await beforeCall(session, call, { offered, input: parsed.input })
  if (!hooked.ok) return refuse(session, call, { failure: hooked.failure, offered })
  if (session.interrupt.reason !== undefined) return
  const understood = { offered, input: hooked.input, title: parsed.reason ?? offered.name }
  const request = offered.tool.approval ? await approvalNeeded(session, call, understood) : undefined
  if (request) session.note({ type: 'interaction.approval.requested', itemId: call.itemId, request })
  else await start(session, call, understood)
}

/** A call as far as it is understood. */
interface Understood {
  readonly offered: OfferedTool
  readonly input: JsonObject
  readonly title: string
}

/** `undefined` when nothing is to be asked: the tool wants no approval, or every key was granted for the session. */
async function approvalNeeded(
  session: ActiveSession,
  call: ReviewableCall,
  { offered, input }: Understood,
): Promise<ApprovalRequest | undefined> {
  const { tool, name } = offered
  // A tool that cannot say what it needs is asked about as a whole.
  const whole = { keys: [{ key: `tool:${name}`, label: `any call of ${name}` }], summary: `Call ${name}` }
  const asked = await askTool(session, () => tool.approval?.(copyJson(input)), whole)
  if (asked === undefined) return undefined
  // What a tool says about a call may name what must not be told; a redacted key still tells equal from different.
  const { keys, summary } = redactedAsk(session, asked) ?? whole
  if (keys.length > 0 && keys.every(({ key }) => session.state.grants.some((grant) => grant.key === key))) return undefined
  const id = approvalIdOf(callIdOf(session.state.sessionId, call.itemId), 'call')
  return { id, itemId: call.itemId, tool: name, summary, input, keys, scope: 'call' }
}

interface Asked {
  readonly keys: readonly ApprovalKey[]
  readonly summary: string
}

/** What the tool asks for, without secrets; nothing where it is not in the right form. */
function redactedAsk(session: ActiveSession, asked: Asked): Asked | undefined {
  const { redactor } = session.ports
  if (typeof asked?.summary !== 'string' || !Array.isArray(asked.keys)) return undefined
  if (!asked.keys.every((each: unknown) => isKey(each))) return undefined
  return {
    keys: asked.keys.map(({ key, label }) => ({ key: redactor.text(key), label: redactor.text(label) })),
    summary: redactor.text(asked.summary),
  }
}

const isKey = (value: unknown): value is ApprovalKey => {
  const { key, label } = (value ?? {}) as { key?: unknown; label?: unknown }
  return typeof key === 'string' && typeof label === 'string'
}

/** Records the intent: from here on the call may have run. */
function start(session: ActiveSession, call: ReviewableCall, understood: Understood): MaybePromise<void> {
  const { maxCalls } = session.state.agent.limits
  if (maxCalls !== undefined && session.turn.calls >= maxCalls) {
    const failure = { class: 'budget', message: `The turn has used its ${maxCalls} calls.`, remedy: 'Answer with what you have.' } as const
    refuse(session, call, { failure, offered: understood.offered })
    return
  }
  const { tool, name } = understood.offered
  const repeated =
    tool.repeatable || call.kind === 'approved'
      ? undefined
      : session.repeats.refusal({ turnId: session.turn.id, tool: name, input: understood.input })
  if (repeated) return refuse(session, call, { failure: repeated, offered: understood.offered })
  const lane = laneOf(session, tool, understood.input)
  const view = tool.view && askTool(session, () => tool.view?.(copyJson(understood.input)), undefined)
  if (view instanceof Promise || lane instanceof Promise) return startWith(session, call, { understood, lane, view })
  session.record(itemStarted(session, intentOf(call, understood, { lane, view: view && viewed(session, view) })))
}

/** For tools that take their time to say how a call looks, or what it may not overlap with. */
async function startWith(
  session: ActiveSession,
  call: ReviewableCall,
  { understood, ...asked }: { understood: Understood; lane: MaybePromise<Lane>; view: MaybePromise<ItemView | undefined> },
): Promise<void> {
  const view = await asked.view
  const lane = await asked.lane
  session.record(itemStarted(session, intentOf(call, understood, { lane, view: view && viewed(session, view) })))
}

const itemTypes: readonly string[] = [
  'tool_call',
  'command_execution',
  'file_change',
  'mcp_tool_call',
  'subagent_call',
  'todo_list',
] satisfies CallItemType[]

function viewed(session: ActiveSession, { type, details }: ItemView): ItemView {
  const known = itemTypes.includes(type) ? type : 'tool_call'
  const plain = details && plainJson(details)
  return plain ? { type: known, details: session.ports.redactor.json(plain) as JsonObject } : { type: known }
}

interface Look {
  readonly lane: Lane
  readonly view: ItemView | undefined
}

function intentOf({ itemId, part }: ReviewableCall, { offered, input, title }: Understood, { lane, view }: Look): CallIntent {
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
  return view?.details ? { ...intent, details: view.details } : intent
}

const shared: Lane = { kind: 'shared' }
const exclusive: Lane = { kind: 'exclusive' }

function laneOf(session: ActiveSession, { concurrency = 'exclusive' }: Tool, input: JsonObject): MaybePromise<Lane> {
  if (concurrency === 'shared') return shared
  if (concurrency === 'exclusive') return exclusive
  return askTool(
    session,
    async (): Promise<Lane> => ({ kind: 'key', key: session.ports.redactor.text(String(await concurrency.key(copyJson(input)))) }),
    exclusive,
  )
}

/** Tools' small questions must not end or hold up a session: where one throws or is interrupted, the careful answer is taken. */
function askTool<T>(session: ActiveSession, question: () => MaybePromise<T>, otherwise: T): MaybePromise<T> {
  try {
    const answer = question()
    if (!isThenable(answer)) return answer
    return unlessInterrupted(session.interrupt, Promise.resolve(answer)).catch(() => otherwise)
  } catch {
    return otherwise
  }
}

const statuses: { readonly [Class in ToolFailure['class']]?: ItemStatus } = { denied: 'declined', budget: 'skipped' }

/** Puts a call on record that will not run, with what is known of the tool that it meant. */
function refuse(session: ActiveSession, call: ReviewableCall, { failure, offered }: { failure: ToolFailure; offered?: OfferedTool }): void {
  const facts = offered && { tool: offered.name, namespace: offered.tool.namespace ?? '', effect: offered.tool.effect ?? 'write' }
  const status = statuses[failure.class] ?? 'failed'
  for (const draft of neverRan(call, { failure, status, ...(facts && { facts }) })) session.note(draft)
}

const denial = (feedback: string | undefined): ToolFailure => ({
  class: 'denied',
  message: feedback ? `This call was declined: ${feedback}.` : 'This call was declined.',
  remedy: 'Go on without it, or ask for something else.',
})
