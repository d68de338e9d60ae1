import {
  type AccountingEntry,
  addSpent,
  type CallOperation,
  type Diagnostic,
  type ModelEntry,
  type OutcomeStatus,
  type SessionId,
  type Spent,
  type StepId,
  type StepOperation,
  type TurnOperation,
} from '../../contracts/index.ts'
import type { Call, EarlierTurn, EndedTurn, OpenTurn, SessionState, StartedCall } from '../../core/index.ts'
import { utf8Length } from '../../util/fit-text.ts'
import { childIdsOf } from './tree-state.ts'

type Children = ReadonlyMap<SessionId, SessionState>

interface Below {
  readonly children: Children
  /** The status of open turns. */
  readonly openStatus: OutcomeStatus
}

/** The entries of a session and its children. Those of an ended child precede the call that started it; those of open children are last. */
export function accountingOf(state: SessionState, children: Children): readonly AccountingEntry[] {
  if (state.turn.kind === 'none') return []
  const last = state.turn.accounting.toJSON()
  if (children.size === 0) return last
  const own = state.earlierTurns ? [...state.earlierTurns.flatMap(({ accounting }) => accounting), ...last] : last
  const all: AccountingEntry[] = []
  for (const entry of own) {
    for (const child of childrenOf(state, entry, children)) for (const each of accountingOf(child, children)) all.push(each)
    all.push(entry)
  }
  for (const child of openChildren(state, children)) all.push(...accountingOf(child.state, children))
  return all
}

/** The diagnostics of a turn and its descendants. */
export function diagnosticsOf(state: SessionState, turn: OpenTurn | EndedTurn, children: Children): readonly Diagnostic[] {
  const own = turn.diagnostics.toJSON()
  if (children.size === 0) return own
  const all = [...own]
  for (const child of children.values()) {
    if (child.turn.kind === 'none' || (child.turn.diagnostics.length === 0 && !child.earlierTurns)) continue
    if (!isDescendant(child, { state, turn, children })) continue
    for (const { diagnostics } of child.earlierTurns ?? []) all.push(...diagnostics)
    all.push(...child.turn.diagnostics.toArray())
  }
  return all
}

function isDescendant(
  { parent }: SessionState,
  top: { readonly state: SessionState; readonly turn: OpenTurn | EndedTurn; readonly children: Children },
): boolean {
  if (!parent) return false
  if (parent.sessionId === top.state.sessionId) return parent.turnId === top.turn.id
  const between = top.children.get(parent.sessionId)
  return between !== undefined && isDescendant(between, top)
}

/** Turn → step → call → child. */
export const operationOf = (state: SessionState, turn: OpenTurn | EndedTurn, children: Children): TurnOperation =>
  turnOperation(state, turn, { children, openStatus: 'interrupted' })

function turnOperation(state: SessionState, turn: OpenTurn | EndedTurn | EarlierTurn, below: Below): TurnOperation {
  const isOpen = turn.kind === 'open'
  return {
    kind: 'turn',
    agentPath: state.agentPath,
    turnId: turn.id,
    status: isOpen ? below.openStatus : turn.ending.status,
    ...timesOf(state, turn),
    steps: stepsOf(state, turn.kind === 'earlier' ? turn.accounting : turn.accounting.toArray(), below),
  }
}

/** Older journals do not say in their totals how long a turn waited. */
function timesOf({ at }: SessionState, turn: OpenTurn | EndedTurn | EarlierTurn): Pick<TurnOperation, 'durationMs' | 'waitedMs'> {
  if (turn.kind !== 'open') {
    const { durationMs, waitedMs = turn.idleMs } = turn.totals
    return { durationMs, waitedMs: Math.min(waitedMs, durationMs) }
  }
  const { startedAt, idleMs, waiting } = turn
  const durationMs = at - startedAt
  return { durationMs, waitedMs: Math.min(idleMs + (waiting.kind === 'no' ? 0 : Math.max(0, at - waiting.since)), durationMs) }
}

