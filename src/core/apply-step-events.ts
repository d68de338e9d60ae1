import {
  addSpent,
  addUsd,
  type CallRecord,
  type ClientId,
  type Cost,
  type InteractionEvent,
  type Message,
  type ReplyPart,
  type TextRecord,
  type Usage,
} from '../contracts/index.ts'
import { withNextAttempt, withRound } from '../policy/call-questions.ts'
import { lastMessageId } from '../policy/message-ids.ts'
import { isBlank } from '../util/is-blank.ts'
import { callEntry, modelEntry } from './accounting-entries.ts'
import { learnedWindow } from './context/compaction-threshold.ts'
import { failurePolicy } from './failure-policy.ts'
import { itemIdOf } from './session-ids.ts'
import { callList, findCall, haveAllEnded, replaceCall } from './state/call-list.ts'
import { messageSize } from './state/message-size.ts'
import type { AnsweredStep, AskingStep, Call, CallingStep, OpenTurn, SandboxStage, SessionState, StartedCall } from './state/state.ts'
import {
  appendMessage,
  callingStep,
  endWaiting,
  illegalEvent,
  inputMessages,
  openTurn,
  requestChars,
  takeInputs,
  withCalls,
  withTurn,
} from './state/state-changes.ts'
import { withStoredOutput } from './state/stored-parts.ts'

// How events of steps, items and calls change the state.

type Event<T extends InteractionEvent['type']> = InteractionEvent<T>

export function applyStepStarted(state: SessionState, event: Event<'interaction.step.started'>): SessionState {
  const turn = openTurn(state, event)
  if (turn.step.kind !== 'ready' && turn.step.kind !== 'answered') throw illegalEvent(event, 'the step before it has not ended')
  if (!event.stepId) throw illegalEvent(event, 'it has no step id')
  let next = takeInputs(state, event.absorbs)
  if (event.absorbs.length > 0) next = { ...next, message: lastMessageId(event.treeId, event.absorbs) ?? state.message }
  if (event.offer) next = { ...next, stored: { ...next.stored, offer: event.offer } }
  if (event.last && turn.last === undefined)
    next = appendMessage(next, { role: 'user', parts: [{ type: 'text', text: event.last.notice }] })
  const step: AskingStep = {
    kind: 'asking',
    id: event.stepId,
    model: event.model,
    modelId: event.modelId,
    attempt: event.attempt,
    failures: turn.step.kind === 'ready' ? turn.step.failures : none,
    reservation: event.reservation,
    compacts: event.compacts ?? false,
    open: none,
    texts: none,
  }
  const steps = event.attempt === 1 ? turn.steps + 1 : turn.steps
  const probed = turn.probed || event.probes === true
  const goal = event.absorbs.length === 0 ? turn.goal : [...turn.goal, ...goalMessages(state, event.absorbs)]
  if (turn.waiting.kind !== 'no') return applyStepStarted({ ...state, turn: endWaiting(turn, event.at) }, event)
  const changed = { ...turn, steps, goal, probed, step }
  return withTurn(next, event, event.last ? { ...changed, last: event.last.reason } : changed)
}

/** What a person or the parent asked for; not the notices of spawned children. */
function goalMessages(state: SessionState, absorbs: readonly ClientId[]): readonly Message[] {
  const notices = new Set(state.inputs.flatMap(({ clientId, child }) => (child === undefined ? [] : [clientId])))
  return inputMessages(
    state,
    absorbs.filter((clientId) => !notices.has(clientId)),
  )
}

