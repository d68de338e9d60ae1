import type {
  AccountingEntry,
  CallOperation,
  Diagnostic,
  ModelEntry,
  SessionId,
  StepId,
  StepOperation,
  TurnOperation,
} from '../../contracts/index.ts'
import type { EndedTurn, OpenTurn, SessionState } from '../../core/index.ts'
import { childIdOf } from '../tree/tree-state.ts'

type Children = ReadonlyMap<SessionId, SessionState>

/** The entries of a session and of its children, each child's before the call that started it. */
export function accountingOf(state: SessionState, children: Children): readonly AccountingEntry[] {
  if (state.turn.kind === 'none') return []
  const own = state.turn.accounting.toJSON()
  if (children.size === 0) return own
  const all: AccountingEntry[] = []
  for (const entry of own) {
    const child = childOf(state, entry, children)
    if (child) for (const each of accountingOf(child, children)) all.push(each)
    all.push(entry)
  }
  return all
}

/** What was said in a turn, and below it: a person looks in one place. */
export function diagnosticsOf(state: SessionState, turn: OpenTurn | EndedTurn, children: Children): readonly Diagnostic[] {
  const own = turn.diagnostics.toJSON()
  if (children.size === 0) return own
  const all = [...own]
  for (const child of children.values()) {
    if (child.turn.kind === 'none' || child.turn.diagnostics.length === 0) continue
    if (isBelow(child, { state, turn, children })) all.push(...child.turn.diagnostics.toArray())
  }
  return all
}

function isBelow(
  { parent }: SessionState,
  top: { readonly state: SessionState; readonly turn: OpenTurn | EndedTurn; readonly children: Children },
): boolean {
  if (!parent) return false
  if (parent.sessionId === top.state.sessionId) return parent.turnId === top.turn.id
  const between = top.children.get(parent.sessionId)
  return between !== undefined && isBelow(between, top)
}

/** Turn → step → call → child, as it happened. */
export function operationOf(state: SessionState, turn: OpenTurn | EndedTurn, children: Children): TurnOperation {
  const isEnded = turn.kind === 'ended'
  return {
    kind: 'turn',
    agentPath: state.agentPath,
    turnId: turn.id,
    status: isEnded ? turn.ending.status : 'interrupted',
    durationMs: isEnded ? turn.totals.durationMs : state.at - turn.startedAt,
    steps: stepsOf(state, turn.accounting.toArray(), children),
  }
}

/** Steps follow each other, so the entries of one stand together. */
function stepsOf(state: SessionState, accounting: readonly AccountingEntry[], children: Children): readonly StepOperation[] {
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
    const child = children.size === 0 ? undefined : childOf(state, entry, children)
    calls.push(child && child.turn.kind !== 'none' ? { ...entry, child: operationOf(child, child.turn, children) } : entry)
  }
  return steps
}

function childOf({ sessionId }: SessionState, entry: AccountingEntry, children: Children): SessionState | undefined {
  return entry.kind === 'call' ? children.get(childIdOf(sessionId, entry.itemId)) : undefined
}
