import assert from 'node:assert/strict'
import { noUsage, type Store, type TreeFilter, type TreeId, type UsageQuery, type UsageTotals } from '../../contracts/index.ts'
import { appended, batch, claimed, createTree, oddText, one, type StoreCases, two } from './sample-tree.ts'
import { found, model, treeWith, turn } from './turn-records.ts'

const nothing: UsageTotals = {
  turns: 0,
  failedTurns: 0,
  requests: 0,
  failedRequests: 0,
  usage: noUsage,
  costUsd: 0,
  unpriced: 0,
  workMs: 0,
  p95Ms: 0,
}
const day = Date.UTC(2026, 10, 18)
const dayMs = 86_400_000

/** The groups as `key turns requests costUsd workMs p95Ms`. */
async function groups(store: Store, query: UsageQuery): Promise<readonly string[]> {
  const report = await store.turns.usage(query)
  assert.equal(report.by, query.by)
  return report.groups.map(({ key, turns, requests, costUsd, workMs, p95Ms }) => [key, turns, requests, costUsd, workMs, p95Ms].join(' '))
}

/** Two days, three owners, a child, two models. */
async function fill(store: Store): Promise<void> {
  const usage = { input: 10, output: 5, cacheRead: 2, cacheWrite: 1, reasoning: 3 }
  const root = model('p/large', { requests: 3, failed: 1, usage, costUsd: 0.1, latencyMs: 300 })
  const small = model('p/small', { usage: { ...usage, estimated: true }, costUsd: 0.2, unpriced: 1, latencyMs: 50 })
  await treeWith(store, 'a', {
    identity: { owner: 'ann' },
    turns: [
      turn({ at: day, agent: 'kid', isChild: true, workMs: 40, models: [model('p/small', { costUsd: 0.3, latencyMs: 30 })] }),
      turn({ at: day, workMs: 1000, models: [root, small] }),
      turn({ at: day + dayMs, workMs: 10, status: 'failed', models: [] }),
    ],
  })
  await treeWith(store, 'b', {
    identity: { owner: oddText },
    turns: [turn({ at: day - 1, workMs: 70, models: [model('p/large', { costUsd: 0.7 })] })],
  })
  await treeWith(store, 'c', { turns: [turn({ at: day, agent: '', workMs: 5, models: [root] })] })
}

