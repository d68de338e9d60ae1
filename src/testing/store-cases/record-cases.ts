import assert from 'node:assert/strict'
import type { JsonObject, Store, StoredRecord } from '../../contracts/index.ts'
import { appended, batch, bob, claimed, oddText, one, type StoreCases, two } from './sample-tree.ts'

const space = 'things'

async function put(store: Store, records: readonly StoredRecord[]): Promise<void> {
  for (const { key, ...rest } of records) await store.records.update(space, key, () => rest)
}

const keys = async (store: Store, options?: Parameters<Store['records']['list']>[1]): Promise<string> =>
  (await store.records.list(space, options)).map(({ key }) => key).join(' ')

const increment = (before: StoredRecord | undefined): { readonly value: number } => ({ value: Number(before?.value ?? 0) + 1 })

export const recordCases: StoreCases = {
  async 'keeps a document of any JSON by namespace and key'({ store, other }) {
    const value = JSON.parse('{"__proto__":1,"":[null,true,1.5,"\\ud800"],"deep":{"a":{}}}') as JsonObject
    const record = { key: 'a', due: 12.5, value: { ...value, text: oddText } }
    assert.deepEqual(await store.records.update(space, 'a', () => ({ due: 12.5, value: record.value })), record)
    assert.deepEqual(await other.records.get(space, 'a'), record)
    for (const [namespace, key] of [['other', 'a'] as const, [space, 'A'] as const, [space, ''] as const])
      assert.equal(await other.records.get(namespace, key), undefined)
    await other.records.update('other', 'a', () => ({ value: null }))
    assert.deepEqual(await store.records.get('other', 'a'), { key: 'a', value: null })
    assert.deepEqual(await store.records.get(space, 'a'), record)
  },
  async 'gives the record to the change, and removes it for undefined'({ store, other }) {
    const seen: unknown[] = []
    for (const next of [{ value: 1, due: 5 }, { value: 2 }, undefined, undefined, { value: 3 }])
      await (seen.length % 2 ? other : store).records.update(space, 'a', (before) => {
        seen.push(before)
        return next
      })
    assert.deepEqual(seen, [undefined, { key: 'a', due: 5, value: 1 }, { key: 'a', value: 2 }, undefined, undefined])
    assert.equal(await store.records.update(space, 'a', () => undefined), undefined)
    assert.deepEqual(await other.records.list(space), [])
  },
  async 'lists in the order of the keys, by prefix, after a key, by due time, up to a limit'({ store, other }) {
    await put(store, [
      { key: 'b/2', due: 300, value: 2 },
      { key: 'a', due: 100, value: 0 },
      { key: 'c', value: 0 },
      { key: 'b/10', due: 200, value: 10 },
      { key: 'b', value: 0 },
      { key: 'b/é', value: 0 },
      { key: 'b/\u{1f3ad}', due: 50, value: 0 },
      { key: 'b/\uff5e', value: 0 },
      { key: 'b%', value: 0 },
    ])
    const inB = 'b/10 b/2 b/é b/\uff5e b/\u{1f3ad}'
    assert.equal(await keys(other), `a b b% ${inB} c`)
    assert.equal(await keys(other, { prefix: 'b/' }), inB)
    assert.equal(await keys(other, { prefix: 'b', after: 'b' }), `b% ${inB}`)
    assert.equal(await keys(other, { prefix: 'b/', after: 'b/2', limit: 2 }), 'b/é b/\uff5e')
    assert.equal(await keys(other, { after: 'b/\uff5e' }), 'b/\u{1f3ad} c')
    assert.equal(await keys(other, { prefix: 'b/', after: 'c' }), '')
    assert.equal(await keys(other, { dueBefore: 200 }), 'a b/\u{1f3ad}')
    assert.equal(await keys(other, { dueBefore: 201, prefix: 'b', limit: 1 }), 'b/10')
    assert.equal(await keys(other, { dueBefore: 301, after: 'b/10' }), 'b/2 b/\u{1f3ad}')
    assert.equal(await keys(other, { dueBefore: Number.POSITIVE_INFINITY }), 'a b/10 b/2 b/\u{1f3ad}')
    assert.equal(await keys(other, { limit: 0 }), '')
    assert.deepEqual(await other.records.list(space, { after: 'b/10', limit: 1 }), [{ key: 'b/2', due: 300, value: 2 }])
    assert.deepEqual(await other.records.list('empty'), [])
  },
  async 'loses no change when many come together from several processes'({ store, other }) {
    await Promise.all(Array.from({ length: 60 }, (_, index) => (index % 2 ? store : other).records.update(space, 'count', increment)))
    assert.deepEqual(await store.records.get(space, 'count'), { key: 'count', value: 60 })
  },
  async 'passes an error of the change on, and neither it nor its neighbours suffer'({ store }) {
    await store.records.update(space, 'a', () => ({ value: 'as it was' }))
    const failure = new Error('not like that')
    const fails = async (): Promise<unknown> =>
      store.records.update(space, 'a', () => {
        throw failure
      })
    const [before, failed, after] = await Promise.allSettled([
      store.records.update(space, 'b', increment),
      fails(),
      store.records.update(space, 'b', increment),
    ])
    assert.deepEqual([before.status, after.status], ['fulfilled', 'fulfilled'])
    assert.equal(failed.status === 'rejected' && failed.reason, failure)
    assert.deepEqual(await store.records.list(space), [
      { key: 'a', value: 'as it was' },
      { key: 'b', value: 2 },
    ])
  },
  async 'refuses keys that databases cannot keep, and never finds one'({ store }) {
    await store.records.update(space, '\ufffd', () => ({ value: 1 }))
    for (const key of ['\ud800', 'a\0b', '']) {
      await assert.rejects(async () => store.records.update(space, key, () => ({ value: 2 })), { code: 'internal' })
      assert.equal(await store.records.get(space, key), undefined)
    }
  },
}

