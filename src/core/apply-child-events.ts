import { addSpent, addUsd, type ClientId, type InteractionEvent, type SessionId } from '../contracts/index.ts'
import type { CallList } from './state/call-list.ts'
import type { Call, OpenTurn, PendingInput, SessionState, SpawnedChild } from './state/state.ts'
import { endWaiting, illegalEvent, openTurn, withTurn } from './state/state-changes.ts'

// How events of spawned children change the state of their parent. The list `spawned` has the children that are not closed.

type Event<T extends InteractionEvent['type']> = InteractionEvent<T>
export type ChildEnded = Event<'interaction.subagent.completed' | 'interaction.subagent.failed'>

export function childStarted(state: SessionState, event: Event<'interaction.subagent.started'>): SessionState {
  const turn = openTurn(state, event)
  const { turn: number, childId, agent, childPath, itemId } = event
  if (number === undefined) return withTurn(state, event, { ...turn, children: turn.children + 1, idleBefore: turn.idleMs })
  if (number > 1)
    return withTurn(state, event, { ...turn, spawned: withChild(turn, event, { turn: number, isWorking: true, idleBefore: turn.idleMs }) })
  if (!itemId) throw illegalEvent(event, 'it does not name the call')
  const name = childPath.slice(childPath.lastIndexOf('/') + 1)
  const spawned = [...turn.spawned, { childId, itemId, name, agent, turn: number, isWorking: true, idleBefore: turn.idleMs }]
  return withTurn(state, event, { ...turn, children: turn.children + 1, spawned })
}

/** The end of a turn of a spawned child: charges the parent, and adds the notice to its inputs. */
export function spawnedEnded(state: SessionState, event: ChildEnded, number: number): SessionState {
  const turn = openTurn(state, event)
  const { seq, at, childId, totals, paidUsd, children, notice } = event
  const next: OpenTurn = {
    ...(turn.step.kind === 'answered' ? endWaiting(turn, at) : turn),
    spent: addSpent(turn.spent, totals.usage, totals.cost),
    paidUsd: addUsd(turn.paidUsd, paidUsd),
    children: turn.children + children,
    spawned: withChild(turn, event, { turn: number, isWorking: false }),
  }
  const inputs = notice === undefined ? state.inputs : [...state.inputs, noticeInput(childId, number, notice)]
  const spent = addSpent(state.spent, totals.usage, totals.cost)
  return { ...state, seq, at, inputs, spent, turn: { ...next, idleMs: next.idleMs + idleWhileWaiting(state, turn, event) } }
}

const noticeInput = (child: SessionId, turn: number, text: string): PendingInput => ({
  clientId: `${child}.${turn}` as ClientId,
  parts: [{ type: 'text', text }],
  mode: 'steer',
  child,
})

/** The child waited for a person while the parent did nothing but wait for the child. A suspension of both has been added before. */
function idleWhileWaiting(
  { at: since }: SessionState,
  { step, waiting, spawned, idleMs: known }: OpenTurn,
  { at, idleMs }: ChildEnded,
): number {
  const isWaiting = step.kind === 'answered' || (step.kind === 'calling' && step.calls.length === 1)
  const [child, ...others] = spawned.filter(({ isWorking }) => isWorking)
  if (waiting.kind !== 'no' || !isWaiting || !child || others.length > 0) return 0
  return Math.max(0, Math.min(idleMs - (known - child.idleBefore), at - since))
}

/**
 * Idle time of the only running call is idle time of the parent, too. What both were suspended has been added before. After other
 * calls have ended, it is the time since then, less all that the child has worked.
 */
export function idleWithOnlyChild({ at: since }: SessionState, { step, idleMs: known, idleBefore }: OpenTurn, event: ChildEnded): number {
  if (step.kind !== 'calling' || hasSeveralOpen(step.calls)) return 0
  const { at, idleMs, totals } = event
  const left = idleMs - (known - idleBefore)
  return Math.max(0, step.calls.length === 1 ? left : Math.min(left, at - since - (totals.durationMs - idleMs)))
}

/** From the end: the first calls mostly end first. */
function hasSeveralOpen(calls: CallList<Call>): boolean {
  let open = 0
  for (let index = calls.length - 1; index >= 0 && open < 2; index--) if (calls.at(index)?.kind !== 'ended') open++
  return open > 1
}

export function childClosed(state: SessionState, event: Event<'interaction.subagent.closed'>): SessionState {
  const turn = openTurn(state, event)
  const { childId } = event
  const inputs = state.inputs.filter(({ child }) => child !== childId)
  return { ...withTurn(state, event, { ...turn, spawned: turn.spawned.filter((child) => child.childId !== childId) }), inputs }
}

/** While a child talks to the person, and after, what it says is no input of its parent. */
export function handoffChanged(
  state: SessionState,
  event: Event<'interaction.handoff.started' | 'interaction.handoff.completed'>,
): SessionState {
  const turn = openTurn(state, event)
  const inputs = state.inputs.filter(({ child }) => child !== event.childId)
  if (event.type === 'interaction.handoff.completed') {
    const ended = { ...turn, spawned: withChild(turn, event, { handoff: event.reason }) }
    return { ...withTurn(state, event, ended), inputs, message: event.message ?? state.message }
  }
  const step = turn.step.kind === 'calling' ? { handedOverIn: turn.step.id } : {}
  return { ...withTurn(state, event, { ...turn, ...step, spawned: withChild(turn, event, { handoff: 'open' }) }), inputs }
}

/** The person asks for the session that handed over. No model reads the message. */
export function recalled(state: SessionState, event: Event<'interaction.input.accepted'>): SessionState {
  const next = { ...state, seq: event.seq, at: event.at, message: event.clientId }
  const { turn } = state
  if (turn.kind !== 'open') return next
  const spawned = turn.spawned.map((child) => (child.handoff === 'open' ? ({ ...child, isRecalled: true } as const) : child))
  return { ...next, turn: { ...turn, spawned } }
}

function withChild(
  { spawned }: OpenTurn,
  event: InteractionEvent & { readonly childId: string },
  change: Partial<Pick<SpawnedChild, 'turn' | 'isWorking' | 'idleBefore' | 'handoff'>>,
): readonly SpawnedChild[] {
  if (!spawned.some(({ childId }) => childId === event.childId)) throw illegalEvent(event, 'the turn has no such spawned child')
  return spawned.map((child) => (child.childId === event.childId ? { ...child, ...change } : child))
}
