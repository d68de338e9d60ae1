import type { Clock, InteractionEvent, Store } from '../../contracts/index.ts'
import { type SessionState, turnIdOf } from '../../core/index.ts'
import { loadSteps } from '../../steps/index.ts'
import { memoryStore } from '../../stores/memory/index.ts'
import { foldTree } from '../journal/tree-state.ts'
import { partsWith } from '../tree/end-tree.ts'
import { Feed } from '../tree/event-feed.ts'
import { openTree } from '../tree/open-tree.ts'

export interface SettledEvents {
  /** The given events and those that end everything. */
  readonly events: readonly InteractionEvent[]
  /** The state of the root after them. */
  readonly root: SessionState
}

/**
 * Ends everything that is open after the last event: calls, children and turns are interrupted, approvals for the session revoked. Inputs
 * that no turn has taken enter an interrupted turn. All of it has the time of the last event: nobody has worked since then.
 */
export async function settleEvents(events: readonly InteractionEvent[], by: string): Promise<SettledEvents> {
  await loadSteps()
  const state = foldTree(events)
  const added: InteractionEvent[] = []
  const parts = partsWith(storeInto(added), stoppedAt(events.at(-1)?.at ?? 0))
  const tree = openTree(parts, {
    state,
    feed: new Feed(),
    epoch: 1,
    seq: state.seq,
    registry: await parts.registry(),
    title: '',
    principal: undefined,
    account: undefined,
  })
  const { root } = tree
  tree.end(by)
  if (root.state.turn.kind === 'none' || root.state.inputs.length > 0) {
    const inputs = root.state.inputs.map(({ clientId }) => clientId)
    root.note({ type: 'interaction.turn.started', turnId: turnIdOf(root.state.turns + 1), inputs })
    tree.end(by)
  }
  const keys = root.state.grants.map(({ key }) => key)
  if (keys.length > 0) root.note({ type: 'interaction.approval.revoked', keys, by })
  await tree.flush()
  return { events: [...events, ...added], root: root.state }
}

/** Only the journal is used. */
function storeInto(events: InteractionEvent[]): Store {
  const store = memoryStore()
  const append: Store['journal']['append'] = (batch) => {
    events.push(...batch.events)
    return { ok: true }
  }
  return { ...store, journal: { ...store.journal, append } }
}

const stoppedAt = (at: number): Clock => ({ now: () => at, monotonic: () => 0, after: () => () => {} })
