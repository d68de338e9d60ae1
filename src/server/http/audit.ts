import type { Clock, Ids, Json, Records } from '../../contracts/index.ts'

/** Who did what: approvals and administrative actions. */
export interface AuditEntry {
  /** The principal. */
  readonly by: string
  /** `approval.approve`, `session.delete`, `token.create`. */
  readonly action: string
  readonly sessionId?: string
  readonly [detail: string]: string | number | boolean | undefined
}

export interface AuditRecord extends AuditEntry {
  /** ISO 8601. */
  readonly at: string
}

const namespace = 'audit'

/** Entries are kept in the store, in order of time. */
export function auditLog(records: Records, { clock, ids }: { readonly clock: Pick<Clock, 'now'>; readonly ids: Ids }) {
  return async (entry: AuditEntry): Promise<void> => {
    const at = new Date(clock.now()).toISOString()
    await records.update(namespace, `${at}/${ids.next()}`, () => ({ value: { at, ...entry } as Json }))
  }
}

/** Oldest first. `after`: the time of the last entry that is known. */
export async function readAudit(records: Records, { after }: { readonly after?: string } = {}): Promise<readonly AuditRecord[]> {
  // `0` follows `/`: entries of that time are left out, too.
  const stored = await records.list(namespace, after === undefined ? {} : { after: `${after}0` })
  return stored.map(({ value }) => value as unknown as AuditRecord)
}
