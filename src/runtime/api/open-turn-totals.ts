import {
  type AccountingEntry,
  addSpent,
  type CallOperation,
  type OutcomeStatus,
  type SessionId,
  type Spent,
  type TurnOperation,
} from '../../contracts/index.ts'
import type { Call, OpenTurn, SessionState, StartedCall } from '../../core/index.ts'
import { utf8Length } from '../../util/fit-text.ts'
import { childIdOf } from '../tree/tree-state.ts'
import { accountingOf, operationOf } from './operations.ts'

// A turn that is still open has its ended children in its own account; those that are still open are added here.

type Children = ReadonlyMap<SessionId, SessionState>

/** What an open turn has taken, with everything that is open below it. */
export function spentSoFar(state: SessionState, turn: OpenTurn, children: Children): Spent {
  let { spent } = turn
  for (const child of openChildren(state, turn, children)) {
    const { usage, cost } = spentSoFar(child.state, child.turn, children)
    spent = addSpent(spent, usage, cost)
  }
  return spent
}

/** The entries of an open turn, and after them those of what is open below it. */
export function accountingSoFar(state: SessionState, turn: OpenTurn, children: Children): readonly AccountingEntry[] {
  const open = openChildren(state, turn, children)
  const own = accountingOf(state, children)
  return open.length === 0 ? own : [...own, ...open.flatMap((child) => accountingSoFar(child.state, child.turn, children))]
}

/** What happened in an open turn, with everything that is open below it: all of that stands as the whole does. */
export function operationSoFar(
  { state, turn }: Pick<OpenChild, 'state' | 'turn'>,
  status: OutcomeStatus,
  children: Children,
): TurnOperation {
  const own = { ...operationOf(state, turn, children), status }
  if (turn.step.kind !== 'calling') return own
  const { id } = turn.step
  const calls = openChildren(state, turn, children).flatMap(({ call, ...child }): readonly CallOperation[] =>
    call.kind === 'started' ? [callSoFar(call, { agentPath: state.agentPath, stepId: id }, operationSoFar(child, status, children))] : [],
  )
  return { ...own, steps: own.steps.map((step) => (step.stepId === id ? { ...step, calls: [...step.calls, ...calls] } : step)) }
}

function callSoFar(
  { itemId, intent: { tool, namespace, title }, part }: StartedCall,
  place: Pick<CallOperation, 'agentPath' | 'stepId'>,
  child: TurnOperation,
): CallOperation {
  const status = child.status === 'suspended' ? 'suspended' : 'interrupted'
  const sizes = { bytesIn: utf8Length(part.input), bytesOut: 0, latencyMs: child.durationMs }
  return { kind: 'call', ...place, itemId, tool, namespace, title, status, ...sizes, child }
}

function openChildren({ sessionId }: SessionState, { step }: OpenTurn, children: Children): readonly OpenChild[] {
  if (step.kind !== 'calling' || children.size === 0) return []
  return step.calls.flatMap((call) => {
    const state = children.get(childIdOf(sessionId, call.itemId))
    return state?.turn.kind === 'open' ? [{ call, state, turn: state.turn }] : []
  })
}

interface OpenChild {
  /** What started it. */
  readonly call: Call
  readonly state: SessionState
  readonly turn: OpenTurn
}