export function applyStepCompleted(state: SessionState, event: Event<'interaction.step.completed'>): SessionState {
  const turn = openTurn(state, event)
  const step = askingStep(turn, event)
  if (step.compacts) return summaryCompleted(state, event, { turn, step })
  const parts = event.reply.map((ref): ReplyPart => (ref.type === 'call' ? ref : textPart(step, ref.id, event)))
  const calls: Call[] = []
  let text = ''
  for (const part of parts) {
    if (part.type === 'text') text += part.text
    if (part.type === 'call') {
      calls.push({ kind: 'requested', itemId: itemIdOf(step.id, step.attempt, step.texts.length + calls.length + 1), part })
    }
  }
  const message: Message = { role: 'assistant', parts }
  const { output } = event
  const rejections = output?.ok === false ? turn.rejections + 1 : turn.rejections
  // After maxRetries + 1 rejected answers the model is dropped for this turn.
  const isGivenUp = rejections > turn.rejections && rejections % (state.agent.limits.maxRetries + 1) === 0
  const next: SessionState = {
    ...state,
    seq: event.seq,
    at: event.at,
    history: state.history.append(message),
    historyChars: state.historyChars + messageSize(message),
    charsPerToken: learnCharsPerToken(state, event.usage),
    toolChoice: undefined,
    spent: addSpent(state.spent, event.usage, event.cost),
    turn: {
      ...turn,
      spent: addSpent(turn.spent, event.usage, event.cost),
      paidUsd: addUsd(turn.paidUsd, chargedUsd(event.cost, step)),
      step: calls.length > 0 ? { kind: 'calling', id: step.id, model: step.model, calls: callList(calls) } : answeredStep(event, step),
      rejections,
      dropped: isGivenUp ? [...turn.dropped, step.model] : turn.dropped,
      lastText: isBlank(text) ? turn.lastText : text,
      accounting: turn.accounting.append(modelEntry(event, step, 'completed')),
    },
  }
  return output?.ok === false ? appendMessage(next, { role: 'user', parts: [{ type: 'text', text: output.notice }] }) : next
}

function answeredStep({ finish, output }: Event<'interaction.step.completed'>, { reservation: { limit } }: AskingStep): AnsweredStep {
  const truncated = finish === 'length'
  if (!output && !truncated) return { kind: 'answered', truncated }
  return { kind: 'answered', truncated, ...(truncated && limit && { cutBy: limit }), ...(output && { output }) }
}

/** The summary itself enters the history with `interaction.context.compacted`. */
function summaryCompleted(
  state: SessionState,
  event: Event<'interaction.step.completed'>,
  { turn, step }: { readonly turn: OpenTurn; readonly step: AskingStep },
): SessionState {
  return withTurn({ ...state, spent: addSpent(state.spent, event.usage, event.cost) }, event, {
    ...turn,
    spent: addSpent(turn.spent, event.usage, event.cost),
    paidUsd: addUsd(turn.paidUsd, chargedUsd(event.cost, step)),
    step: { kind: 'ready', failures: none },
    accounting: turn.accounting.append(modelEntry(event, step, 'completed')),
  })
}

export function applyStepFailed(state: SessionState, event: Event<'interaction.step.failed'>): SessionState {
  const turn = openTurn(state, event)
  const step = askingStep(turn, event)
  if (step.open.length > 0) throw illegalEvent(event, 'its items are still open')
  const notBefore = event.delayMs > 0 ? event.at + event.delayMs : 0
  const failed = { model: step.model, failure: event.failure, notBefore, ...(step.compacts && { compacts: true as const }) }
  const windows = event.failure.class === 'context' ? { ...state.windows, [step.model]: learnedWindow(state, step.model) } : state.windows
  const said = event.keepsText ? withTextSoFar(state, step) : state
  return withTurn({ ...said, windows, spent: addSpent(state.spent, event.usage, event.cost) }, event, {
    ...turn,
    spent: addSpent(turn.spent, event.usage, event.cost),
    paidUsd: addUsd(turn.paidUsd, chargedUsd(event.cost, step)),
    step: { kind: 'ready', failures: [...step.failures, failed] },
    dropped: failurePolicy[event.failure.class].next === 'drop' ? [...turn.dropped, step.model] : turn.dropped,
    accounting: turn.accounting.append({ ...modelEntry(event, step, 'failed'), failure: event.failure }),
  })
}

