// The scheduler.
//
// 1. A run is taken by moving the next time of its record: of several processes one takes it.
// 2. A task that was taken, but not handed over before a crash, is handed over again with the same id. A run of an extension is not repeated.
// 3. A schedule has one run at a time.
// 4. Times are those of the wall clock: after a sleep of the machine the next tick finds what was missed. If the clock goes back, the next
//    times are computed again, and a time that comes again is another run.
import type {
  Clock,
  Ids,
  MaybePromise,
  Recipient,
  Records,
  Schedule,
  ScheduledKind,
  ScheduledTask,
  Schedules,
} from '../../contracts/index.ts'
import { messageOf } from '../../util/message-of.ts'
import { plural } from '../../util/plural.ts'
import { kernelEvents } from '../bus/event-names.ts'
import { ended, guardSteps } from '../shared/background-work.ts'
import type { Bus, ReportDiagnostic, Scheduler } from '../shared/kernel-types.ts'
import type { Row } from '../shared/record-table.ts'
import { nextTime, scheduleError, scheduleProblem } from './cron-times.ts'
import { decideRun, isLate } from './missed-runs.ts'
import {
  claimRun,
  endRun,
  firstTime,
  followClock,
  runId,
  type ScheduleTable,
  type StoredSchedule,
  scheduleTable,
} from './stored-schedules.ts'

interface SchedulerOptions {
  readonly records: Records
  readonly clock: Clock
  readonly ids: Ids
  /** Sends a task to the orchestrator, or a reminder to the person. Resolves when it is stored. The same id again is ignored. */
  readonly fire: (task: FiredTask) => MaybePromise<void>
  readonly bus: Pick<Bus, 'publish'>
  readonly onDiagnostic: ReportDiagnostic
}

export interface FiredTask {
  /** The id of this run. */
  readonly id: string
  readonly kind: ScheduledKind
  /** Says so if it is late. */
  readonly text: string
  /** The extension that has added it. */
  readonly from: string
  readonly to?: Recipient
}

export interface RunningScheduler extends Scheduler {
  /** After the extensions have registered: schedules of those that are gone are removed. */
  start(): Promise<void>
  /** Waits for runs, up to five seconds. */
  stop(): Promise<void>
}

/** Other processes add tasks, and the wall clock may jump. */
const maxTickMs = 5_000
const maxTasks = 200

export const createScheduler = (options: SchedulerOptions): RunningScheduler => new StoredScheduler(options)

type Execute = Parameters<Scheduler['register']>[2]
type ScheduleRow = Row<StoredSchedule>

class StoredScheduler implements RunningScheduler {
  readonly #options: SchedulerOptions
  readonly #table: ScheduleTable
  readonly #registered = new Map<string, { readonly when: Schedule; readonly execute: Execute }>()
  readonly #guarded = guardSteps((reason) => this.#report('error', `Schedules cannot be read or written, and wait: ${reason}`))
  readonly #runs = new Map<string, Promise<void>>()
  #state: 'new' | 'running' | 'stopped' = 'new'
  /** The wall clock when the monotonic one began. A change is a jump. */
  #origin: number | undefined
  #cancelTick = (): void => {}

  constructor(options: SchedulerOptions) {
    this.#options = options
    this.#table = scheduleTable(options.records)
  }

