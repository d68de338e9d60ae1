import assert from 'node:assert/strict'
import type { TreeEntry, TreeId, TreeSummary } from '../../contracts/index.ts'
import { appended, batch, claimed, oddText, one, type StoreCase, two } from './store-case.ts'

const summary: TreeSummary = { agent: 'helper', title: oddText, status: 'running', openRequests: 2 }

async function createTrees(store: Parameters<StoreCase['run']>[0]['store'], names: readonly string[]): Promise<void> {
  for (const name of names) {
    const { epoch } = await claimed(store, name as TreeId)
    await appended(store, { ...batch(name as TreeId, epoch, { after: 0, count: 1 }), summary })
  }
}

const ids = (entries: readonly TreeEntry[]): readonly string[] => entries.map(({ treeId }) => treeId)

export const treeCases: readonly StoreCase[] = [
  {
    name: 'shows a summary from the append on that brought it',
    async run({ store, other }) {
      const { epoch } = await claimed(store, one)
      assert.equal(await store.trees.get(one), undefined)
      await appended(store, { ...batch(one, epoch, { after: 0, count: 2 }), summary })
      const entry = await other.trees.get(one)
      assert(entry)
      const { createdAt, updatedAt, ...rest } = entry
      assert.deepEqual(rest, { treeId: one, seq: 2, ...summary })
      assert(createdAt > 0 && updatedAt >= createdAt)
      assert.deepEqual(await other.trees.list(), [entry])
    },
  },
  {
    name: 'keeps the summary when an append brings none, and counts its events',
    async run({ store }) {
      const { epoch } = await claimed(store, one)
      await appended(store, { ...batch(one, epoch, { after: 0, count: 2 }), summary })
      const before = await store.trees.get(one)
      await appended(store, batch(one, epoch, { after: 2, count: 3 }))
      const after = await store.trees.get(one)
      assert(before && after)
      assert.deepEqual({ ...after, updatedAt: 0 }, { ...before, seq: 5, updatedAt: 0 })
      assert(after.updatedAt >= before.updatedAt)
      const done = { agent: 'another', title: '"quoted"', status: 'completed', openRequests: 0 } as const
      await appended(store, { ...batch(one, epoch, { after: 5, count: 1 }), summary: done })
      assert.deepEqual({ ...(await store.trees.get(one)), updatedAt: 0 }, { ...after, ...done, seq: 6, updatedAt: 0 })
    },
  },
  {
    name: 'changes nothing by a refused append',
    async run({ store }) {
      const { epoch } = await claimed(store, one)
      await appended(store, { ...batch(one, epoch, { after: 0, count: 2 }), summary })
      const before = await store.trees.get(one)
      const failed = { ...summary, status: 'failed' } as const
      assert.equal((await store.journal.append({ ...batch(one, epoch, { after: 9, count: 1 }), summary: failed })).ok, false)
      assert.equal((await store.journal.append({ ...batch(one, epoch + 1, { after: 2, count: 1 }), summary: failed })).ok, false)
      assert.deepEqual(await store.trees.get(one), before)
    },
  },
  {
    name: 'does not know a tree without events',
    async run({ store }) {
      await claimed(store, one)
      assert.equal(await store.trees.get(one), undefined)
      assert.equal(await store.trees.get(two), undefined)
      assert.deepEqual(await store.trees.list(), [])
    },
  },
  {
    name: 'lists the newest first, however old it is in use',
    async run({ store, other }) {
      await createTrees(store, ['a', 'b', 'c'])
      const { epoch } = await claimed(store, 'a' as TreeId)
      await appended(store, batch('a' as TreeId, epoch, { after: 1, count: 1 }))
      assert.deepEqual(ids(await other.trees.list()), ['c', 'b', 'a'])
    },
  },
  {
    name: 'lists pages that neither skip nor repeat a tree, also of those made in one tick',
    async run({ store }) {
      const names = Array.from({ length: 25 }, (_, index) => `tree-${index}`)
      await Promise.all(names.map((name) => createTrees(store, [name])))
      const all = await store.trees.list()
      assert.equal(new Set(ids(all)).size, names.length)
      const paged: TreeEntry[] = []
      for (let before = Number.POSITIVE_INFINITY; ; ) {
        const page = await store.trees.list({ limit: 4, before })
        assert(page.length <= 4)
        paged.push(...page)
        const last = page.at(-1)
        if (last === undefined) break
        before = last.createdAt
      }
      assert.deepEqual(paged, all)
      assert.deepEqual(await store.trees.list({ limit: Number.POSITIVE_INFINITY }), all)
      assert.deepEqual(await store.trees.list({ limit: 0 }), [])
    },
  },
  {
    name: 'keeps who a tree belongs to, as its first append says',
    async run({ store, other }) {
      const identity = { owner: 'ann', key: `thread ${oddText}`, labels: ['billing', oddText], workspace: '/project' }
      const { epoch } = await claimed(store, one)
      await appended(store, { ...batch(one, epoch, { after: 0, count: 1 }), summary, identity })
      await appended(store, { ...batch(one, epoch, { after: 1, count: 1 }), identity: { owner: 'bob', key: 'another' } })
      const entry = await other.trees.get(one)
      assert(entry)
      const { createdAt: _created, updatedAt: _updated, ...rest } = entry
      assert.deepEqual(rest, { treeId: one, seq: 2, ...summary, ...identity })
      assert.deepEqual(await other.trees.find(identity.key), entry)
      assert.equal(await other.trees.find('another'), undefined)
    },
  },
  {
    name: 'refuses the key of another tree, and stores nothing of it',
    async run({ store, other }) {
      const identity = { key: 'thread' }
      const first = await claimed(store, one)
      const second = await claimed(other, two)
      await appended(store, { ...batch(one, first.epoch, { after: 0, count: 1 }), identity })
      const again = { ...batch(two, second.epoch, { after: 0, count: 1 }), identity }
      assert.deepEqual(await other.journal.append(again), { ok: false, refusal: 'key' })
      assert.equal(await store.trees.get(two), undefined)
      // The first one may repeat an append whose answer was lost.
      await appended(store, { ...batch(one, first.epoch, { after: 0, count: 1 }), identity })
      await appended(other, batch(two, second.epoch, { after: 0, count: 1 }))
    },
  },
]
