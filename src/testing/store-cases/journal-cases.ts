import assert from 'node:assert/strict'
import type { JsonObject, TreeId } from '../../contracts/index.ts'
import { appended, batch, bob, claimed, createTree, event, events, oddText, one, type StoreCases, seqs, two } from './sample-tree.ts'

export const journalCases: StoreCases = {
  async 'gives back what was appended, in order and complete'({ store, other }) {
    const epoch = await createTree(store, one, 3)
    await appended(store, batch(one, epoch, { after: 3, count: 1 }))
    assert.deepEqual(await store.journal.read(one, 0), events(one, 1, 4))
    assert.deepEqual(await other.journal.read(one, 0), events(one, 1, 4))
  },
  async 'reads after any cursor, also one in the middle of a batch, and no more than the limit'({ store }) {
    const epoch = await createTree(store, one, 4)
    await appended(store, batch(one, epoch, { after: 4, count: 1 }))
    await appended(store, batch(one, epoch, { after: 5, count: 3 }))
    const all = events(one, 1, 8)
    for (let after = 0; after <= 9; after += 1) {
      assert.deepEqual(await store.journal.read(one, after), all.slice(after))
      for (let limit = 0; limit <= 8; limit += 1) {
        assert.deepEqual(await store.journal.read(one, after, limit), all.slice(after, after + limit), `after ${after}, limit ${limit}`)
      }
    }
  },
  async 'ends with the batch that reaches the limit of bytes, and reads at least one'({ store }) {
    const { epoch } = await claimed(store, one)
    const all = [1, 2, 3, 4].map((seq) => event(one, seq, { text: 'x'.repeat(1_000) }))
    for (const each of all) await appended(store, { ...batch(one, epoch, { after: each.seq - 1, count: 1 }), events: [each] })
    const read = async (after: number, limit: object): Promise<readonly number[]> =>
      (await store.journal.read(one, after, limit)).map(({ seq }) => seq)
    assert.deepEqual(await read(0, { bytes: 1 }), [1])
    assert.deepEqual(await read(1, { bytes: 2_000 }), [2, 3])
    assert.deepEqual(await read(0, { bytes: 1_000_000 }), [1, 2, 3, 4])
    assert.deepEqual(await read(0, { bytes: 1_000_000, events: 2 }), [1, 2])
    assert.deepEqual(await read(4, { bytes: 1 }), [])
    assert.deepEqual(await store.journal.read(one, 0, { bytes: 2_500 }), all.slice(0, 3))
  },
  async 'reads a part of a large batch, and all of it in order; a repeated one is the same'({ store, other }) {
    const { epoch } = await claimed(store, one)
    const all = Array.from({ length: 25 }, (_, index) => event(one, index + 1, { text: 'x'.repeat(100_000) }))
    const large = { ...batch(one, epoch, { after: 0, count: 1 }), events: all }
    await appended(store, large)
    await appended(store, large)
    assert.deepEqual(await other.journal.read(one, 0), all)
    assert.deepEqual(await other.journal.read(one, 11, 3), all.slice(11, 14))
    const page = await other.journal.read(one, 0, { bytes: 200_000 })
    assert.ok(page.length < 8, `${page.length} events`)
    assert.deepEqual(page, all.slice(0, page.length))
  },
  async 'stores the records of a batch with its events, once, and none of a refused one'({ store, other }) {
    const epoch = await createTree(store, one, 1)
    const record = { namespace: 'notes', key: 'a', due: 5, value: { text: oddText } }
    const next = { ...batch(one, epoch, { after: 1, count: 1 }), records: [record, { namespace: 'notes', key: 'b', value: 1 }] }
    await appended(store, next)
    assert.deepEqual(await other.records.list('notes'), [
      { key: 'a', due: 5, value: { text: oddText } },
      { key: 'b', value: 1 },
    ])
    await store.records.update('notes', 'a', () => undefined)
    await appended(store, next)
    assert.equal(await other.records.get('notes', 'a'), undefined)
    const refused = { ...batch(one, epoch, { after: 7, count: 1 }), records: [record] }
    assert.deepEqual(await store.journal.append(refused), { ok: false, refusal: 'seq' })
    assert.equal(await other.records.get('notes', 'a'), undefined)
  },
  async 'reads nothing of an unknown tree'({ store }) {
    assert.deepEqual(await store.journal.read(one, 0), [])
  },
  async 'refuses a wrong expectedSeq and stores nothing of that batch'({ store }) {
    const epoch = await createTree(store, one, 2)
    assert.deepEqual(await store.journal.append(batch(one, epoch, { after: 3, count: 2 })), { ok: false, refusal: 'seq' })
    const different = { ...batch(one, epoch, { after: 1, count: 2 }), events: [event(one, 2, { text: 'otherwise' }), event(one, 3)] }
    assert.deepEqual(await store.journal.append(different), { ok: false, refusal: 'seq' })
    assert.deepEqual(await store.journal.read(one, 0), events(one, 1, 2))
    await appended(store, batch(one, epoch, { after: 2, count: 1 }))
  },
  async 'refuses an append to a tree that was never claimed'({ store }) {
    assert.deepEqual(await store.journal.append(batch(one, 1, { after: 0, count: 1 })), { ok: false, refusal: 'missing' })
    assert.deepEqual(await store.journal.append(batch(one, 0, { after: 0, count: 1 })), { ok: false, refusal: 'missing' })
    assert.deepEqual(await store.journal.read(one, 0), [])
  },
  async 'takes appends to one tree in the order in which they were made, without waiting for answers'({ store }) {
    const { epoch } = await claimed(store, one)
    const answers = [0, 1, 2, 3, 4].map((after) => store.journal.append(batch(one, epoch, { after, count: 1 })))
    assert.deepEqual(await Promise.all(answers), Array(5).fill({ ok: true }))
    assert.deepEqual(await seqs(store, one), [1, 2, 3, 4, 5])
  },
  async 'lets no refused batch harm another one of the same tick'({ store }) {
    const good = ['good-1', 'good-2', 'good-3'] as TreeId[]
    const epochs = await Promise.all([...good, one, two].map(async (treeId) => (await claimed(store, treeId)).epoch))
    const epochOf = (index: number): number => epochs[index] ?? Number.NaN
    const answers = await Promise.all([
      store.journal.append(batch('good-1' as TreeId, epochOf(0), { after: 0, count: 2 })),
      store.journal.append(batch(one, epochOf(3), { after: 7, count: 2 })),
      store.journal.append(batch('good-2' as TreeId, epochOf(1), { after: 0, count: 2 })),
      store.journal.append(batch(two, epochOf(4) + 1, { after: 0, count: 2 })),
      store.journal.append(batch('nobody' as TreeId, 1, { after: 0, count: 2 })),
      store.journal.append(batch('good-3' as TreeId, epochOf(2), { after: 0, count: 2 })),
    ])
    assert.deepEqual(
      answers.map((answer) => (answer.ok ? 'ok' : answer.refusal)),
      ['ok', 'seq', 'ok', 'epoch', 'missing', 'ok'],
    )
    for (const treeId of good) assert.deepEqual(await store.journal.read(treeId, 0), events(treeId, 1, 2))
    for (const treeId of [one, two]) assert.deepEqual(await store.journal.read(treeId, 0), [])
  },
  async 'keeps hundreds of trees apart'({ store }) {
    const trees = Array.from({ length: 300 }, (_, index) => `tree-${index}` as TreeId)
    await Promise.all(
      trees.map(async (treeId) => {
        const epoch = await createTree(store, treeId, 2)
        await appended(store, batch(treeId, epoch, { after: 2, count: 1 }))
      }),
    )
    for (const treeId of trees) assert.deepEqual(await store.journal.read(treeId, 0), events(treeId, 1, 3))
  },
  async 'keeps any JSON: lone surrogates, odd keys, empty values, numbers at the edge'({ store, other }) {
    // Written as text, as in an object literal `__proto__` would be no key.
    const metadata = JSON.parse(
      '{"__proto__":{"polluted":true},"constructor":1,"":"empty key","\\ud800":"lone key","2":"b","1":"a","null":null,"deep":[[[[]]],{}],"numbers":[0,-1.5e-300,9007199254740991,1e308]}',
    ) as JsonObject
    const odd = event(one, 1, { text: oddText, metadata })
    const { epoch } = await claimed(store, one)
    await appended(store, { treeId: one, epoch, expectedSeq: 0, events: [odd] })
    assert.deepEqual(await other.journal.read(one, 0), [odd])
    assert.equal(({} as JsonObject).polluted, undefined)
  },
  async 'keeps very large strings'({ store, other }) {
    const large = event(one, 1, { text: 'large \u{1f3ad}'.repeat(1_000_000) })
    const { epoch } = await claimed(store, one)
    await appended(store, { treeId: one, epoch, expectedSeq: 0, events: [large, event(one, 2)] })
    assert.deepEqual(await other.journal.read(one, 0), [large, event(one, 2)])
    assert.deepEqual(await seqs(other, one, 1), [2])
  },
  async 'takes any string as the id of a tree'({ store }) {
    const ids = ['../../outside', 'a/b', 'A', 'a', '"quoted"', 'ünïcode', '\ud800', '\ud801', '\ufffd', '%', 'a'.repeat(500)] as TreeId[]
    for (const treeId of ids) {
      const { epoch, seq } = await claimed(store, treeId)
      assert.equal(seq, 0, `${treeId} was taken for another tree`)
      await appended(store, batch(treeId, epoch, { after: 0, count: 1 }))
    }
    for (const treeId of ids) assert.deepEqual(await store.journal.read(treeId, 0), events(treeId, 1, 1))
    const listed = (await store.trees.list()).map(({ treeId }) => treeId)
    assert.deepEqual(listed, ids.reverse())
  },
}

