import type { SessionId } from '../../contracts/index.ts'
import { callList, type SessionState, type Turn } from '../../core/index.ts'
import { Sequence } from '../../util/sequence.ts'
import type { TreeState } from './tree-state.ts'

/** Increase it with every change of the state (a test checks): snapshots of other versions are ignored. */
export const snapshotVersion = '10'

/** The state in JSON, with arrays for sequences. A new sequence does not compile until `decodeTree` restores it. */
export type Stored<T> = T extends unknown ? { readonly [Key in keyof T]: StoredField<T[Key]> } : never
type StoredField<T> = T extends Sequence<infer Entry> ? readonly Entry[] : T extends Turn ? Stored<T> : T

interface StoredTree {
  readonly root: Stored<SessionState>
  readonly children: readonly Stored<SessionState>[]
  readonly settled: readonly SessionId[]
  readonly numbers: readonly (readonly [string, number])[]
  readonly seq: number
  readonly inboxCursor: number
}

export function encodeTree({ root, children, settled, numbers, seq, inboxCursor }: TreeState): string {
  return JSON.stringify({ root, children: [...children.values()], settled: [...settled], numbers: [...numbers], seq, inboxCursor })
}

export function decodeTree(text: string): TreeState {
  const { root, children, settled, numbers, seq, inboxCursor } = JSON.parse(text) as StoredTree
  return {
    root: sessionOf(root),
    children: new Map(children.map((child) => [child.sessionId, sessionOf(child)])),
    settled: new Set(settled),
    numbers: new Map(numbers),
    seq,
    inboxCursor,
  }
}

export function sessionOf(stored: Stored<SessionState>): SessionState {
  // JSON leaves out what is undefined.
  const { parent, changes, message } = stored
  return { ...stored, parent, changes, message, history: Sequence.from(stored.history), turn: turnOf(stored.turn) }
}

function turnOf(stored: Stored<Turn>): Turn {
  if (stored.kind === 'none') return stored
  const lists = { accounting: Sequence.from(stored.accounting), diagnostics: Sequence.from(stored.diagnostics) }
  if (stored.kind === 'ended') return { ...stored, ...lists }
  const { step } = stored
  return { ...stored, ...lists, plan: stored.plan, step: step.kind === 'calling' ? { ...step, calls: callList(step.calls) } : step }
}
