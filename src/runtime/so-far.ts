import type { AccountingEntry, SessionId } from '../contracts/index.ts'
import type { OpenTurn, SessionState } from '../core/index.ts'
import { addSpent, type Spent } from '../util/add-spent.ts'
import { accountingOf } from './operations.ts'
import { childIdOf } from './tree-state.ts'

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

function openChildren({ sessionId }: SessionState, { step }: OpenTurn, children: Children): readonly OpenChild[] {
  if (step.kind !== 'calling' || children.size === 0) return []
  return step.calls.flatMap(({ itemId }) => {
    const state = children.get(childIdOf(sessionId, itemId))
    return state?.turn.kind === 'open' ? [{ state, turn: state.turn }] : []
  })
}

interface OpenChild {
  readonly state: SessionState
  readonly turn: OpenTurn
}
