import type { Store, TreeId } from '../../contracts/index.ts'
import { messageOf } from '../../util/message-of.ts'
import { foldJournal } from '../journal/tree-state.ts'
import { TurnRecordFold } from '../journal/turn-record.ts'

export interface Reindexed {
  readonly sessions: number
  readonly turns: number
  /** Those whose journal cannot be read, or that do not come to rest. */
  readonly skipped: readonly { readonly sessionId: string; readonly problem: string }[]
}

/** Sessions for one page of the list. */
const pageSize = 200
/** A running session changes while its journal is read. */
const maxAttempts = 5

/** Builds the records of all ended turns again, and then the search index. Servers may use the store meanwhile. */
export async function reindexStore(store: Store, { progress }: { progress?(done: number, total: number): void } = {}): Promise<Reindexed> {
  const treeIds = await allTrees(store)
  const skipped: { sessionId: string; problem: string }[] = []
  let [sessions, turns] = [0, 0]
  for (const [index, treeId] of treeIds.entries()) {
    const found = await reindexTree(store, treeId)
    if (typeof found === 'string') skipped.push({ sessionId: treeId, problem: found })
    else if (found !== undefined) {
      sessions++
      turns += found
    }
    progress?.(index + 1, treeIds.length)
  }
  await store.turns.rebuildIndex()
  return { sessions, turns, skipped }
}

async function allTrees({ trees }: Store): Promise<readonly TreeId[]> {
  const found: TreeId[] = []
  for (let before: number | undefined; ; ) {
    const page = await trees.list({ limit: pageSize, ...(before !== undefined && { before }) })
    found.push(...page.map(({ treeId }) => treeId))
    before = page.at(-1)?.createdAt
    if (page.length < pageSize) return found
  }
}

/** The number of turns, or why there is none. `undefined` if the session was deleted meanwhile. */
async function reindexTree(store: Store, treeId: TreeId): Promise<number | string | undefined> {
  for (let attempt = 1; attempt <= maxAttempts; attempt++) {
    const { records, observe } = new TurnRecordFold()
    try {
      const state = await foldJournal(store.journal, treeId, { observe })
      if (!state) return undefined
      if (await store.turns.replace(treeId, state.seq, records)) return records.length
    } catch (error) {
      return messageOf(error)
    }
    if (!(await store.trees.get(treeId))) return undefined
  }
  return 'It changed each time it was read. Run the command again.'
}
