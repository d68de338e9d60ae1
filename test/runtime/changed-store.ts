import type { Store } from '../../src/contracts/index.ts'

type Journal = Store['journal']

/** The same store, for somebody whose journal answers differently. */
export function changedStore(
  { journal, inbox, blobs, trees, records, usages, turns, vacuum, close }: Store,
  change: Partial<Journal>,
): Store {
  const changed: Journal = {
    claim: (treeId, owner) => journal.claim(treeId, owner),
    release: (treeId, epoch) => journal.release(treeId, epoch),
    append: (batch) => journal.append(batch),
    read: (treeId, after, limit) => journal.read(treeId, after, limit),
    watch: (treeId, wake) => journal.watch(treeId, wake),
    ...change,
  }
  return { inbox, blobs, trees, records, usages, turns, vacuum, close, journal: changed }
}
