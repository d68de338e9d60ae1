import assert from 'node:assert/strict'
import type { OutcomeStatus, Store, TreeEntry, TreeId, TreeSummary } from '../../contracts/index.ts'
import { appended, batch, bob, claimed, client, input, oddText, one, type StoreCases, two } from './sample-tree.ts'

const summary: TreeSummary = { agent: 'helper', title: oddText, status: 'running', openRequests: 2 }

async function createTrees(store: Store, names: readonly string[]): Promise<void> {
  for (const name of names) {
    const { epoch } = await claimed(store, name as TreeId)
    await appended(store, { ...batch(name as TreeId, epoch, { after: 0, count: 1 }), summary })
  }
}

const ids = (entries: readonly TreeEntry[]): readonly string[] => entries.map(({ treeId }) => treeId)

export const treeCases: StoreCases = {
  async 'shows a summary from the append on that brought it'({ store, other }) {
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
  async 'keeps the summary when an append brings none, and counts its events'({ store }) {
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
  async 'changes nothing by a refused append'({ store }) {
    const { epoch } = await claimed(store, one)
    await appended(store, { ...batch(one, epoch, { after: 0, count: 2 }), summary })
    const before = await store.trees.get(one)
    const failed = { ...summary, status: 'failed' } as const
    assert.equal((await store.journal.append({ ...batch(one, epoch, { after: 9, count: 1 }), summary: failed })).ok, false)
    assert.equal((await store.journal.append({ ...batch(one, epoch + 1, { after: 2, count: 1 }), summary: failed })).ok, false)
    assert.deepEqual(await store.trees.get(one), before)
  },
  async 'does not know a tree without events'({ store }) {
    await claimed(store, one)
    assert.equal(await store.trees.get(one), undefined)
    assert.equal(await store.trees.get(two), undefined)
    assert.deepEqual(await store.trees.list(), [])
  },
  async 'lists the newest first, however old it is in use'({ store, other }) {
    await createTrees(store, ['a', 'b', 'c'])
    const { epoch } = await claimed(store, 'a' as TreeId)
    await appended(store, batch('a' as TreeId, epoch, { after: 1, count: 1 }))
    assert.deepEqual(ids(await other.trees.list()), ['c', 'b', 'a'])
  },
  async 'lists pages that neither skip nor repeat a tree, also of those made in one tick'({ store }) {
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
  async 'keeps who a tree belongs to, as its first append says'({ store, other }) {
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
  async 'refuses the key of another tree, and stores nothing of it'({ store, other }) {
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
}

async function made(store: Store, treeId: TreeId, status: OutcomeStatus | 'running'): Promise<number> {
  const { epoch } = await claimed(store, treeId)
  const summary = { agent: 'a', title: 't', status, openRequests: 0 }
  await appended(store, { ...batch(treeId, epoch, { after: 0, count: 2 }), summary, identity: { key: `key of ${treeId}` } })
  return epoch
}

export const deletionCases: StoreCases = {
  async 'removes everything of a tree, and nothing of others'({ store, other }) {
    const blobs = new Map<TreeId, Awaited<ReturnType<Store['blobs']['put']>>>()
    for (const treeId of [one, two]) {
      const epoch = await made(store, treeId, 'suspended')
      await store.inbox.add(treeId, client('c'), input('hello'))
      blobs.set(treeId, await store.blobs.put(treeId, 'large'))
      await store.journal.release(treeId, epoch)
    }
    assert.deepEqual(await other.trees.delete(one), { ok: true })
    await other.vacuum()
    const left = async (treeId: TreeId): Promise<readonly unknown[]> => [
      (await store.trees.get(treeId))?.seq,
      (await store.trees.find(`key of ${treeId}`))?.treeId,
      (await store.journal.read(treeId, 0)).length,
      (await store.inbox.read(treeId, 0)).length,
      await store.blobs.get(treeId, blobs.get(treeId) as never),
    ]
    assert.deepEqual(await left(one), [undefined, undefined, 0, 0, undefined])
    assert.deepEqual(await left(two), [2, two, 2, 1, 'large'])
    assert.deepEqual(
      (await store.trees.list()).map(({ treeId }) => treeId),
      [two],
    )
  },
  async 'refuses a tree that is driven, and names the driver'({ store, other }) {
    const epoch = await made(store, one, 'running')
    const driver = await other.trees.driver(one)
    assert(driver !== undefined)
    assert.deepEqual(await other.trees.delete(one), { ok: false, refusal: 'driven', driver })
    await appended(store, batch(one, epoch, { after: 2, count: 1 }))
    await store.journal.release(one, epoch)
    assert.deepEqual(await other.trees.delete(one), { ok: true })
  },
  async 'reports a tree that does not exist, or no longer exists, as missing'({ store }) {
    assert.deepEqual(await store.trees.delete(one), { ok: false, refusal: 'missing' })
    await store.journal.release(one, await made(store, one, 'completed'))
    assert.deepEqual(await store.trees.delete(one), { ok: true })
    assert.deepEqual(await store.trees.delete(one), { ok: false, refusal: 'missing' })
  },
  async 'leaves the former driver nothing to write to, also where another tree came after'({ store, other }) {
    const epoch = await made(store, one, 'running')
    await store.journal.release(one, epoch)
    assert.deepEqual(await other.trees.delete(one), { ok: true })
    assert.equal(await made(other, two, 'running'), epoch)
    assert.deepEqual(await store.journal.append(batch(one, epoch, { after: 2, count: 1 })), { ok: false, refusal: 'missing' })
    assert.equal((await other.trees.get(two))?.seq, 2)
    const again = await claimed(store, one, bob)
    assert.equal(again.seq, 0)
  },
}
