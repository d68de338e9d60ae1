import { type ClientId, type InteractionEvent, type Message, TroupeError } from '../../contracts/index.ts'
import { callList } from './call-list.ts'
import { messageSize } from './message-size.ts'
import { type CallingStep, type OpenTurn, requestOf, type SessionState } from './state.ts'

// Small state changes that the reducers share.

export function illegalEvent(event: InteractionEvent, rule: string): TroupeError {
  return new TroupeError('store_invalid', `Event ${event.seq} (${event.type}) cannot follow the events before it: ${rule}.`)
}

export function openTurn(state: SessionState, event: InteractionEvent): OpenTurn {
  if (state.turn.kind !== 'open') throw illegalEvent(event, 'no turn is open')
  return state.turn
}

export function callingStep(turn: OpenTurn, event: InteractionEvent): CallingStep {
  if (turn.step.kind !== 'calling') throw illegalEvent(event, 'no step has calls')
  return turn.step
}

export function withTurn(state: SessionState, event: InteractionEvent, turn: OpenTurn): SessionState {
  return { ...state, seq: event.seq, at: event.at, turn }
}

/** The turn with changed calls. It waits for a person while any of them has an open request. */
export function withCalls(turn: OpenTurn, step: CallingStep, { calls, at }: Pick<CallingStep, 'calls'> & { at: number }): OpenTurn {
  const next = { ...turn, step: { kind: 'calling', id: step.id, model: step.model, calls: callList(calls) } } as const
  const isOpen = calls.some((call) => requestOf(call) !== undefined)
  return isOpen ? { ...next, waiting: turn.waiting.kind === 'no' ? { kind: 'approval', since: at } : turn.waiting } : endWaiting(next, at)
}

/** Ends the wait, if there is one. It adds to the idle time. */
export function endWaiting(turn: OpenTurn, at: number): OpenTurn {
  if (turn.waiting.kind === 'no') return turn
  return { ...turn, waiting: { kind: 'no' }, idleMs: turn.idleMs + Math.max(0, at - turn.waiting.since) }
}

/** Moves accepted inputs into the history, in the given order. */
export function takeInputs(state: SessionState, clientIds: readonly ClientId[]): SessionState {
  if (clientIds.length === 0) return state
  const next = inputMessages(state, clientIds).reduce(appendMessage, state)
  return { ...next, inputs: state.inputs.filter((input) => !clientIds.includes(input.clientId)) }
}

/** Keeps unread inputs from beginning a turn by themselves. */
export const holdInputs = (state: SessionState): SessionState =>
  state.inputs.length === 0 ? state : { ...state, inputs: state.inputs.map((input) => ({ ...input, held: true })) }

/** Held inputs begin turns again, in their order: one that steers would overtake those before it that begin turns of their own. */
export function sendHeld(inputs: SessionState['inputs']): SessionState['inputs'] {
  if (!inputs.some(({ held }) => held)) return inputs
  const first = inputs.findIndex(({ mode }) => mode === 'queue')
  return inputs.map(({ held: _, ...input }, index) => (first >= 0 && index > first ? { ...input, mode: 'queue' } : input))
}

export function inputMessages({ inputs }: SessionState, clientIds: readonly ClientId[]): readonly Message[] {
  return clientIds.map((clientId) => {
    const input = inputs.find((candidate) => candidate.clientId === clientId)
    if (!input) throw new TroupeError('store_invalid', `The journal uses input ${clientId}, which was never accepted.`)
    return { role: 'user', parts: input.parts }
  })
}

export function appendMessage(state: SessionState, message: Message): SessionState {
  return { ...state, history: state.history.append(message), historyChars: state.historyChars + messageSize(message) }
}

/** Approximate size of the next request in characters, including `read_output` once an output is stored. */
export const requestChars = ({ promptChars, historyChars, stored }: SessionState): number =>
  promptChars + historyChars + (stored.output ? 1_100 : 0)
