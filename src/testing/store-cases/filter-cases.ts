import assert from 'node:assert/strict'
import type { Store, TreeFilter, TreeId, TreeIdentity, TreeSummary } from '../../contracts/index.ts'
import { appended, batch, claimed, oddText, one, type StoreCases, two } from './sample-tree.ts'

const plain: TreeSummary = { agent: 'helper', title: 'A title', status: 'completed', openRequests: 0 }

interface Made {
  readonly summary?: Partial<TreeSummary>
  readonly identity?: TreeIdentity
}

async function make(store: Store, name: string, { summary, identity = {} }: Made = {}): Promise<number> {
  const treeId = name as TreeId
  const { epoch } = await claimed(store, treeId)
  await appended(store, { ...batch(treeId, epoch, { after: 0, count: 1 }), summary: { ...plain, ...summary }, identity })
  return epoch
}

const listed = async (store: Store, filter: TreeFilter): Promise<string> =>
  (await store.trees.list(filter)).map(({ treeId }) => treeId).join(' ')

/** Which of the trees `a` to `e` a filter finds, the newest first. */
const found: readonly (readonly [TreeFilter, string])[] = [
  [{}, 'e d c b a'],
  [{ owner: 'ann' }, 'd a'],
  [{ owner: oddText }, 'e'],
  [{ owner: 'nobody' }, ''],
  [{ owner: '' }, ''],
  [{ agent: 'writer' }, 'e b'],
  [{ agent: '"quoted"' }, 'd'],
  [{ workspace: '/project' }, 'c b'],
  [{ workspace: '/project/' }, ''],
  [{ status: 'completed' }, 'd a'],
  [{ status: ['running', 'suspended'] }, 'c b'],
  [{ status: [] }, ''],
  [{ labels: [] }, 'e d c b a'],
  [{ labels: ['red'] }, 'c b'],
  [{ labels: ['red', 'blue'] }, 'c'],
  [{ labels: ['re'] }, ''],
  [{ labels: [oddText] }, 'e'],
  [{ labels: ['\ud801'] }, ''],
  [{ hasOpenRequests: true }, 'c'],
  [{ hasOpenRequests: false }, 'e d b a'],
  [{ text: 'REPORT' }, 'b a'],
  [{ text: 'ÜBER' }, 'c'],
  [{ text: '100%' }, 'd'],
  [{ text: '_' }, 'd'],
  [{ text: '\\' }, 'e'],
  [{ text: '' }, 'e d c b a'],
  [{ text: "'; DROP TABLE trees; --" }, ''],
  [{ owner: 'ann', status: 'completed', text: 'report' }, 'a'],
  [{ owner: 'ann', limit: 1 }, 'd'],
  [{ agent: 'writer', labels: ['red'], workspace: '/project', hasOpenRequests: false, status: ['running'], text: 'report' }, 'b'],
]

export const filterCases: StoreCases = {
  async 'finds the trees that match every given field'({ store, other }) {
    await make(store, 'a', { identity: { owner: 'ann' }, summary: { title: 'The report' } })
    await make(store, 'b', {
      identity: { owner: 'bob', labels: ['red'], workspace: '/project' },
      summary: { agent: 'writer', status: 'running', title: 'Second Report' },
    })
    await make(store, 'c', {
      identity: { labels: ['blue', 'red'], workspace: '/project' },
      summary: { status: 'suspended', openRequests: 2, title: 'Notizen über alles' },
    })
    await make(store, 'd', { identity: { owner: 'ann', labels: [] }, summary: { agent: '"quoted"', title: '"100% a_b"' } })
    await make(store, 'e', {
      identity: { owner: oddText, labels: [oddText] },
      summary: { agent: 'writer', status: 'failed', title: oddText },
    })
    for (const [filter, expected] of found) assert.equal(await listed(other, filter), expected, JSON.stringify(filter))
  },
  async 'lists pages of a filtered list that neither skip nor repeat a tree'({ store }) {
    for (let index = 0; index < 12; index += 1) await make(store, `tree-${index}`, { identity: { owner: index % 3 === 0 ? 'ann' : 'bob' } })
    const all = await store.trees.list({ owner: 'bob' })
    const first = await store.trees.list({ owner: 'bob', limit: 5 })
    const second = await store.trees.list({ owner: 'bob', limit: 5, before: first.at(-1)?.createdAt ?? 0 })
    assert.equal(all.length, 8)
    assert.deepEqual([...first, ...second], all)
  },
}

export const updateCases: StoreCases = {
  async 'changes title and labels, each alone, and nothing else'({ store, other }) {
    await make(store, one, { identity: { owner: 'ann', key: 'thread', labels: ['old'] } })
    const before = await store.trees.get(one)
    assert.deepEqual(await other.trees.update(one, { title: oddText }), { ...before, title: oddText })
    assert.deepEqual(await other.trees.update(one, { labels: [oddText, 'new'] }), { ...before, title: oddText, labels: [oddText, 'new'] })
    assert.deepEqual(await other.trees.update(one, {}), { ...before, title: oddText, labels: [oddText, 'new'] })
    assert.deepEqual(await store.trees.get(one), { ...before, title: oddText, labels: [oddText, 'new'] })
    assert.equal((await store.trees.update(one, { labels: [] }))?.labels?.length, 0)
    assert.equal(await listed(store, { labels: ['old'] }), '')
  },
  async 'keeps its title, whatever the driver says later'({ store, other }) {
    const epoch = await make(store, one, { summary: { title: '' } })
    const later = { ...plain, title: 'First input', status: 'failed' } as const
    await appended(store, { ...batch(one, epoch, { after: 1, count: 1 }), summary: later })
    assert.equal((await store.trees.get(one))?.title, 'First input')
    await other.trees.update(one, { title: 'Mine' })
    await appended(store, { ...batch(one, epoch, { after: 2, count: 1 }), summary: { ...later, agent: 'another' } })
    const { title, agent, status } = (await other.trees.get(one)) ?? {}
    assert.deepEqual({ title, agent, status }, { title: 'Mine', agent: 'another', status: 'failed' })
    await other.trees.update(one, { title: '' })
    await appended(store, { ...batch(one, epoch, { after: 3, count: 1 }), summary: later })
    assert.equal((await other.trees.get(one))?.title, '')
  },
  async 'lets the driver set the title while only the labels were changed'({ store }) {
    const epoch = await make(store, one)
    await store.trees.update(one, { labels: ['a'] })
    await appended(store, { ...batch(one, epoch, { after: 1, count: 1 }), summary: { ...plain, title: 'Later' } })
    assert.equal((await store.trees.get(one))?.title, 'Later')
  },
  async 'does not know trees without events, and forgets a title with its tree'({ store }) {
    await claimed(store, one)
    assert.equal(await store.trees.update(one, { title: 'Mine' }), undefined)
    assert.equal(await store.trees.update(two, { title: 'Mine' }), undefined)
    const epoch = await make(store, two)
    await store.trees.update(two, { title: 'Mine' })
    await store.journal.release(two, epoch)
    await store.trees.delete(two)
    await make(store, two, { summary: { title: 'New' } })
    assert.equal((await store.trees.get(two))?.title, 'New')
  },
}
