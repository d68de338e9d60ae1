import type { AppendBatch, Json, NamespacedRecord, Records, Store, StoredRecord } from '../../contracts/index.ts'
import { projectScope } from '../setup/project-records.ts'
import { noticesOf, type SessionNotice } from './session-notices.ts'
import type { OutgoingWebhook } from './webhook-settings.ts'

// Deliveries in the store.
//
// 1. A delivery is stored in the commit of the event that it is about, and removed when the receiver has accepted it.
// 2. `due` is the time of the next attempt. A dead letter is removed then.
// 3. Keys begin with the webhook, and are in the order of time.

export interface StoredDelivery {
  readonly notice: SessionNotice
  readonly attempts: number
  /** Of the last attempt. */
  readonly error?: string
  /** It was given up. */
  readonly isDead?: true
}

export interface Delivery extends StoredDelivery {
  readonly key: string
  readonly webhook: string
  readonly due: number
}

/** Projects may share a data folder, and each has its own webhooks. */
const namespaceOf = (workspace: string): string => `webhook_delivery@${projectScope(workspace)}`

/** A store that adds the deliveries of events to their commit. */
export function withDeliveries(store: Store, webhooks: readonly OutgoingWebhook[], workspace: string): Store {
  if (webhooks.length === 0) return store
  const { journal } = store
  const added = (batch: AppendBatch): readonly NamespacedRecord[] =>
    noticesOf(batch).flatMap((notice) =>
      webhooks.filter(({ events }) => events.includes(notice.event)).map(({ name }) => deliveryRecord(name, notice, workspace)),
    )
  return {
    ...store,
    journal: {
      ...journal,
      append(batch) {
        const records = added(batch)
        return journal.append(records.length === 0 ? batch : { ...batch, records })
      },
    },
  }
}

const deliveryRecord = (webhook: string, notice: SessionNotice, workspace: string): NamespacedRecord => ({
  namespace: namespaceOf(workspace),
  key: `${webhook}/${notice.at.toString(36).padStart(9, '0')}-${notice.id}`,
  due: notice.at,
  value: { notice, attempts: 0 } satisfies StoredDelivery as unknown as Json,
})

type Change = (before: Delivery) => (StoredDelivery & { readonly due: number }) | undefined

/** The deliveries of one project. */
export interface DeliveryTable {
  /** In the order of the webhooks and of time. */
  list(options?: Parameters<Records['list']>[1]): Promise<readonly Delivery[]>
  /** Nothing happens if it is gone. */
  update(key: string, change: Change): Promise<void>
}

export function deliveryTable(records: Records, workspace: string): DeliveryTable {
  const namespace = namespaceOf(workspace)
  const deliveryOf = ({ key, due = 0, value }: StoredRecord): Delivery => ({
    ...(value as unknown as StoredDelivery),
    ...{ key, due, webhook: key.slice(0, key.indexOf('/')) },
  })
  return {
    list: async (options) => (await records.list(namespace, options)).map(deliveryOf),
    async update(key, change) {
      await records.update(namespace, key, (before) => {
        const changed = before && change(deliveryOf(before))
        if (!changed) return undefined
        const { notice, attempts, error, isDead, due } = changed
        const value = { notice, attempts, ...(error !== undefined && { error }), ...(isDead && { isDead }) }
        return { due, value: value as unknown as Json }
      })
    },
  }
}

/** Has dead letters delivered again: that of an id, or all. Resolves with the ids. A process of the project notices within seconds. */
export async function retryDeliveries(table: DeliveryTable, { id, now }: { readonly id: string | undefined; readonly now: number }) {
  const dead = (await table.list()).filter(({ isDead, notice }) => isDead && (id === undefined || notice.id === id))
  const again = (before: Delivery) => (before.isDead ? { notice: before.notice, attempts: 0, due: now } : before)
  for (const { key } of dead) await table.update(key, again)
  return [...new Set(dead.map(({ notice }) => notice.id))]
}
