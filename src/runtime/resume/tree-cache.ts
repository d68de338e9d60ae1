import { type Store, type TreeId, TroupeError } from '../../contracts/index.ts'
import { showValue } from '../../util/show-value.ts'
import { foldJournal, type TreeState } from '../tree/tree-state.ts'
import { decodeTree, encodeTree, snapshotVersion } from './tree-snapshot.ts'

const maxCached = 32

/** Events after which a state is stored: folding fewer takes less than a few hundredths of a second. */
const snapshotInterval = 4096

/**
 * The states of conversations that were let go last, so that they need not be folded anew at each turn. A tree of one turn
 * is none yet: most are never taken up again, and holding on to each for a while makes all others slower.
 *
 * Those of long journals are stored as well, for processes to come. A stored state is only ever a cache: one that does not fit
 * is ignored, and one that cannot be stored is done without.
 */
export class TreeCache {
  readonly #store: Pick<Store, 'journal' | 'snapshots'>
  readonly #states = new Map<TreeId, TreeState>()
  /** Up to where the states of long journals are stored. */
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

  /** The state of a tree at the end of its journal, from what is known of it. */
  async stateOf(treeId: TreeId, known = this.#states.get(treeId)): Promise<TreeState> {
    const from = known ?? (await this.#load(treeId))
    const state = await foldJournal(this.#store.journal, treeId, from)
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
    // Nobody waits for it; a store that is closed writes it before.
    void Promise.resolve(this.#store.snapshots.put(root.treeId, { seq, version: snapshotVersion, state: encodeTree(state) })).catch(
      () => {},
    )
  }
}

/** Programs without types may give anything for an id. */
export const unknownTree = (treeId: TreeId): TroupeError =>
  new TroupeError('tree_unknown', `There is no session ${typeof treeId === 'string' ? treeId : showValue(treeId)}.`, {
    remedy: 'List the sessions: runtime.sessions.list().',
  })