/** What a person has read before the interrupt was said: the next turn knows it. Reasoning that was cut has no signature. */
function withTextSoFar(state: SessionState, { texts }: AskingStep): SessionState {
  const parts = texts.flatMap(({ type, text }) => (type === 'agent_message' && !isBlank(text) ? [{ type: 'text', text } as const] : []))
  return parts.length === 0 ? state : appendMessage(state, { role: 'assistant', parts })
}

export function applyItemStarted(state: SessionState, event: Event<'interaction.item.started'>): SessionState {
  const turn = openTurn(state, event)
  const { item } = event
  if (item.kind === 'plan') return withTurn(state, event, { ...turn, plan: item })
  if (item.kind === 'text') {
    if (item.type === 'error') return withTurn(state, event, turn)
    const step = askingStep(turn, event)
    return withTurn(state, event, { ...turn, step: { ...step, open: [...step.open, item] } })
  }
  const call = callOf(turn, event)
  if (call.kind === 'started' || call.kind === 'ended') throw illegalEvent(event, 'the call has already been started')
  const { itemId, part } = call
  const started: Call = { kind: 'started', itemId, part, intent: item, attempt: 1, sandbox: inside, orphaned: false }
  const { step, waiting, idleMs } = withReplacedCall(turn, event, started)
  return withTurn(state, event, { ...turn, step, waiting, idleMs, calls: turn.calls + 1 })
}

export function applyItemUpdated(state: SessionState, event: Event<'interaction.item.updated'>): SessionState {
  const turn = openTurn(state, event)
  const { update } = event
  if (update.kind === 'plan') {
    if (!turn.plan || turn.plan.id !== event.itemId) throw illegalEvent(event, 'the turn has no such plan')
    return withTurn(state, event, { ...turn, plan: { ...turn.plan, plan: update.plan } })
  }
  const call = callOf(turn, event)
  if (call.kind !== 'started') throw illegalEvent(event, 'the call is not running')
  const { step, waiting, idleMs } = withReplacedCall(turn, event, updatedCall(call, update))
  return withTurn(state, event, { ...turn, step, waiting, idleMs })
}

function updatedCall(call: StartedCall, update: CallUpdate): StartedCall {
  if (update.kind === 'asked') return { ...call, questions: withRound(call.questions, update.ask) }
  const { attempt, reason } = update
  const sandbox: SandboxStage = reason === 'unsandboxed' ? { kind: 'outside' } : call.sandbox
  return { ...call, attempt, sandbox, orphaned: false, ...(call.questions && { questions: withNextAttempt(call.questions) }) }
}

type CallUpdate = Exclude<Event<'interaction.item.updated'>['update'], { kind: 'plan' }>

export function applyItemCompleted(state: SessionState, event: Event<'interaction.item.completed'>): SessionState {
  const { item } = event
  if (item.kind === 'call') return callCompleted(state, event, item)
  if (item.kind === 'plan') return withTurn(state, event, { ...openTurn(state, event), plan: undefined })
  return item.type === 'error' ? withTurn(state, event, openTurn(state, event)) : textCompleted(state, event, item)
}

function textCompleted(state: SessionState, event: InteractionEvent, item: TextRecord): SessionState {
  const turn = openTurn(state, event)
  const step = askingStep(turn, event)
  if (!step.open.some((open) => open.id === item.id)) throw illegalEvent(event, 'the item is not open')
  return withTurn(state, event, {
    ...turn,
    step: { ...step, open: step.open.filter((open) => open.id !== item.id), texts: [...step.texts, item] },
    lastText: item.type === 'agent_message' && !isBlank(item.text) ? item.text : turn.lastText,
  })
}

