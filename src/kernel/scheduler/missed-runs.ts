import type { ScheduledTask } from '../../contracts/index.ts'
import { countTimes, nextTime } from './cron-times.ts'

// What happens with runs whose time has passed.

/** A run that is this late was missed. A restart takes less. */
const graceMs = 60_000
/** A task that runs once is still useful. */
const maxLateMs = 24 * 3_600_000

export interface DueRun {
  /** `undefined`: too late for a run. */
  readonly at: number | undefined
  readonly missed: number
  /** `undefined`: there is no further time. */
  readonly next: number | undefined
}

export const isLate = (at: number, now: number): boolean => now - at > graceMs

/** What happens with a schedule that is due. */
export function decideRun({ when }: Pick<ScheduledTask, 'when'>, due: number, now: number): DueRun {
  if ('at' in when) return now - due <= maxLateMs ? { at: due, missed: 0, next: undefined } : { at: undefined, missed: 1, next: undefined }
  const count = countTimes(when, due, now)
  const next = nextTime(when, now)
  return isLate(due, now) ? { at: undefined, missed: count, next } : { at: due, missed: count - 1, next }
}
