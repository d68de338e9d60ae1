import type { Journal, TreeId } from '../contracts/index.ts'
import { TroupeError } from '../contracts/index.ts'
import { foldTree, type TreeState } from './tree-state.ts'

const mostRemembered = 32

/** The states of trees that were let go last, so that a conversation need not be folded anew at each turn. */
export class TreeMemory {
  readonly #journal: Pick<Journal, 'read'>
  readonly #states = new Map<TreeId, TreeState>()

  constructor(journal: Pick<Journal, 'read'>) {
    this.#journal = journal
  }

  remember(state: TreeState): void {
    const { treeId } = state.root
    this.#states.delete(treeId)
    this.#states.set(treeId, state)
    if (this.#states.size > mostRemembered) this.#states.delete(this.#states.keys().next().value as TreeId)
  }

  forget(treeId: TreeId): void {
    this.#states.delete(treeId)
  }

  /** The state of a tree at the end of its journal, from what is known of it. */
  async stateOf(treeId: TreeId, known = this.#states.get(treeId)): Promise<TreeState> {
    const events = await this.#journal.read(treeId, known?.seq ?? 0)
    if (events.length === 0 && !known) throw unknownTree(treeId)
    return foldTree(events, known)
  }
}

export const unknownTree = (treeId: TreeId): TroupeError =>
  new TroupeError('tree_unknown', `There is no tree ${treeId}.`, { remedy: 'List the trees to see what there is.' })
