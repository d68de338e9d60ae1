import {
  type InteractionEvent,
  JournalDamagedError,
  type Outcome,
  type Store,
  type TreeId,
  type TreeSummary,
  type TurnOperation,
} from '../../contracts/index.ts'
import { operationOf } from './operations.ts'
import { outcomeOf } from './outcome.ts'
import { type PendingApprovals, pendingApprovalsIn } from './pending-approvals.ts'
import { foldTree, type TreeState } from './tree-state.ts'
import { statusOf } from './tree-status.ts'

/** A tree, read from its journal. */
interface RecordedRun extends PendingApprovals {
  readonly events: readonly InteractionEvent[]
  readonly status: TreeSummary['status']
  /** The outcome of the last turn; so far, if that is still open. */
  readonly outcome: Outcome
  /** The turns of the root in order; the last one so far, if it is open. */
  readonly turns: readonly TurnOperation[]
  /** Where the journal is damaged; everything else is from the events before. */
  readonly damage?: JournalDamagedError
}

/** Reads a tree without claiming it. */
export async function recordedRun({ journal, inbox }: Pick<Store, 'journal' | 'inbox'>, treeId: TreeId): Promise<RecordedRun> {
  const { events, damage } = await readable(journal, treeId)
  const { tree, ended } = foldTurns(events)
  const { root: state, children } = tree
  const outcome = outcomeOf({ state, children, stopped: undefined })
  const turns = outcome.operations ? [...ended, outcome.operations] : ended
  const pending = await pendingApprovalsIn(events, tree, inbox)
  return { ...pending, events, status: statusOf(state), outcome, turns, ...(damage && { damage }) }
}

/** @throws JournalDamagedError if not even the first event can be read. */
async function readable(journal: Store['journal'], treeId: TreeId): Promise<Pick<RecordedRun, 'events' | 'damage'>> {
  try {
    return { events: await journal.read(treeId, 0) }
  } catch (error) {
    if (!(error instanceof JournalDamagedError) || error.seq === 1) throw error
    return { events: await journal.read(treeId, 0, error.seq - 1), damage: error }
  }
}

/** Turn by turn: the fold drops the children of a turn when the next one begins. */
function foldTurns(events: readonly InteractionEvent[]): { readonly tree: TreeState; readonly ended: readonly TurnOperation[] } {
  const ended: TurnOperation[] = []
  let tree: TreeState | undefined
  let from = 0
  for (const [i, { type, sessionId }] of events.entries()) {
    if (type !== 'interaction.turn.started' || sessionId !== events[0]?.sessionId) continue
    tree = foldTree(events.slice(from, i), tree)
    from = i
    const { root, children } = tree
    if (root.turn.kind === 'ended') ended.push(operationOf(root, root.turn, children))
  }
  return { tree: foldTree(events.slice(from), tree), ended }
}
