import type { TreeChange, TurnRecords } from '../../contracts/index.ts'
import { whileBusy } from './retry-busy.ts'
import type { StoreParts } from './sqlite-journal.ts'

export function sqliteTurns({ connection, queue, changes, indexer, busyTimeoutMs }: StoreParts): TurnRecords {
  return {
    usage: (query) => whileBusy(() => connection.tables.usage(query), busyTimeoutMs),
    unindexed: (owner) => whileBusy(() => connection.tables.turns.unindexed(owner), busyTimeoutMs),
    replace(treeId, seq, records) {
      let change: TreeChange | undefined
      return queue.add({
        apply({ trees, turns, changes }) {
          change = undefined
          const tree = trees.find(treeId)
          if (tree === undefined || tree.head === 0 || tree.head !== seq) return false
          turns.replace({ key: tree.key, treeId }, records)
          changes.note(treeId)
          change = { treeId, entry: trees.get(treeId) }
          return true
        },
        committed() {
          if (change) changes.wakeTrees(change)
        },
      })
    },
    rebuildIndex: () => indexer.rebuild(),
  }
}
