import { TroupeError } from '../../contracts/index.ts'
import { type AuditRecord, readAudit } from '../../headends/server/index.ts'
import { sessionFolder, withSessions } from '../approvals/session-store.ts'
import { exitCodes } from '../host/exit-codes.ts'
import type { Host } from '../host/process-host.ts'
import type { AuditInvocation } from '../options/serve-invocations.ts'
import { parseAge } from '../sessions/retention.ts'
import { columns, columnsOn, type Row } from '../terminal/columns.ts'
import { printDocument, printNotice } from '../terminal/print-messages.ts'
import { printable } from '../terminal/printable.ts'

/** `troupe audit`: who answered requests, deleted sessions, created and revoked tokens. Oldest first. */
export async function auditCommand(invocation: AuditInvocation, host: Host): Promise<number> {
  const after = invocation.since === undefined ? undefined : sinceTime(invocation.since, host.now())
  const folder = await sessionFolder(invocation, host)
  const entries = await withSessions<readonly AuditRecord[]>(folder, [], ({ records }) =>
    readAudit(records, after === undefined ? {} : { after }),
  )
  if (invocation.output === 'json') await printDocument({ entries }, host)
  else if (entries.length === 0) await printNotice('No entries.', { host, display: invocation.display })
  else await host.stdout.lines(columns(entries.map(rowOf), { maxWidth: columnsOn(host.stdout) }))
  return exitCodes.done.code
}

/** A date, a time in ISO 8601, or an age. */
function sinceTime(written: string, now: number): string {
  const age = /[a-z]$/i.test(written) && !/[tz]/i.test(written) ? parseAge(written) : undefined
  const time = age === undefined ? (/^\d{4}-\d{2}-\d{2}/.test(written) ? Date.parse(written) : Number.NaN) : now - age
  if (Number.isFinite(time)) return new Date(time).toISOString()
  throw new TroupeError('usage', 'The command line is invalid.', {
    problems: [
      {
        place: '--since',
        message: `expected a time, not "${written}"`,
        remedy: 'Write it like --since 2026-11-17, --since 2026-11-17T08:00:00Z or --since 7d.',
      },
    ],
  })
}

function rowOf({ at, by, action, ...details }: AuditRecord): Row {
  const facts = Object.entries(details).map(([name, value]) => `${name} ${value}`)
  return [at, printable([by, action, ...facts].join(' · '))]
}
