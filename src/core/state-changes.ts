import { type ClientId, type InteractionEvent, type Message, TroupeError } from '../contracts/index.ts'
import { callList } from './calls/call-list.ts'
import { messageSize } from './message-size.ts'
import { type CallingStep, type OpenTurn, requestOf, type SessionState } from './state.ts'

// The small changes that the reducers are made of.

export function illegalEvent(event: InteractionEvent, rule: string): TroupeError {
  return new TroupeError('store_invalid', `Event ${event.seq} (${event.type}) cannot stand where it stands: ${rule}.`)
}

export function openTurn(state: SessionState, event: InteractionEvent): OpenTurn {
  if (state.turn.kind !== 'open') throw illegalEvent(event, 'it belongs to an open turn, and none is open')
  return state.turn
}

export function callingStep(turn: OpenTurn, event: InteractionEvent): CallingStep {
  if (turn.step.kind !== 'calling') throw illegalEvent(event, 'no step has calls')
  return turn.step
}

export function withTurn(state: SessionState, event: InteractionEvent, turn: OpenTurn): SessionState {
  return { ...state, seq: event.seq, at: event.at, turn }
}

/** Puts changed calls in place. The turn waits for a person exactly as long as one of them has an open request. */
export function withCalls(turn: OpenTurn, step: CallingStep, { calls, at }: Pick<CallingStep, 'calls'> & { at: number }): OpenTurn {
  const next = { ...turn, step: { kind: 'calling', id: step.id, model: step.model, calls: callList(calls) } } as const
  const isOpen = calls.some((call) => requestOf(call) !== undefined)
  return isOpen ? { ...next, waiting: turn.waiting.kind === 'no' ? { kind: 'approval', since: at } : turn.waiting } : endWaiting(next, at)
}

/** Ends the waiting, if there was any; it was not work. */
function endWaiting(turn: OpenTurn, at: number): OpenTurn {
  if (turn.waiting.kind === 'no') return turn
  return { ...turn, waiting: { kind: 'no' }, idleMs: turn.idleMs + Math.max(0, at - turn.waiting.since) }
}

/** Takes accepted inputs out of the waiting line and into the history, in the order given. */
export function takeInputs(state: SessionState, clientIds: readonly ClientId[]): SessionState {
  if (clientIds.length === 0) return state
  const next = inputMessages(state, clientIds).reduce(appendMessage, state)
  return { ...next, inputs: state.inputs.filter((input) => !clientIds.includes(input.clientId)) }
}

/** What accepted inputs say. */
export function inputMessages({ inputs }: SessionState, clientIds: readonly ClientId[]): readonly Message[] {
  return clientIds.map((clientId) => {
    const input = inputs.find((candidate) => candidate.clientId === clientId)
    if (!input) throw new TroupeError('store_invalid', `The journal starts work on input ${clientId}, which was never accepted.`)
    return { role: 'user', parts: input.parts }
  })
}

/** Adds a message to what the model will see. */
export function appendMessage(state: SessionState, message: Message): SessionState {
  return { ...state, history: state.history.append(message), historyChars: state.historyChars + messageSize(message) }
}

/** About how many characters a request of the session has now, as if all were Latin. Once an output is stored, the tool that reads it is offered. */
export const requestChars = ({ promptChars, historyChars, hasStoredOutput }: SessionState): number =>
  promptChars + historyChars + (hasStoredOutput ? 1_100 : 0)