export const turnCases: StoreCases = {
  async 'sums the usage of roots and children, exactly'({ store, other }) {
    await fill(store)
    const report = await other.turns.usage({ by: 'person' })
    const { key, ...ann } = report.groups[1] ?? { key: '' }
    assert.equal(key, 'ann')
    assert.deepEqual(ann, {
      turns: 2,
      failedTurns: 1,
      requests: 5,
      failedRequests: 1,
      usage: { input: 20, output: 10, cacheRead: 4, cacheWrite: 2, reasoning: 6, estimated: true },
      costUsd: 0.6,
      unpriced: 1,
      workMs: 1010,
      p95Ms: 1000,
    })
    const { turns, requests, costUsd, workMs, p95Ms, usage } = report.total
    assert.deepEqual(
      [turns, requests, costUsd, workMs, p95Ms, usage],
      [4, 9, 1.4, 1085, 1000, { input: 30, output: 15, cacheRead: 6, cacheWrite: 3, reasoning: 9, estimated: true }],
    )
    for (const by of ['agent', 'model', 'day'] as const) assert.deepEqual((await other.turns.usage({ by })).total, report.total)
  },
  async 'groups by agent, model, day and person'({ store }) {
    await fill(store)
    assert.deepEqual(await groups(store, { by: 'agent' }), ['helper 3 5 1 1080 1000', 'kid 1 1 0.3 40 40', ' 1 3 0.1 5 5'])
    assert.deepEqual(await groups(store, { by: 'model' }), ['p/large 3 7 0.9 600 300', 'p/small 2 2 0.5 80 50', ' 1 0 0 0 0'])
    assert.deepEqual(await groups(store, { by: 'day' }), [
      '2026-11-17 1 1 0.7 70 70',
      '2026-11-18 2 8 0.7 1005 1000',
      '2026-11-19 1 0 0 10 10',
    ])
    assert.deepEqual(await groups(store, { by: 'person' }), [`${oddText} 1 1 0.7 70 70`, 'ann 2 5 0.6 1010 1000', ' 1 3 0.1 5 5'])
  },
  async 'sorts groups of the same cost by tokens, then by key'({ store }) {
    const used = (agent: string, output: number) => turn({ agent, models: [model('m', { usage: { ...noUsage, output } })] })
    await treeWith(store, one, { turns: [used('c', 1), used('b', 1), used('a', 1), used('z', 2)] })
    assert.deepEqual(
      (await store.turns.usage({ by: 'agent' })).groups.map(({ key }) => key),
      ['z', 'a', 'b', 'c'],
    )
  },
  async 'covers turns that ended from `since` on and before `until`, of one owner'({ store }) {
    await fill(store)
    assert.deepEqual(await groups(store, { by: 'day', since: day, until: day + dayMs }), ['2026-11-18 2 8 0.7 1005 1000'])
    assert.deepEqual(await groups(store, { by: 'person', owner: 'ann', since: day + 1 }), ['ann 1 0 0 10 10'])
    assert.deepEqual(await groups(store, { by: 'day', owner: oddText }), ['2026-11-17 1 1 0.7 70 70'])
    for (const query of [{ owner: 'nobody' }, { owner: '' }, { since: day, until: day }])
      assert.deepEqual(await store.turns.usage({ by: 'day', ...query }), { by: 'day', groups: [], total: nothing })
  },
  async 'has the 95th percentile by the nearest rank'({ store }) {
    const times = Array.from({ length: 20 }, (_, index) => turn({ workMs: 100 - index, agent: index < 19 ? 'many' : 'one' }))
    await treeWith(store, one, { turns: times })
    const { total } = await store.turns.usage({ by: 'agent' })
    assert.equal(total.p95Ms, 99)
    assert.deepEqual(await groups(store, { by: 'agent' }), ['many 19 0 0 1729 100', 'one 1 0 0 81 81'])
  },
  async 'adds amounts of money exactly, in any number'({ store }) {
    const cents = Array.from({ length: 300 }, () =>
      turn({ models: [model('m', { costUsd: 0.1 }), model('n', { costUsd: 0.000_000_001 })] }),
    )
    await treeWith(store, one, { turns: cents })
    assert.equal((await store.turns.usage({ by: 'day' })).total.costUsd, 30.000_000_3)
    assert.equal((await store.trees.get(one))?.cost, 30.000_000_3)
  },
  async 'stores figures that no provider should report'({ store }) {
    const usage = { input: Number.NaN, output: 0.5, cacheRead: -1, cacheWrite: Number.POSITIVE_INFINITY, reasoning: 1e300 }
    await treeWith(store, one, {
      turns: [turn({ workMs: 1.4, agent: oddText, models: [model(oddText, { usage, latencyMs: Number.NaN })] })],
    })
    const { total, groups } = await store.turns.usage({ by: 'agent' })
    const most = Number.MAX_SAFE_INTEGER
    assert.deepEqual(total.usage, { input: 0, output: 1, cacheRead: 0, cacheWrite: most, reasoning: most })
    assert.deepEqual([total.workMs, groups[0]?.key], [1, oddText])
  },
  async 'counts a repeated append once, and a refused one never'({ store, other }) {
    const { epoch } = await claimed(store, one)
    const turns = [turn({ models: [model('m', { costUsd: 1 })] })]
    const first = { ...batch(one, epoch, { after: 0, count: 1 }), turns }
    await Promise.all([appended(store, first), appended(store, first)])
    await appended(store, structuredClone(first))
    assert.equal((await store.journal.append({ ...batch(one, epoch, { after: 5, count: 1 }), turns })).ok, false)
    assert.equal((await store.journal.append({ ...batch(one, epoch + 1, { after: 1, count: 1 }), turns })).ok, false)
    assert.deepEqual(await groups(other, { by: 'model' }), ['m 1 1 1 0 0'])
    assert.equal((await other.trees.get(one))?.cost, 1)
  },
  async 'keeps the usage of deleted trees, under their owner'({ store }) {
    await fill(store)
    const before = await store.turns.usage({ by: 'person' })
    await store.trees.delete('a' as TreeId)
    assert.deepEqual(await store.turns.usage({ by: 'person' }), before)
  },
  async 'neither counts nor charges a copied turn, but finds its texts'({ store }) {
    const { models: _, ...copied } = turn({ texts: ['copied'] })
    const treeId = await treeWith(store, one, { turns: [copied] })
    assert.deepEqual(await store.turns.usage({ by: 'day' }), { by: 'day', groups: [], total: nothing })
    assert.equal('cost' in ((await store.trees.get(treeId)) ?? {}), false)
    assert.equal(await found(store, 'copied'), treeId)
  },
}