  register(id: string, schedule: Schedule, execute: Execute): () => void {
    const problem = scheduleProblem(schedule)
    if (problem !== undefined) throw scheduleError(problem)
    const entry = { when: schedule, execute }
    this.#registered.set(id, entry)
    if (this.#state === 'running') void this.#guarded(() => this.#store(id, schedule)).then(() => this.#tickIn(0))
    return () => void (this.#registered.get(id) === entry && this.#registered.delete(id))
  }

  async start(): Promise<void> {
    for (const [id, { when }] of this.#registered) await this.#store(id, when)
    for await (const row of this.#table.rows()) {
      const { key, task, running } = row
      if (task === undefined && !this.#registered.has(key)) await this.#table.update(key, () => undefined)
      else if (running !== undefined && task !== undefined) this.#run(row, running)
      else if (running !== undefined) {
        await endRun(this.#table, key, running)
        await this.#missed(row, running, `The run of ${timeText(running)} was interrupted by a restart.`)
      }
    }
    this.#state = 'running'
    await this.#guarded(() => this.#tick())
  }

  async stop(): Promise<void> {
    this.#state = 'stopped'
    this.#cancelTick()
    await ended(this.#runs.values(), this.#options.clock)
  }

  schedulesOf(extension: string, by?: () => string | undefined): Schedules {
    const prefix = `${extension}/`
    return {
      add: (task) => this.#add(prefix, task, by?.()),
      list: async () => (await this.#table.list({ prefix })).map((row) => taskOf(row, prefix)),
      cancel: async (id) => (await this.#table.update(`${prefix}${id}`, () => undefined)) !== undefined,
    }
  }

  async #add(prefix: string, added: Parameters<Schedules['add']>[0], by?: string): Promise<ScheduledTask> {
    const { clock, ids } = this.#options
    const { id = ids.next(), task, when, to, kind = 'task' } = added
    const from = by !== undefined && prefix !== `${by}/` ? { by } : {}
    const more = { ...(kind === 'reminder' && { isReminder: true as const }), ...(to && { to }), ...from }
    const [now, key] = [clock.now(), `${prefix}${id}`]
    const row: ScheduleRow = { key, due: firstTime(added, now), since: now, task, when, ...more }
    if ((await this.#table.list({ prefix, limit: maxTasks })).length >= maxTasks)
      throw scheduleError({ place: 'schedules', message: `there are ${maxTasks} tasks already`, remedy: 'Cancel some of them.' })
    if ((await this.#table.update(row.key, (before) => before ?? row)) !== undefined)
      throw scheduleError({ place: 'id', message: `"${id}" exists already`, remedy: 'Cancel it first, or choose another id.' })
    this.#tickIn(0)
    return taskOf(row, prefix)
  }

  /** The next time stays if the schedule is the same. */
  async #store(id: string, when: Schedule): Promise<void> {
    const since = this.#options.clock.now()
    const due = nextTime(when, since)
    const isSame = ({ cron, timeZone }: Schedule): boolean => cron === when.cron && timeZone === when.timeZone
    await this.#table.update(id, (before) =>
      before && isSame(before.when as Schedule) ? before : { when, since, ...(due !== undefined && { due }) },
    )
  }

  #tickIn(ms: number): void {
    this.#cancelTick()
    if (this.#state === 'running') this.#cancelTick = this.#options.clock.after(ms, () => void this.#guarded(() => this.#tick()))
  }

  async #tick(): Promise<void> {
    const { clock } = this.#options
    this.#tickIn(maxTickMs)
    await this.#followClock()
    for (const row of await this.#table.list({ dueBefore: clock.now() + 1 }))
      if (this.#state === 'running' && (row.task !== undefined || this.#registered.has(row.key))) await this.#take(row)
    const soon = await this.#table.list({ dueBefore: clock.now() + maxTickMs })
    const waits = soon.map(({ due = 0 }) => due - clock.now()).filter((ms) => ms > 0)
    if (waits.length > 0) this.#tickIn(Math.min(...waits))
  }

  async #followClock(): Promise<void> {
    const { clock } = this.#options
    const origin = clock.now() - clock.monotonic()
    if (this.#origin === undefined || this.#origin - origin > maxTickMs)
      for await (const row of this.#table.rows()) await followClock(this.#table, row, clock.now())
    this.#origin = origin
  }

  async #take(row: ScheduleRow): Promise<void> {
    const { due = 0, key } = row
    const { at, missed, next } = decideRun(row, due, this.#options.clock.now())
    const isBusy = this.#runs.has(key)
    if (!(await claimRun(this.#table, row, { at: isBusy ? undefined : at, next, now: this.#options.clock.now() }))) return
    const then = next === undefined ? '' : ` The next run is at ${timeText(next)}.`
    if (missed > 0) await this.#missed(row, due, `It missed ${plural(missed, 'run')} since ${timeText(due)}.${then}`)
    if (at !== undefined && isBusy)
      await this.#missed(row, at, `The run of ${timeText(at)} was skipped: the one before it has not ended.${then}`)
    else if (at !== undefined) this.#run(row, at)
  }

  #run(row: ScheduleRow, at: number): void {
    this.#runs.set(
      row.key,
      this.#perform(row, at).finally(() => this.#runs.delete(row.key)),
    )
  }

  async #perform(row: ScheduleRow, at: number): Promise<void> {
    const { key, task, isReminder, to, by } = row
    const { clock, fire } = this.#options
    const kind = isReminder ? 'reminder' : 'task'
    try {
      if (task === undefined) await this.#registered.get(key)?.execute(at, runId(row, at))
      else {
        const note = isLate(at, clock.now()) ? `This ${kind} was due at ${timeText(at)}, and is late.\n` : ''
        await fire({ id: `schedule:${runId(row, at)}`, kind, text: `${note}${task}`, from: by ?? extensionOf(key), ...(to && { to }) })
      }
    } catch (error) {
      this.#report('error', `Schedule ${key}: the run of ${timeText(at)} failed: ${messageOf(error)}`)
    }
    await this.#guarded(() => endRun(this.#table, key, at))
  }

  async #missed(row: ScheduleRow, since: number, what: string): Promise<void> {
    const { key, task, isReminder, to, by = extensionOf(key) } = row
    const kind = isReminder ? 'reminder' : 'task'
    const text = task === undefined ? `Schedule ${key}: ${what}` : `Scheduled ${kind} "${task}" of ${by}: ${what}`
    this.#report('warn', text)
    const data = { schedule: key, text, since, ...(to && { to: { ...to } }) }
    await this.#options.bus.publish({ name: kernelEvents.scheduleMissed, source: 'kernel', data, id: `missed:${runId(row, since)}` })
  }

  #report(level: 'warn' | 'error', message: string): void {
    this.#options.onDiagnostic({ level, source: 'kernel:scheduler', message })
  }
}

const timeText = (at: number): string => new Date(at).toISOString()
const extensionOf = (key: string): string => key.slice(0, key.indexOf('/'))

const taskOf = ({ key, task = '', isReminder, when, to, due, running = 0, by }: ScheduleRow, prefix: string): ScheduledTask => ({
  id: key.slice(prefix.length),
  kind: isReminder ? 'reminder' : 'task',
  task,
  when,
  nextAt: due ?? running,
  ...(to && { to }),
  ...(by !== undefined && { by }),
})
