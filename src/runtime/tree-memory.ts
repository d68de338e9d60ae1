import type { Journal, TreeId } from '../contracts/index.ts'
import { TroupeError } from '../contracts/index.ts'
import { showValue } from '../util/show-value.ts'
import { foldJournal, type TreeState } from './tree-state.ts'

const mostRemembered = 32

/**
 * The states of conversations that were let go last, so that they need not be folded anew at each turn. A tree of one turn
 * is none yet: most are never taken up again, and holding on to each for a while makes all others slower.
 */
export class TreeMemory {
  readonly #journal: Pick<Journal, 'read'>
  readonly #states = new Map<TreeId, TreeState>()

  constructor(journal: Pick<Journal, 'read'>) {
    this.#journal = journal
  }

  remember(state: TreeState): void {
    const { treeId, turns } = state.root
    this.#states.delete(treeId)
    if (turns < 2) return
    this.#states.set(treeId, state)
    if (this.#states.size > mostRemembered) this.#states.delete(this.#states.keys().next().value as TreeId)
  }

  forget(treeId: TreeId): void {
    this.#states.delete(treeId)
  }

  /** The state of a tree at the end of its journal, from what is known of it. */
  async stateOf(treeId: TreeId, known = this.#states.get(treeId)): Promise<TreeState> {
    const state = await foldJournal(this.#journal, treeId, known)
    if (!state) throw unknownTree(treeId)
    return state
  }
}

/** Programs without types may give anything for an id. */
export const unknownTree = (treeId: TreeId): TroupeError =>
  new TroupeError('tree_unknown', `There is no session ${typeof treeId === 'string' ? treeId : showValue(treeId)}.`, {
    remedy: 'List the sessions: runtime.sessions.list().',
  })