/** Once all calls of the step have ended, their results enter the history in call order. */
function callCompleted(state: SessionState, event: Event<'interaction.item.completed'>, item: CallRecord): SessionState {
  const turn = openTurn(state, event)
  const call = callOf(turn, event)
  if (call.kind !== 'started') throw illegalEvent(event, 'the call is not running')
  const { intent } = call
  const { parts } = item
  const text = { id: intent.providerCallId, name: intent.tool, ok: item.status === 'completed', content: item.content }
  const result = parts ? { ...text, parts } : text
  const done = { kind: 'ended', itemId: call.itemId, part: call.part, result } as const
  const { step, waiting, idleMs } = withReplacedCall(turn, event, item.endsTurn ? { ...done, endsTurn: true } : done)
  const ended = haveAllEnded(step.calls) ? step.calls : undefined
  const said: Message | undefined = ended && { role: 'tool', results: ended.map(({ result }) => result) }
  const accounting = turn.accounting.append(callEntry(event, call, item))
  const [final] = ended?.flatMap(({ endsTurn, result }) => (endsTurn ? [result] : none)) ?? none
  const repeats = item.error?.class === 'repeated' ? turn.repeats + 1 : 0
  return {
    ...state,
    seq: event.seq,
    at: event.at,
    history: said ? state.history.append(said) : state.history,
    historyChars: said ? state.historyChars + messageSize(said) : state.historyChars,
    stored: item.output || parts ? withStoredOutput(state.stored, item) : state.stored,
    inputs: item.delivers ? withoutInputs(state, item.delivers) : state.inputs,
    turn: {
      ...turn,
      repeats,
      waiting,
      idleMs,
      step: final ? { kind: 'answered', truncated: false, isFinal: true } : said ? { kind: 'ready', failures: none } : step,
      lastText: final ? final.content : turn.lastText,
      accounting,
    },
  }
}

const withoutInputs = ({ inputs }: SessionState, delivered: readonly ClientId[]): SessionState['inputs'] =>
  inputs.filter(({ clientId }) => !delivered.includes(clientId))

const none: readonly never[] = []
const inside: SandboxStage = { kind: 'inside' }

function callOf(turn: OpenTurn, event: InteractionEvent): Call {
  const call = findCall(callingStep(turn, event).calls, event.itemId)
  if (call) return call
  throw illegalEvent(event, 'the step has no such call')
}

function withReplacedCall(
  turn: OpenTurn,
  event: InteractionEvent,
  changed: Call,
): Pick<OpenTurn, 'waiting' | 'idleMs'> & { readonly step: CallingStep } {
  const step = callingStep(turn, event)
  const calls = replaceCall(step.calls, changed)
  const { waiting, idleMs } = turn.waiting.kind === 'no' ? turn : withCalls(turn, step, { calls, at: event.at })
  return { step: { kind: 'calling', id: step.id, model: step.model, calls }, waiting, idleMs }
}

function textPart(step: AskingStep, id: string, event: InteractionEvent): ReplyPart {
  const item = step.texts.find((text) => text.id === id)
  if (!item) throw illegalEvent(event, `it refers to item ${id}, which its step does not have`)
  const type = item.type === 'reasoning' ? 'reasoning' : 'text'
  return item.metadata ? { type, text: item.text, metadata: item.metadata } : { type, text: item.text }
}

/** An unknown cost is charged with its reservation. */
const chargedUsd = (cost: Cost, { reservation }: AskingStep): number => (cost === 'unknown' ? (reservation.costUsd ?? 0) : cost)

function askingStep(turn: OpenTurn, event: InteractionEvent): AskingStep {
  if (turn.step.kind !== 'asking') throw illegalEvent(event, 'no model request is open')
  return turn.step
}

/** From the token count that the provider reported for a request of known size. */
function learnCharsPerToken(state: SessionState, usage: Usage): number {
  if (usage.estimated || usage.input < 64) return state.charsPerToken
  return Math.min(8, Math.max(0.5, requestChars(state) / usage.input))
}
