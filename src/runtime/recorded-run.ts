import type { InteractionEvent, Outcome, Store, TreeId, TreeSummary } from '../contracts/index.ts'
import { type Standing, standingIn } from './open-requests.ts'
import { outcomeOf } from './outcome.ts'
import { statusOf } from './plant.ts'
import { foldTree } from './tree-state.ts'

/** A tree as its journal tells it at one moment, whoever drives it. */
export interface RecordedRun extends Standing {
  readonly events: readonly InteractionEvent[]
  readonly status: TreeSummary['status']
  /** Of the last turn. Where that goes on, it is what there is so far, and its status is no end. */
  readonly outcome: Outcome
}

/** Reads a tree without claiming it, or waiting for whoever has it. */
export async function recordedRun({ journal, inbox }: Pick<Store, 'journal' | 'inbox'>, treeId: TreeId): Promise<RecordedRun> {
  const events = await journal.read(treeId, 0)
  const tree = foldTree(events)
  const { root: state, children } = tree
  const outcome = outcomeOf({ state, children, halt: undefined })
  return { ...(await standingIn({ events, tree }, inbox)), events, status: statusOf(state), outcome }
}