const day = '2026-11-17'

export const usageCases: StoreCases = {
  async 'adds up what batches charge, by owner and period'({ store, other }) {
    const charge = { owner: 'ann', period: day, tokens: 100, costUsd: 0.25 }
    const first = await claimed(store, one)
    const second = await claimed(other, two)
    assert.deepEqual(await store.usages.get('ann', day), { tokens: 0, costUsd: 0 })
    await appended(store, { ...batch(one, first.epoch, { after: 0, count: 2 }), charge })
    await appended(other, { ...batch(two, second.epoch, { after: 0, count: 1 }), charge: { ...charge, tokens: 7, costUsd: 0.5 } })
    await appended(store, batch(one, first.epoch, { after: 2, count: 1 }))
    await appended(store, { ...batch(one, first.epoch, { after: 3, count: 1 }), charge: { ...charge, period: '2026-11-18' } })
    await appended(store, { ...batch(one, first.epoch, { after: 4, count: 1 }), charge: { ...charge, owner: oddText } })
    assert.deepEqual(await other.usages.get('ann', day), { tokens: 107, costUsd: 0.75 })
    assert.deepEqual(await other.usages.get('ann', '2026-11-18'), { tokens: 100, costUsd: 0.25 })
    assert.deepEqual(await other.usages.get(oddText, day), { tokens: 100, costUsd: 0.25 })
    assert.deepEqual(await other.usages.get('bob', day), { tokens: 0, costUsd: 0 })
  },
  async 'charges a batch once, however often it is repeated, and a refused one never'({ store, other }) {
    const { epoch } = await claimed(store, one)
    const charged = { ...batch(one, epoch, { after: 0, count: 2 }), charge: { owner: 'ann', period: day, tokens: 10, costUsd: 1 } }
    await Promise.all([appended(store, charged), appended(store, charged)])
    await appended(store, structuredClone(charged))
    await appended(store, batch(one, epoch, { after: 2, count: 1 }))
    await appended(store, charged)
    assert.equal(
      (await store.journal.append({ ...charged, expectedSeq: 9, events: batch(one, epoch, { after: 9, count: 1 }).events })).ok,
      false,
    )
    await store.journal.release(one, epoch)
    await claimed(other, one, bob)
    assert.equal((await store.journal.append(charged)).ok, false)
    assert.deepEqual(await store.usages.get('ann', day), { tokens: 10, costUsd: 1 })
  },
  async 'keeps the usage of deleted trees'({ store }) {
    const { epoch } = await claimed(store, one)
    await appended(store, { ...batch(one, epoch, { after: 0, count: 1 }), charge: { owner: 'ann', period: day, tokens: 10, costUsd: 0 } })
    await store.journal.release(one, epoch)
    await store.trees.delete(one)
    assert.deepEqual(await store.usages.get('ann', day), { tokens: 10, costUsd: 0 })
  },
}