export const costCases: StoreCases = {
  async 'are in the entry of a tree, and unknown with a request without a price'({ store, other }) {
    const epoch = await createTree(store, one, 1)
    assert.equal('cost' in ((await store.trees.get(one)) ?? {}), false)
    const ends = async (after: number, turns: Parameters<typeof turn>[0][]): Promise<unknown> => {
      await appended(store, { ...batch(one, epoch, { after, count: 1 }), turns: turns.map(turn) })
      const [entry, listed] = [await other.trees.get(one), (await other.trees.list())[0]]
      assert.deepEqual(entry, listed)
      return entry?.cost
    }
    assert.equal(await ends(1, [{ models: [] }]), 0)
    const child = { isChild: true, models: [model('m', { costUsd: 0.1 })] }
    assert.equal(await ends(2, [child, { models: [model('m', { costUsd: 0.2 }), model('n', { costUsd: 0.4 })] }]), 0.7)
    assert.equal(await ends(3, [{ models: [model('m', { costUsd: 0.2, unpriced: 1 })] }]), 'unknown')
    assert.equal(await ends(4, [{ models: [model('m', { costUsd: 0.2 })] }]), 'unknown')
  },
  async 'and times are filters'({ store }) {
    for (const [index, name] of ['a', 'b', 'c'].entries())
      await treeWith(store, name, { turns: [turn({ models: [model('m', { costUsd: index / 10 })] })] })
    await treeWith(store, 'd', { turns: [turn({ models: [model('m', { unpriced: 1 })] })] })
    await createTree(store, 'e' as TreeId, 1)
    const [e, d, c, b, a] = await store.trees.list()
    assert(a && b && c && d && e)
    const { epoch } = await claimed(store, a.treeId)
    await appended(store, batch(a.treeId, epoch, { after: 1, count: 50 }))
    const listed = async (filter: TreeFilter): Promise<string> => (await store.trees.list(filter)).map(({ treeId }) => treeId).join('')
    const filters: readonly (readonly [TreeFilter, string])[] = [
      [{ minCostUsd: 0 }, 'cba'],
      [{ minCostUsd: 0.1 }, 'cb'],
      [{ minCostUsd: 0.100_000_001 }, 'c'],
      [{ maxCostUsd: 0.1 }, 'ba'],
      [{ minCostUsd: 0.1, maxCostUsd: 0.1 }, 'b'],
      [{ since: a.createdAt }, 'edcba'],
      [{ since: a.createdAt + 50 }, 'a'],
      [{ until: c.createdAt }, 'ba'],
      [{ until: a.createdAt }, ''],
      [{ since: c.createdAt, until: d.createdAt }, 'ca'],
    ]
    for (const [filter, expected] of filters) assert.equal(await listed(filter), expected, JSON.stringify(filter))
  },
}

export const replaceCases: StoreCases = {
  async 'replaces texts, usage and cost of one tree'({ store, other }) {
    const paid = (costUsd: number, text: string) => turn({ texts: [text], models: [model('m', { costUsd })] })
    await treeWith(store, two, { turns: [paid(5, 'other')] })
    await treeWith(store, one, { turns: [paid(1, 'old'), paid(1, 'old')], identity: { owner: 'ann' } })
    assert.equal(await other.turns.replace(one, 1, [paid(0.25, 'new')]), true)
    assert.equal((await store.trees.get(one))?.cost, 0.25)
    assert.deepEqual([await found(store, 'old'), await found(store, 'new'), await found(store, 'other')], ['', one, two])
    assert.deepEqual(await groups(store, { by: 'person' }), [' 1 1 5 0 0', 'ann 1 1 0.25 0 0'])
    assert.equal(await store.turns.replace(one, 1, []), true)
    assert.equal('cost' in ((await store.trees.get(one)) ?? {}), false)
    assert.deepEqual(await groups(store, { by: 'person' }), [' 1 1 5 0 0'])
  },
  async 'changes nothing if the tree has other events, none, or does not exist'({ store }) {
    await treeWith(store, one, { turns: [turn({ texts: ['old'], models: [model('m', { costUsd: 1 })] })] })
    await claimed(store, two)
    assert.equal(await store.turns.replace(one, 2, []), false)
    assert.equal(await store.turns.replace(two, 0, []), false)
    assert.equal(await store.turns.replace('none' as TreeId, 1, []), false)
    assert.deepEqual([await found(store, 'old'), (await store.trees.get(one))?.cost], [one, 1])
  },
  async 'leaves no tree of this version unindexed'({ store }) {
    const epoch = await createTree(store, one, 2)
    await appended(store, { ...batch(one, epoch, { after: 2, count: 1 }), turns: [turn()] })
    await claimed(store, two)
    assert.deepEqual([await store.turns.unindexed(), await store.turns.unindexed('ann')], [0, 0])
  },
}
