import { type Problem, type Store, TroupeError } from '../../../contracts/index.ts'
import { cancelSchedule, listSchedules, projectRecords, type ShownSchedule } from '../../../kernel/index.ts'
import { hasStore, type StorePlace, sessionPlace, withSessions, withStore } from '../../../project/index.ts'
import { knownNames } from '../../../util/nearest-names.ts'
import { oneLine } from '../../../util/one-line.ts'
import type { SchedulesInvocation } from '../../arguments/kernel-invocations.ts'
import { columns, columnsOn, type Row } from '../../terminal/columns.ts'
import { exitCodes } from '../../terminal/exit-codes.ts'
import { printDocument, printNotice } from '../../terminal/print-messages.ts'
import { printable } from '../../terminal/printable.ts'
import type { Host } from '../../terminal/process-host.ts'
import { auditAction } from '../audit/audit-action.ts'

/** `troupe schedules list|cancel`. A running kernel reads the same store. */
export async function schedulesCommand(invocation: SchedulesInvocation, host: Host): Promise<number> {
  const { action, ids } = invocation
  if (action === 'list' && ids.length > 0)
    throw new TroupeError('usage', `The command schedules list takes no argument, not "${ids[0]}".`, { remedy: 'Remove it.' })
  if (action === 'cancel' && ids.length === 0)
    throw new TroupeError('usage', 'The id of the schedule is missing.', { remedy: 'Write: troupe schedules cancel ID' })
  const place = await sessionPlace(invocation, host)
  await (action === 'list' ? list(invocation, place, host) : cancel(invocation, place, host))
  return exitCodes.done.code
}

const schedulesIn = ({ records }: Pick<Store, 'records'>): Promise<readonly ShownSchedule[]> =>
  listSchedules(projectRecords(records, process.cwd()))

async function list({ output, display }: SchedulesInvocation, place: StorePlace, host: Host): Promise<void> {
  const schedules = await withSessions<readonly ShownSchedule[]>(place, [], schedulesIn)
  if (output === 'json') await printDocument({ schedules: schedules.map(documentOf) }, host)
  else if (schedules.length === 0) await printNotice('Nothing is scheduled in this folder.', { host, display })
  else await host.stdout.lines(columns(schedules.map(rowOf), { maxWidth: columnsOn(host.stdout) }))
}

async function cancel({ ids, output, display }: SchedulesInvocation, place: StorePlace, host: Host): Promise<void> {
  if (!hasStore(place)) throw unknownSchedules(ids, [])
  const cancelled = await withStore(place, (store) => cancelIn(store, ids))
  if (output === 'json') return printDocument({ cancelled }, host)
  await printNotice(`Cancelled ${cancelled.join(', ')}.`, { host, display })
}

/** All of them, or none if one is wrong. */
async function cancelIn(store: Store, ids: readonly string[]): Promise<readonly string[]> {
  const known = await schedulesIn(store)
  const found = ids.flatMap((id) => find(id, known))
  if (found.length < ids.length)
    throw unknownSchedules(
      ids.filter((id) => find(id, known).length === 0),
      known,
    )
  const registered = found.filter(({ kind }) => kind === 'registered')
  if (registered.length > 0) throw notCancelled(registered)
  const cancelled = [...new Set(found.map(({ id }) => id))]
  for (const id of cancelled) {
    await cancelSchedule(projectRecords(store.records, process.cwd()), id)
    await auditAction(store, { action: 'schedule.cancel', schedule: id })
  }
  return cancelled
}

/** By its id, or by the part of it that the assistant shows. */
function find(id: string, known: readonly ShownSchedule[]): readonly ShownSchedule[] {
  const exact = known.filter((each) => each.id === id)
  const short = known.filter((each) => each.id === `${each.extension}/${id}`)
  return exact.length > 0 ? exact : short.length === 1 ? short : []
}

function unknownSchedules(ids: readonly string[], known: readonly ShownSchedule[]): TroupeError {
  const names = known.map(({ id }) => id)
  return wrongIds(
    ids.map((id) => ({
      place: id,
      message: `there is no schedule with this id in this folder`,
      remedy:
        names.length === 0 ? 'Nothing is scheduled here.' : `${knownNames(id, names.slice(0, 10), 'schedule')} List: troupe schedules list`,
    })),
  )
}

const notCancelled = (registered: readonly ShownSchedule[]): TroupeError =>
  wrongIds(
    registered.map(({ id, extension }) => ({
      place: id,
      message: 'this schedule is part of an extension, and cannot be cancelled alone',
      remedy: `Change the extension, or switch it off: troupe extensions disable ${extension}`,
    })),
  )

const wrongIds = (problems: readonly Problem[]): TroupeError => new TroupeError('usage', 'Nothing was cancelled.', { problems })

const timeOf = (at: number): string => new Date(at).toISOString()

function documentOf({ when, nextAt, ...schedule }: ShownSchedule) {
  return {
    ...schedule,
    when: 'at' in when ? { at: timeOf(when.at) } : when,
    ...(nextAt !== undefined && { nextAt: timeOf(nextAt) }),
  }
}

function rowOf({ id, kind, extension, text, when, nextAt, to, by }: ShownSchedule): Row {
  const facts = [
    kind === 'registered' ? `extension ${extension}` : kind,
    ...('cron' in when ? [`cron ${when.cron}${when.timeZone === undefined ? '' : ` (${when.timeZone})`}`] : []),
    ...(to ? [`to ${to.userId} on ${to.channel}`] : []),
    ...(by === undefined ? [] : [`added by ${by}`]),
    ...(text === undefined ? [] : [oneLine(text)]),
    id,
  ]
  return [nextAt === undefined ? 'never' : timeOf(nextAt), printable(facts.join(' · '))]
}
