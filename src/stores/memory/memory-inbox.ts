import type { ClientId, Inbox, InboxMessage, InboxRow, TreeId } from '../../contracts/index.ts'
import { Watchers } from '../shared/watchers.ts'
import type { Forest } from './forest.ts'

const nothing: readonly InboxRow[] = []

/** A position is the number of the row, from 1. */
export class MemoryInbox implements Inbox {
  readonly #forest: Forest
  readonly #watchers = new Watchers<TreeId>()

  constructor(forest: Forest) {
    this.#forest = forest
  }

  add(treeId: TreeId, clientId: ClientId, message: InboxMessage): { readonly position: number; readonly repeated: boolean } {
    const tree = this.#forest.findOrMake(treeId)
    tree.inbox ??= { rows: [], positions: new Map() }
    const first = tree.inbox.positions.get(clientId)
    if (first !== undefined) return { position: first, repeated: true }
    const position = tree.inbox.rows.length + 1
    tree.inbox.rows.push({ position, clientId, message })
    tree.inbox.positions.set(clientId, position)
    this.#watchers.wake(treeId)
    return { position, repeated: false }
  }

  read(treeId: TreeId, after: number): readonly InboxRow[] {
    const rows = this.#forest.find(treeId)?.inbox?.rows
    return rows === undefined || after >= rows.length ? nothing : rows.slice(Math.max(0, after))
  }

  watch(treeId: TreeId, wake: () => void): () => void {
    return this.#watchers.add(treeId, wake)
  }
}
