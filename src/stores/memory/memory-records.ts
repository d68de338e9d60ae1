import {
  addOwnerUsage,
  type OwnerUsage,
  type OwnerUsages,
  type Records,
  type StoredRecord,
  type UsageCharge,
} from '../../contracts/index.ts'
import { checkRecordKey } from '../shared/record-keys.ts'
import type { MemoryTrees } from './memory-trees.ts'

/** Values are stored without a copy, like events. */
export function memoryRecords(store: Pick<MemoryTrees, 'checkOpen'>): Records {
  const namespaces = new Map<string, Map<string, StoredRecord>>()
  const recordsOf = (namespace: string): ReadonlyMap<string, StoredRecord> => {
    store.checkOpen()
    return namespaces.get(namespace) ?? new Map()
  }
  return {
    get: (namespace, key) => recordsOf(namespace).get(key),
    list(namespace, { prefix = '', after = '', dueBefore, limit } = {}) {
      const found = [...recordsOf(namespace).values()].filter(
        ({ key, due }) =>
          key.startsWith(prefix) && compareText(key, after) > 0 && (dueBefore === undefined || (due !== undefined && due < dueBefore)),
      )
      return found.sort((one, other) => compareText(one.key, other.key)).slice(0, limit)
    },
    update(namespace, key, change) {
      checkRecordKey(namespace, key)
      const changed = change(recordsOf(namespace).get(key))
      const records = namespaces.get(namespace) ?? new Map<string, StoredRecord>()
      namespaces.set(namespace, records)
      if (changed === undefined) {
        records.delete(key)
        return undefined
      }
      const { due, value } = changed
      const record: StoredRecord = { key, ...(due !== undefined && { due }), value }
      records.set(key, record)
      return record
    },
  }
}

/** By code points, as UTF-8 sorts. The order of JavaScript differs beyond the basic plane. */
function compareText(one: string, other: string): number {
  return Buffer.compare(Buffer.from(one), Buffer.from(other))
}

export interface MemoryUsages extends OwnerUsages {
  charge(charge: UsageCharge): void
}

export function memoryUsages(store: Pick<MemoryTrees, 'checkOpen'>): MemoryUsages {
  const usages = new Map<string, OwnerUsage>()
  const keyOf = (owner: string, period: string): string => JSON.stringify([period, owner])
  const current = (owner: string, period: string): OwnerUsage => usages.get(keyOf(owner, period)) ?? { tokens: 0, costUsd: 0 }
  return {
    get(owner, period) {
      store.checkOpen()
      return current(owner, period)
    },
    charge({ owner, period, ...used }) {
      usages.set(keyOf(owner, period), addOwnerUsage(current(owner, period), used))
    },
  }
}
