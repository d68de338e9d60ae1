import { Cron } from 'croner'
import { type Problem, type Schedule, TroupeError } from '../../contracts/index.ts'
import { messageOf } from '../../util/message-of.ts'
import { suggestion } from '../../util/nearest-names.ts'

const maxCount = 1_000
const example = 'Write it like `0 8 * * 1-5`: minute, hour, day of month, month, day of week. Six fields begin with the second.'

const patternOf = ({ cron, timeZone }: Schedule): Cron => new Cron(cron, { paused: true, ...(timeZone && { timezone: timeZone }) })

/** The first time after this one. A time that a change of the clock skips or repeats is there once, unless the hour or minute is a pattern. */
export const nextTime = (schedule: Schedule, after: number): number | undefined => patternOf(schedule).nextRun(new Date(after))?.getTime()

/** How many times there are from the first one to the last, both included. Counts up to 1,000. */
export function countTimes(schedule: Schedule, first: number, last: number): number {
  const pattern = patternOf(schedule)
  let count = 0
  for (let at: Date | null = new Date(first); at !== null && at.getTime() <= last && count < maxCount; at = pattern.nextRun(at)) count += 1
  return count
}

/** What is wrong with a schedule. */
export function scheduleProblem(schedule: Schedule): Problem | undefined {
  const { cron, timeZone } = schedule
  if (timeZone !== undefined && !isTimeZone(timeZone))
    return {
      place: 'timeZone',
      message: `expected an IANA time zone, not ${JSON.stringify(timeZone)}`,
      remedy: suggestion(String(timeZone), Intl.supportedValuesOf('timeZone')) ?? 'Write it like Europe/Berlin.',
    }
  const found = JSON.stringify(cron)
  const fields = typeof cron === 'string' ? cron.trim().split(/\s+/).length : 0
  if (fields !== 5 && fields !== 6) return { place: 'cron', message: `expected 5 or 6 fields, not ${found}`, remedy: example }
  try {
    if (nextTime(schedule, 0) !== undefined) return undefined
    return { place: 'cron', message: `no date matches ${found}`, remedy: 'Check the day and the month.' }
  } catch (error) {
    return {
      place: 'cron',
      message: `${found} is wrong: ${messageOf(error)
        .replace(/^CronPattern: /, '')
        .replace(/\.$/, '')}`,
      remedy: example,
    }
  }
}

/** Models see the message and nothing else: it says everything. */
export const scheduleError = (problem: Problem): TroupeError =>
  new TroupeError('usage', `The schedule is invalid: ${problem.place}: ${problem.message}. ${problem.remedy ?? ''}`, {
    problems: [problem],
  })

function isTimeZone(name: string): boolean {
  try {
    return new Intl.DateTimeFormat('en', { timeZone: name }) !== undefined
  } catch {
    return false
  }
}