/** The turns of a child. Only a spawned one has several. */
function turnsOf(child: SessionState, turn: OpenTurn | EndedTurn, below: Below): Pick<CallOperation, 'child' | 'earlier'> {
  const last = { child: turnOperation(child, turn, below) }
  return child.earlierTurns ? { ...last, earlier: child.earlierTurns.map((each) => turnOperation(child, each, below)) } : last
}

/** The entries of a step are adjacent. */
function stepsOf(state: SessionState, accounting: readonly AccountingEntry[], below: Below): readonly StepOperation[] {
  const { children } = below
  const steps: StepOperation[] = []
  let attempts: ModelEntry[] = []
  let calls: CallOperation[] = []
  let stepId: StepId | undefined
  for (const entry of accounting) {
    if (entry.stepId !== stepId) {
      stepId = entry.stepId
      attempts = []
      calls = []
      steps.push({ kind: 'step', stepId, attempts, calls })
    }
    if (entry.kind === 'model') {
      attempts.push(entry)
      continue
    }
    const started = children.size === 0 ? none : childrenOf(state, entry, children)
    calls.push(started.length > 0 ? { ...entry, ...turnsOfAll(started, below) } : entry)
  }
  return steps
}

const none: readonly never[] = []

function childrenOf({ sessionId }: SessionState, entry: AccountingEntry, children: Children): readonly SessionState[] {
  if (entry.kind !== 'call') return none
  return childIdsOf(sessionId, entry.itemId, children).flatMap((id) => children.get(id) ?? [])
}

/** A call that sent several requests to a model has several children. */
function turnsOfAll(started: readonly SessionState[], below: Below): Pick<CallOperation, 'child' | 'earlier'> {
  const turns = started.flatMap((child) => (child.turn.kind === 'none' ? [] : [turnsOf(child, child.turn, below)]))
  const all = turns.flatMap(({ child, earlier = [] }) => (child ? [...earlier, child] : []))
  const child = all.at(-1)
  return { ...(child && { child }), ...(all.length > 1 && { earlier: all.slice(0, -1) }) }
}

// An open turn includes what its ended children spent; what its open children spent is added here.

/** What an open turn has spent, with its open descendants. */
export function spentSoFar(state: SessionState, turn: OpenTurn, children: Children): Spent {
  let { spent } = turn
  for (const child of [...openChildren(state, children), ...openSpawned(turn, children)]) {
    const { usage, cost } = spentSoFar(child.state, child.turn, children)
    spent = addSpent(spent, usage, cost)
  }
  return spent
}

/** Spawned children with an open turn, apart from those whose call is still open. */
function openSpawned({ step, spawned }: OpenTurn, children: Children): readonly Omit<OpenChild, 'call'>[] {
  return spawned.flatMap(({ childId, itemId }) => {
    const state = children.get(childId)
    const isInCall = step.kind === 'calling' && step.calls.some((call) => call.itemId === itemId)
    return state?.turn.kind === 'open' && !isInCall ? [{ state, turn: state.turn }] : []
  })
}

/** The operation of an open turn with its open descendants, all with the same status. */
export function operationSoFar(
  { state, turn }: Pick<OpenChild, 'state' | 'turn'>,
  status: OutcomeStatus,
  children: Children,
): TurnOperation {
  const own = turnOperation(state, turn, { children, openStatus: status })
  if (turn.step.kind !== 'calling') return own
  const { id } = turn.step
  const calls = openChildren(state, children).flatMap(({ call, ...child }): readonly CallOperation[] =>
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

function openChildren({ sessionId, turn }: SessionState, children: Children): readonly OpenChild[] {
  if (turn.kind !== 'open' || turn.step.kind !== 'calling' || children.size === 0) return []
  return turn.step.calls.flatMap((call) => {
    return childIdsOf(sessionId, call.itemId, children).flatMap((id) => {
      const state = children.get(id)
      return state?.turn.kind === 'open' ? [{ call, state, turn: state.turn }] : []
    })
  })
}

interface OpenChild {
  readonly call: Call
  readonly state: SessionState
  readonly turn: OpenTurn
}
