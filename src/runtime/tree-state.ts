import type { InteractionEvent, SessionId } from '../contracts/index.ts'
import { TroupeError } from '../contracts/index.ts'
import { apply, created, type SessionState } from '../core/index.ts'
import { Sequence } from '../util/sequence.ts'

/** The fold of a whole tree: the state of each session, by its own events. */
export interface TreeState {
  readonly root: SessionState
  /** Without what was said, once their parent has heard how they ended. */
  readonly children: ReadonlyMap<SessionId, SessionState>
  /** Children whose end the parent has taken into its own account. */
  readonly settled: ReadonlySet<SessionId>
  readonly seq: number
  /** The last row of the inbox that any session took in. */
  readonly inboxCursor: number
}

const none: ReadonlyMap<SessionId, SessionState> = new Map()
const nobody: ReadonlySet<SessionId> = new Set()

export const childIdOf = (parent: SessionId, itemId: string): SessionId => `${parent}/${itemId}` as SessionId

export const treeOf = (root: SessionState): TreeState => ({
  root,
  children: none,
  settled: nobody,
  seq: root.seq,
  inboxCursor: root.inboxCursor,
})

/** Folds the journal of a tree, or goes on from where it was folded before. */
export function foldTree(events: readonly InteractionEvent[], from?: TreeState): TreeState {
  let { root, seq = 0, inboxCursor = 0 } = from ?? {}
  const children = new Map(from?.children)
  const settled = new Set(from?.settled)
  for (const event of events) {
    seq = event.seq
    if (event.inbox !== undefined) inboxCursor = Math.max(inboxCursor, event.inbox)
    const { sessionId } = event
    if (event.type === 'interaction.session.created' && event.parent) children.set(sessionId, created(event))
    else if (!root) root = first(event)
    else if (sessionId === root.sessionId) root = apply(root, event)
    else children.set(sessionId, apply(known(children, event), event))
    if (event.type === 'interaction.subagent.completed' || event.type === 'interaction.subagent.failed') settled.add(event.childId)
    if (event.type === 'interaction.item.completed' && event.itemId) forget(children, childIdOf(sessionId, event.itemId))
  }
  if (!root) throw new TroupeError('store_invalid', 'The journal is empty: a journal begins with interaction.session.created.')
  return { root, children, settled, seq, inboxCursor }
}

function first(event: InteractionEvent): SessionState {
  if (event.type === 'interaction.session.created') return created(event)
  throw new TroupeError(
    'store_invalid',
    `Event ${event.seq} (${event.type}) cannot stand where it stands: a journal begins with interaction.session.created.`,
  )
}

function known(children: ReadonlyMap<SessionId, SessionState>, event: InteractionEvent): SessionState {
  const state = children.get(event.sessionId)
  if (!state)
    throw new TroupeError(
      'store_invalid',
      `Event ${event.seq} (${event.type}) belongs to session ${event.sessionId}, which was never created.`,
    )
  return state
}

function forget(children: Map<SessionId, SessionState>, childId: SessionId): void {
  const child = children.get(childId)
  if (child) children.set(childId, withoutHistory(child))
}

export const withoutHistory = (state: SessionState): SessionState => ({ ...state, history: Sequence.empty(), inputs: [] })
