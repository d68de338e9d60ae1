import { sessionPlace, withSessions } from '../../../project/index.ts'
import { type AuditRecord, readAudit } from '../../../server/http/index.ts'
import { readRanges } from '../../arguments/read-ranges.ts'
import type { AuditInvocation } from '../../arguments/serve-invocations.ts'
import { columns, columnsOn, type Row } from '../../terminal/columns.ts'
import { exitCodes } from '../../terminal/exit-codes.ts'
import { printDocument, printNotice } from '../../terminal/print-messages.ts'
import { printable } from '../../terminal/printable.ts'
import type { Host } from '../../terminal/process-host.ts'

/** `troupe audit`: who answered requests, deleted sessions, created and revoked tokens. Oldest first. */
export async function auditCommand(invocation: AuditInvocation, host: Host): Promise<number> {
  const { since } = readRanges(invocation, host.now())
  const place = await sessionPlace(invocation, host)
  const entries = await withSessions<readonly AuditRecord[]>(place, [], ({ records }) =>
    readAudit(records, since === undefined ? {} : { after: new Date(since).toISOString() }),
  )
  if (invocation.output === 'json') await printDocument({ entries }, host)
  else if (entries.length === 0) await printNotice('No entries.', { host, display: invocation.display })
  else await host.stdout.lines(columns(entries.map(rowOf), { maxWidth: columnsOn(host.stdout) }))
  return exitCodes.done.code
}

function rowOf({ at, by, action, ...details }: AuditRecord): Row {
  const facts = Object.entries(details).map(([name, value]) => `${name} ${value}`)
  return [at, printable([by, action, ...facts].join(' · '))]
}
