import type { Outcome } from '../contracts/index.ts'
import { type OpenTurn, reportOf, type SessionState } from '../core/index.ts'
import { operationsOf } from './operations.ts'
import { snapshotOf } from './snapshot.ts'

/** Why a turn that is still open is not being driven any more. */
export type Halt = Pick<Outcome, 'status' | 'reason' | 'message' | 'remedy'>

/** How the last turn of a session stands. */
export function outcomeOf(state: SessionState, halt?: Halt): Outcome {
  const { turn } = state
  const base = { treeId: state.treeId, sessionId: state.sessionId, trace: state.trace, snapshot: snapshotOf(state) }
  if (turn.kind === 'none') {
    const nothing = {
      usage: state.spent.usage,
      cost: state.spent.cost,
      accounting: [],
      operations: undefined,
      diagnostics: state.diagnostics,
    }
    return { ...base, ...nothing, ...(halt ?? { status: 'completed' }) }
  }
  const accounting = turn.accounting.toJSON()
  const ending = turn.kind === 'ended' ? endingOf(turn) : (halt ?? suspended)
  const report = turn.kind === 'ended' ? turn.report : reportOf(turn)
  const { usage, cost, durationMs } = turn.kind === 'ended' ? turn.totals : { ...turn.spent, durationMs: state.at - turn.startedAt }
  return {
    ...base,
    ...ending,
    turnId: turn.id,
    ...(report && { report }),
    usage,
    cost,
    accounting,
    operations: {
      kind: 'turn',
      agentPath: state.agentPath,
      turnId: turn.id,
      status: ending.status,
      durationMs,
      steps: operationsOf(accounting),
    },
    diagnostics: turn.diagnostics.toJSON(),
  }
}

const suspended: Halt = { status: 'suspended', reason: 'approval', message: 'The turn waits for an approval.' }

function endingOf({
  status,
  reason,
  message,
  remedy,
  failure,
}: Exclude<SessionState['turn'], OpenTurn | { kind: 'none' }>): Pick<Outcome, 'status' | 'reason' | 'message' | 'remedy' | 'failure'> {
  return {
    status,
    ...(reason && { reason }),
    ...(message !== undefined && { message }),
    ...(remedy !== undefined && { remedy }),
    ...(failure && { failure }),
  }
}
