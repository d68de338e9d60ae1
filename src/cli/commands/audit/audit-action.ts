import { localPrincipal, type Store } from '../../../contracts/index.ts'
import { randomIds, systemClock } from '../../../runtime/index.ts'
import type { AuditEntry } from '../../../server/http/index.ts'

/** Records what the user of this machine did on the command line. */
export async function auditAction({ records }: Pick<Store, 'records'>, entry: Omit<AuditEntry, 'by'>): Promise<void> {
  const { auditLog } = await import('../../../server/http/index.ts')
  await auditLog(records, { clock: systemClock, ids: randomIds })({ ...entry, by: localPrincipal.id } as AuditEntry)
}
