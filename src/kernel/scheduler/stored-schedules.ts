import type { Problem, Recipient, Records, ScheduledKind, ScheduledTask, Schedules } from '../../contracts/index.ts'
import { type RecordTable, type Row, recordTable } from '../shared/record-table.ts'
import { nextTime, scheduleError, scheduleProblem } from './cron-times.ts'
import type { DueRun } from './missed-runs.ts'

const maxTaskChars = 10_000

/** Keys: `EXTENSION` and `EXTENSION:ID` for what extensions register, `EXTENSION/ID` for tasks. */
export interface StoredSchedule {
  readonly when: ScheduledTask['when']
  /** Absent for what an extension registers. */
  readonly task?: string
  /** The text is for the person. */
  readonly isReminder?: true
  readonly to?: Recipient
  readonly by?: string
  /** The time of a run that has not ended. */
  readonly running?: number
  /** The wall clock when the next time was computed. */
  readonly since?: number
  /** How often the wall clock went back. The same time is then another run. */
  readonly repeats?: number
}
export type ScheduleTable = RecordTable<StoredSchedule>

export const scheduleTable = (records: Records): ScheduleTable => recordTable<StoredSchedule>(records, 'schedule')

/** Takes a run. `false` if another process was faster. */
export async function claimRun(
  table: ScheduleTable,
  { key, due }: Row<StoredSchedule>,
  { at, next, now }: Omit<DueRun, 'missed'> & { readonly now: number },
): Promise<boolean> {
  const before = await table.update(key, (stored) => {
    if (stored?.due !== due) return stored
    if (stored === undefined || (at === undefined && next === undefined)) return undefined
    const { due: _, ...schedule } = stored
    return { ...schedule, since: now, ...(next !== undefined && { due: next }), ...(at !== undefined && { running: at }) }
  })
  return before !== undefined && before.due === due
}

/** A small correction of the clock repeats nothing. */
const correctionMs = 60_000

/** Computes the next time again if the wall clock went back: it would be too far away. */
export async function followClock(table: ScheduleTable, { key, due, since = due, when }: Row<StoredSchedule>, now: number): Promise<void> {
  if (due === undefined || since === undefined || !('cron' in when) || since - now < correctionMs) return
  const next = nextTime(when, now)
  if (next !== undefined && next !== due)
    await table.update(key, (stored) =>
      stored?.due === due ? { ...stored, due: next, since: now, repeats: (stored.repeats ?? 0) + 1 } : stored,
    )
}

/** The id of a run, which is the same after a restart. */
export const runId = ({ key, repeats }: Row<StoredSchedule>, at: number): string =>
  `${key}@${at}${repeats === undefined ? '' : `.${repeats}`}`

/** A schedule, for people. `registered`: in a manifest or by code. */
export interface ShownSchedule extends Pick<StoredSchedule, 'when' | 'to' | 'by'> {
  readonly id: string
  readonly kind: ScheduledKind | 'registered'
  readonly extension: string
  readonly text?: string
  readonly nextAt?: number
}

/** The next one first. A kernel may run: it reads the same records. */
export async function listSchedules(records: Records): Promise<readonly ShownSchedule[]> {
  const shown: ShownSchedule[] = []
  for await (const row of scheduleTable(records).rows()) shown.push(shownSchedule(row))
  return shown.toSorted((a, b) => (a.nextAt ?? Number.POSITIVE_INFINITY) - (b.nextAt ?? Number.POSITIVE_INFINITY))
}

function shownSchedule({ key, due, running, task, isReminder, when, to, by }: Row<StoredSchedule>): ShownSchedule {
  const [extension = key] = key.split(/[/:]/)
  const nextAt = due ?? running
  return {
    ...{ id: key, extension, when },
    kind: task === undefined ? 'registered' : isReminder ? 'reminder' : 'task',
    ...(task !== undefined && { text: task }),
    ...(nextAt !== undefined && { nextAt }),
    ...(to && { to }),
    ...(by !== undefined && { by }),
  }
}

/** Cancels a reminder or a task. `false`: there is none any more. */
export const cancelSchedule = async (records: Records, id: string): Promise<boolean> =>
  (await scheduleTable(records).update(id, (stored) => (stored?.task === undefined ? stored : undefined)))?.task !== undefined

/** A run has ended. A schedule without a further time is removed. */
export async function endRun(table: ScheduleTable, key: string, at: number): Promise<void> {
  await table.update(key, (stored) => {
    if (stored?.running !== at) return stored
    const { running: _, ...schedule } = stored
    return schedule.due === undefined ? undefined : schedule
  })
}

/** The first time of a task. @throws if it is wrong. */
export function firstTime({ id, task, when }: Parameters<Schedules['add']>[0], now: number): number {
  const problem = taskProblem({ id, task }) ?? ('cron' in when ? scheduleProblem(when) : timeProblem(when.at, now))
  if (problem !== undefined) throw scheduleError(problem)
  return 'cron' in when ? (nextTime(when, now) ?? now) : when.at
}

function taskProblem({ id, task }: { readonly id?: string | undefined; readonly task: string }): Problem | undefined {
  if (id !== undefined && !/^[\w.-]{1,100}$/.test(id))
    return { place: 'id', message: `expected an id, not ${JSON.stringify(id)}`, remedy: 'Use up to 100 letters, digits and _ . -' }
  if (typeof task !== 'string' || task.trim() === '' || task.length > maxTaskChars)
    return { place: 'task', message: `expected a text of 1 to ${maxTaskChars} characters`, remedy: 'Say what to do.' }
  return undefined
}

function timeProblem(at: number, now: number): Problem | undefined {
  const isTime = typeof at === 'number' && !Number.isNaN(new Date(at).getTime())
  if (isTime && at > now) return undefined
  const message = isTime ? `${new Date(at).toISOString()} is in the past` : `expected milliseconds since 1970, not ${JSON.stringify(at)}`
  return { place: 'when.at', message, remedy: `Choose a time after ${new Date(now).toISOString()}.` }
}
