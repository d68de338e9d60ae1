import assert from 'node:assert/strict'
import type { Store, TreeChange, TreeEntry, TreeId } from '../../contracts/index.ts'
import { within } from '../within.ts'
import { appended, batch, claimed, one, type StoreCases, two } from './sample-tree.ts'

/** Real time: a store may have to look for what another process wrote. */
const patienceMs = 10_000
const summary = { agent: 'helper', title: 'A title', status: 'running', openRequests: 0 } as const

interface ListWatch {
  readonly changes: readonly TreeChange[]
  /** Resolves with the first change of that tree, from now on or before, for which the check holds. */
  reported(treeId: TreeId, check: (entry: TreeEntry | undefined) => boolean): Promise<void>
  stop(): void
}

function watchList(store: Store): ListWatch {
  const changes: TreeChange[] = []
  const waiting = new Set<() => void>()
  const stop = store.trees.watch((change) => {
    changes.push(change)
    for (const look of waiting) look()
  })
  return {
    changes,
    stop,
    async reported(treeId, check) {
      const seen = Promise.withResolvers<void>()
      const look = (): void => {
        if (changes.some((change) => change.treeId === treeId && check(change.entry))) seen.resolve()
      }
      waiting.add(look)
      look()
      assert(await within(patienceMs, seen.promise), `no such change of ${treeId} within ${patienceMs} ms: ${JSON.stringify(changes)}`)
    },
  }
}

async function changeAll(store: Store, watch: ListWatch): Promise<void> {
  const { epoch } = await claimed(store, one)
  await appended(store, { ...batch(one, epoch, { after: 0, count: 1 }), summary, identity: { owner: 'ann' } })
  await watch.reported(one, (entry) => entry?.status === 'running' && entry.owner === 'ann')
  await appended(store, { ...batch(one, epoch, { after: 1, count: 1 }), summary: { ...summary, status: 'suspended', openRequests: 1 } })
  await watch.reported(one, (entry) => entry?.openRequests === 1 && entry.seq === 2)
  await store.trees.update(one, { title: 'Mine', labels: ['a'] })
  await watch.reported(one, (entry) => entry?.title === 'Mine' && entry.labels?.[0] === 'a')
  await store.journal.release(one, epoch)
  assert(watch.changes.every(({ entry }) => entry !== undefined))
  await store.trees.delete(one)
  await watch.reported(one, (entry) => entry === undefined)
}

export const listWatchCases: StoreCases = {
  async 'reports new, changed, renamed and deleted trees'({ store }) {
    const watch = watchList(store)
    await changeAll(store, watch)
    watch.stop()
  },
  async 'reports those of other processes, too'({ store, other }) {
    const watch = watchList(store)
    await changeAll(other, watch)
    watch.stop()
  },
  async 'reports appends after a deletion, of another process, and changes of trees that it drives itself'({ store, other }) {
    const { epoch } = await claimed(store, two)
    await appended(store, { ...batch(two, epoch, { after: 0, count: 1 }), summary })
    const first = await claimed(other, one)
    await appended(other, { ...batch(one, first.epoch, { after: 0, count: 3 }), summary })
    const three = 'tree-three' as TreeId
    const next = await claimed(other, three)
    await other.journal.release(one, first.epoch)
    const watch = watchList(store)
    // A store may number the next rows like those of the deleted tree, and commit both together.
    await Promise.all([other.trees.delete(one), appended(other, { ...batch(three, next.epoch, { after: 0, count: 1 }), summary })])
    await other.trees.update(two, { title: 'Mine' })
    await watch.reported(three, (entry) => entry?.seq === 1)
    await watch.reported(one, (entry) => entry === undefined)
    await watch.reported(two, (entry) => entry?.title === 'Mine')
    watch.stop()
  },
  async 'reports nothing that happened before, and nothing to watchers that have left'({ store }) {
    const { epoch } = await claimed(store, one)
    await appended(store, { ...batch(one, epoch, { after: 0, count: 1 }), summary })
    const [gone, staying] = [watchList(store), watchList(store)]
    gone.stop()
    gone.stop()
    assert.deepEqual(staying.changes, [])
    await appended(store, batch(one, epoch, { after: 1, count: 1 }))
    await staying.reported(one, (entry) => entry?.seq === 2)
    assert.deepEqual(gone.changes, [])
    staying.stop()
  },
  async 'reports nothing of a refused append'({ store }) {
    const { epoch } = await claimed(store, one)
    const watch = watchList(store)
    assert.equal((await store.journal.append({ ...batch(one, epoch, { after: 5, count: 1 }), summary })).ok, false)
    assert.equal(await store.trees.update(one, { title: 'Mine' }), undefined)
    assert.deepEqual(watch.changes, [])
    watch.stop()
  },
}
