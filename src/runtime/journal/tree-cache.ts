import { type SessionId, type Store, type TreeId, TroupeError } from '../../contracts/index.ts'
import { showValue } from '../../util/show-value.ts'
import { decodeTree, encodeTree, snapshotVersion } from './tree-snapshot.ts'
import { foldJournal, type TreeState } from './tree-state.ts'

const maxCached = 32

/** A state is stored after so many events; folding fewer is fast enough. */
const snapshotInterval = 4096

/**
 * Caches the states of recent trees of two or more turns, so that they need not be folded again. Most trees of one turn are never
 * resumed. States of long journals are also stored as snapshots. A snapshot that cannot be used or stored is ignored.
 */
export class TreeCache {
  readonly #store: Pick<Store, 'journal' | 'snapshots'>
  readonly #states = new Map<TreeId, TreeState>()
  /** The `seq` of the last stored snapshot. */
  readonly #stored = new Map<TreeId, number>()

  constructor(store: Pick<Store, 'journal' | 'snapshots'>) {
    this.#store = store
  }

  remember(state: TreeState): void {
    const { treeId, turns } = state.root
    this.#save(state)
    this.#states.delete(treeId)
    if (turns < 2) return
    this.#states.set(treeId, state)
    if (this.#states.size > maxCached) this.#states.delete(this.#states.keys().next().value as TreeId)
  }

  forget(treeId: TreeId): void {
    this.#states.delete(treeId)
  }

  async stateOf(treeId: TreeId, known = this.#states.get(treeId)): Promise<TreeState> {
    const from = known ?? (await this.#load(treeId))
    const state = await foldJournal(this.#store.journal, treeId, { from })
    if (!state) throw unknownTree(treeId)
    return state
  }

  async #load(treeId: TreeId): Promise<TreeState | undefined> {
    try {
      const snapshot = await this.#store.snapshots?.get(treeId, snapshotVersion)
      if (!snapshot) return undefined
      const state = decodeTree(snapshot.state)
      this.#stored.set(treeId, state.seq)
      return state
    } catch {
      return undefined
    }
  }

  #save(state: TreeState): void {
    const { seq, root } = state
    if (seq - (this.#stored.get(root.treeId) ?? 0) < snapshotInterval || !this.#store.snapshots) return
    this.#stored.set(root.treeId, seq)
    // Not awaited: closing the store waits for it.
    void Promise.resolve(this.#store.snapshots.put(root.treeId, { seq, version: snapshotVersion, state: encodeTree(state) })).catch(
      () => {},
    )
  }
}

/** Programs without types may pass anything as an id. @throws `session_unknown` for what no session can have. */
export function checkedTreeId(sessionId: SessionId | string): TreeId {
  if (typeof sessionId === 'string') return sessionId as TreeId
  throw unknownTree(sessionId)
}

export const unknownTree = (treeId: TreeId): TroupeError =>
  new TroupeError('session_unknown', `Unknown session ${typeof treeId === 'string' ? treeId : showValue(treeId)}.`, {
    remedy: 'List the sessions: runtime.sessions.list().',
  })