/** An append whose answer was lost is repeated; it must neither fail nor be stored twice. */
export const repeatCases: StoreCases = {
  async 'succeeds when the same events are stored already, and stores nothing'({ store }) {
    const { epoch } = await claimed(store, one)
    const first = {
      ...batch(one, epoch, { after: 0, count: 2 }),
      events: [event(one, 1, { text: oddText, metadata: { b: 1, a: 2, 1: 3 } }), event(one, 2)],
    }
    await appended(store, first)
    await appended(store, structuredClone(first))
    assert.deepEqual(await store.journal.read(one, 0), first.events)
  },
  async 'succeeds also when the journal has gone on since'({ store }) {
    const epoch = await createTree(store, one, 2)
    await appended(store, batch(one, epoch, { after: 2, count: 2 }))
    await appended(store, batch(one, epoch, { after: 0, count: 2 }))
    assert.deepEqual(await seqs(store, one), [1, 2, 3, 4])
  },
  async 'looks at the events, not at how they were divided'({ store }) {
    const epoch = await createTree(store, one, 3)
    await appended(store, batch(one, epoch, { after: 3, count: 1 }))
    await appended(store, batch(one, epoch, { after: 1, count: 3 }))
    assert.deepEqual(await seqs(store, one), [1, 2, 3, 4])
  },
  async 'succeeds in the same tick as the first'({ store }) {
    const { epoch } = await claimed(store, one)
    const again = batch(one, epoch, { after: 0, count: 2 })
    assert.deepEqual(await Promise.all([store.journal.append(again), store.journal.append(again)]), [{ ok: true }, { ok: true }])
    assert.deepEqual(await store.journal.read(one, 0), events(one, 1, 2))
  },
  async 'is refused when any event differs or is not there'({ store }) {
    const epoch = await createTree(store, one, 2)
    const changed = { ...batch(one, epoch, { after: 0, count: 2 }), events: [event(one, 1), event(one, 2, { text: 'otherwise' })] }
    assert.deepEqual(await store.journal.append(changed), { ok: false, refusal: 'seq' })
    assert.deepEqual(await store.journal.append(batch(one, epoch, { after: 0, count: 3 })), { ok: false, refusal: 'seq' })
    assert.deepEqual(await store.journal.read(one, 0), events(one, 1, 2))
  },
  async 'is refused under an old epoch, the same events or not'({ store, other }) {
    const epoch = await createTree(store, one, 2)
    await store.journal.release(one, epoch)
    await claimed(other, one, bob)
    assert.deepEqual(await store.journal.append(batch(one, epoch, { after: 0, count: 2 })), { ok: false, refusal: 'epoch' })
  },
}
