import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, expect, it } from 'vitest'
import type { Records, Schedule } from '../../contracts/index.ts'
import { openStore } from '../../stores/index.ts'
import { FakeClock, gate, sequentialIds } from '../../testing/index.ts'
import type { KernelDiagnostic, Publication } from '../shared/kernel-types.ts'
import { createScheduler, type FiredTask, type RunningScheduler } from './create-scheduler.ts'

const closed: (() => Promise<void>)[] = []
afterEach(async () => {
  for (const close of closed.splice(0)) await close()
})

async function openRecords(kind: string): Promise<Records> {
  const folder = kind === 'sqlite' ? await mkdtemp(join(tmpdir(), 'troupe-scheduler-')) : undefined
  const store = await openStore(folder === undefined ? 'memory:' : `sqlite:${folder}`)
  closed.push(async () => {
    await store.close()
    if (folder !== undefined) await rm(folder, { recursive: true })
  })
  return store.records
}

async function setup({ from = '2026-01-01T00:00:00Z', kind = 'memory' } = {}) {
  const records = await openRecords(kind)
  const clock = new FakeClock(Date.parse(from))
  const ids = sequentialIds('t')
  const fired: (FiredTask & { readonly time: string })[] = []
  const diagnostics: KernelDiagnostic[] = []
  const published: Publication[] = []
  let failure: Error | undefined
  const create = (): RunningScheduler =>
    createScheduler({
      records,
      clock,
      ids,
      fire(task) {
        if (failure) throw failure
        fired.push({ ...task, time: time(clock.now()) })
      },
      bus: { publish: async (each) => void published.push(each) },
      onDiagnostic: (each) => diagnostics.push(each),
    })
  const messages = (): readonly string[] => diagnostics.map(({ message }) => message)
  const fail = (error: Error | undefined): void => {
    failure = error
  }
  return { records, clock, fired, published, messages, fail, create, scheduler: create() }
}

const time = (at: number): string => new Date(at).toISOString().replace('.000Z', 'Z')
const minute = 60_000
const hour = 60 * minute
const berlin = (cron: string): Schedule => ({ cron, timeZone: 'Europe/Berlin' })

it('sends tasks once or repeatedly, at their exact time', async () => {
  const { scheduler, clock, fired } = await setup()
  const schedules = scheduler.schedulesOf('scheduler')
  await scheduler.start()
  const to = { channel: 'cli', userId: 'ada' }
  const once = await schedules.add({ task: 'Call Bo', when: { at: clock.now() + 90_500 }, to })
  const daily = await schedules.add({ id: 'news', task: 'Read news', when: { cron: '30 7 * * *', timeZone: 'UTC' } })
  expect(once).toEqual({
    id: 't-1',
    kind: 'task',
    task: 'Call Bo',
    when: { at: Date.parse('2026-01-01T00:01:30.500Z') },
    to,
    nextAt: clock.now() + 90_500,
  })
  expect(await schedules.list()).toEqual([daily, once])
  await clock.elapse(32 * hour)
  expect(fired).toEqual([
    { id: `schedule:scheduler/t-1@${once.nextAt}`, kind: 'task', text: 'Call Bo', from: 'scheduler', to, time: '2026-01-01T00:01:30.500Z' },
    { id: `schedule:scheduler/news@${daily.nextAt}`, kind: 'task', text: 'Read news', from: 'scheduler', time: '2026-01-01T07:30:00Z' },
    {
      id: `schedule:scheduler/news@${daily.nextAt + 24 * hour}`,
      kind: 'task',
      text: 'Read news',
      from: 'scheduler',
      time: '2026-01-02T07:30:00Z',
    },
  ])
  expect((await schedules.list()).map(({ id }) => id)).toEqual(['news'])
  expect([await schedules.cancel('news'), await schedules.cancel('news')]).toEqual([true, false])
  await clock.elapse(48 * hour)
  expect(fired).toHaveLength(3)
})

it('shows an extension its own tasks only', async () => {
  const { scheduler, clock } = await setup()
  await scheduler.schedulesOf('one').add({ id: 'x', task: 'A', when: { at: clock.now() + 1 } })
  expect(await scheduler.schedulesOf('two').list()).toEqual([])
  expect(await scheduler.schedulesOf('two').cancel('x')).toBe(false)
  expect(await scheduler.schedulesOf('one').list()).toHaveLength(1)
})

it.each([
  ['30 2 * * *', '2026-03-28T12:00:00Z', ['2026-03-29T01:00:00Z', '2026-03-30T00:30:00Z']],
  ['30 2 * * *', '2026-10-24T12:00:00Z', ['2026-10-25T00:30:00Z', '2026-10-26T01:30:00Z']],
  ['0 8 * * *', '2026-03-28T12:00:00Z', ['2026-03-29T06:00:00Z', '2026-03-30T06:00:00Z']],
  ['0 8 * * *', '2026-10-24T12:00:00Z', ['2026-10-25T07:00:00Z', '2026-10-26T07:00:00Z']],
  ['0 0-3 * 3 0', '2026-03-28T22:00:00Z', ['2026-03-28T23:00:00Z', '2026-03-29T00:00:00Z', '2026-03-29T01:00:00Z']],
])('runs %s in Berlin from %s over a change of the clock', async (cron, from, expected) => {
  const { scheduler, clock } = await setup({ from })
  const runs: string[] = []
  scheduler.register('clock', berlin(cron), (at) => {
    expect(at).toBe(clock.now())
    runs.push(time(at))
  })
  await scheduler.start()
  await clock.elapse(44 * hour)
  expect(runs).toEqual(expected)
})

it.each(['memory', 'sqlite'])('runs once if two processes share a store: %s', async (kind) => {
  const { create, clock, fired } = await setup({ kind })
  const runs: string[] = []
  const both = [create(), create()]
  for (const each of both) {
    each.register('monitor', { cron: '*/5 * * * *' }, (at) => void runs.push(time(at)))
    await each.start()
  }
  await both[0]?.schedulesOf('scheduler').add({ task: 'Once', when: { at: clock.now() + 7 * minute } })
  await clock.elapse(15 * minute)
  expect(runs).toEqual(['2026-01-01T00:05:00Z', '2026-01-01T00:10:00Z', '2026-01-01T00:15:00Z'])
  expect(fired.map(({ text }) => text)).toEqual(['Once'])
})

it('reports runs that were missed while nothing ran, and does not repeat them', async () => {
  const { scheduler, create, clock, messages, published } = await setup()
  const runs: string[] = []
  const register = (to: RunningScheduler) =>
    to.register('monitor', { cron: '0 * * * *', timeZone: 'UTC' }, (at) => void runs.push(time(at)))
  register(scheduler)
  await scheduler.start()
  await scheduler.stop()
  await clock.elapse(3 * hour + 30 * minute)
  const next = create()
  register(next)
  await next.start()
  const text = 'Schedule monitor: It missed 3 runs since 2026-01-01T01:00:00.000Z. The next run is at 2026-01-01T04:00:00.000Z.'
  expect(messages()).toEqual([text])
  expect(published).toEqual([
    expect.objectContaining({ name: 'schedule_missed', data: { schedule: 'monitor', text, since: Date.parse('2026-01-01T01:00:00Z') } }),
  ])
  await clock.elapse(hour)
  expect(runs).toEqual(['2026-01-01T04:00:00Z'])
})

it('runs what became due during a restart, and finds what a sleeping machine missed', async () => {
  const { scheduler, create, clock, messages } = await setup({ from: '2026-01-01T00:59:50Z' })
  const runs: string[] = []
  const register = (to: RunningScheduler) =>
    to.register('monitor', { cron: '0 * * * *', timeZone: 'UTC' }, (at) => void runs.push(time(at)))
  register(scheduler)
  await scheduler.start()
  await scheduler.stop()
  await clock.elapse(30_000)
  const next = create()
  register(next)
  await next.start()
  expect(runs).toEqual(['2026-01-01T01:00:00Z'])
  clock.jump(5 * hour)
  await clock.elapse(5_000)
  expect(messages()).toEqual([expect.stringContaining('It missed 5 runs since 2026-01-01T02:00:00.000Z')])
})

const jumps = [-72, -4, 4, 72]

it.each(jumps)('a clock that jumps by %i h silences nothing while it runs: the next run is computed again', async (hours) => {
  const { scheduler, clock, fired } = await setup({ from: '2026-01-10T06:30:00Z' })
  const runs: string[] = []
  scheduler.register('monitor', { cron: '0 * * * *', timeZone: 'UTC' }, (_at, run) => void runs.push(run))
  await scheduler.schedulesOf('scheduler').add({ id: 'a', task: 'Call', when: { cron: '0 * * * *', timeZone: 'UTC' } })
  await scheduler.start()
  await clock.elapse(hour)
  clock.jump(hours * hour)
  await clock.elapse(hour)
  // The clock is set right again.
  clock.jump(-hours * hour)
  await clock.elapse(hour)
  expect(runs).toHaveLength(3)
  expect(fired).toHaveLength(3)
  // Whoever ignores ids that it knows must not ignore a time that comes again.
  expect(new Set([...runs, ...fired.map(({ id }) => id)]).size).toBe(6)
})

it.each(jumps)('a clock that jumps by %i h silences nothing over a restart', async (hours) => {
  const { scheduler, create, clock, fired } = await setup({ from: '2026-01-10T06:30:00Z' })
  const daily: Schedule = { cron: '0 * * * *', timeZone: 'UTC' }
  const runs: string[] = []
  scheduler.register('monitor', daily, (_at, run) => void runs.push(run))
  await scheduler.schedulesOf('scheduler').add({ id: 'a', task: 'Call', when: daily })
  await scheduler.start()
  await clock.elapse(hour)
  await scheduler.stop()
  clock.jump(hours * hour)
  const next = create()
  next.register('monitor', daily, (_at, run) => void runs.push(run))
  await next.start()
  await clock.elapse(hour)
  expect([runs.length, fired.length, new Set(runs).size]).toEqual([2, 2, 2])
})

it('a small correction of the clock repeats no run', async () => {
  const { scheduler, clock } = await setup({ from: '2026-01-10T06:59:00Z' })
  const runs: string[] = []
  scheduler.register('monitor', { cron: '0 * * * *', timeZone: 'UTC' }, (at) => void runs.push(time(at)))
  await scheduler.start()
  await clock.elapse(minute)
  clock.jump(-20_000)
  await clock.elapse(hour)
  clock.jump(-20_000)
  await clock.elapse(minute)
  expect(runs).toEqual(['2026-01-10T07:00:00Z', '2026-01-10T08:00:00Z'])
})

it('sends a task that is late up to a day, and says so; reports an older one', async () => {
  const { scheduler, create, clock, fired, messages } = await setup()
  const schedules = scheduler.schedulesOf('scheduler')
  await schedules.add({ task: 'Old', when: { at: clock.now() + hour } })
  await schedules.add({ task: 'Recent', when: { at: clock.now() + 20 * hour } })
  await clock.elapse(26 * hour)
  await create().start()
  await clock.elapse(0)
  expect(fired.map(({ text }) => text)).toEqual(['This task was due at 2026-01-01T20:00:00.000Z, and is late.\nRecent'])
  expect(messages()).toEqual(['Scheduled task "Old" of scheduler: It missed 1 run since 2026-01-01T01:00:00.000Z.'])
  expect(await schedules.list()).toEqual([])
})

it('hands over a task again after a crash with the same id; a run of an extension is reported as interrupted', async () => {
  const { create, clock, fired, messages, records } = await setup()
  const crashed = createScheduler({
    records,
    clock,
    ids: sequentialIds(),
    fire: () => new Promise(() => {}),
    bus: { publish: async () => {} },
    onDiagnostic: () => {},
  })
  const monitor: Schedule = { cron: '5 0 * * *', timeZone: 'UTC' }
  crashed.register('monitor', monitor, () => new Promise(() => {}))
  await crashed.schedulesOf('scheduler').add({ id: 'x', task: 'Call', when: { at: clock.now() + 5 * minute } })
  await crashed.start()
  await clock.elapse(5 * minute)
  expect(fired).toEqual([])
  const next = create()
  next.register('monitor', monitor, () => {
    throw new Error('must not run again')
  })
  await next.start()
  await clock.elapse(0)
  expect(fired.map(({ id }) => id)).toEqual([`schedule:scheduler/x@${Date.parse('2026-01-01T00:05:00Z')}`])
  expect(messages()).toEqual(['Schedule monitor: The run of 2026-01-01T00:05:00.000Z was interrupted by a restart.'])
  expect(await next.schedulesOf('scheduler').list()).toEqual([])
})

it('replaces a changed schedule, and removes those of extensions that are gone', async () => {
  const { scheduler, create, clock, records, messages } = await setup()
  scheduler.register('gone', { cron: '* * * * *' }, () => {})
  scheduler.register('changed:a', { cron: '0 * * * *' }, () => {})
  await scheduler.start()
  await scheduler.stop()
  await clock.elapse(10 * minute)
  const next = create()
  const runs: string[] = []
  next.register('changed:a', { cron: '*/15 * * * *' }, (at) => void runs.push(time(at)))
  await next.start()
  await clock.elapse(30 * minute)
  expect(runs).toEqual(['2026-01-01T00:15:00Z', '2026-01-01T00:30:00Z'])
  expect((await records.list('schedule')).map(({ key }) => key)).toEqual(['changed:a'])
  expect(messages()).toEqual([])
})

it('reports a failed run and goes on; skips a run while the one before it runs', async () => {
  const { scheduler, clock, messages, fail } = await setup()
  const hold = gate()
  let runs = 0
  await scheduler.start()
  const end = scheduler.register('slow', { cron: '*/10 * * * * *' }, async () => {
    runs += 1
    if (runs === 1) throw new Error('no network')
    await hold.promise
  })
  await clock.elapse(30_000)
  expect(runs).toBe(2)
  hold.open()
  await clock.elapse(10_000)
  expect(runs).toBe(3)
  end()
  await clock.elapse(minute)
  expect(runs).toBe(3)
  expect(messages()).toEqual([
    'Schedule slow: the run of 2026-01-01T00:00:10.000Z failed: no network',
    expect.stringMatching(/slow: The run of 2026-01-01T00:00:30.000Z was skipped: the one before it has not ended/),
  ])
  fail(new Error('closed'))
  await scheduler.schedulesOf('scheduler').add({ id: 'a', task: 'Call', when: { at: clock.now() + 1 } })
  await clock.elapse(1)
  expect(messages().at(-1)).toMatch(/scheduler\/a: .* failed: closed/)
})

it.each([
  [{ cron: '61 * * * *' }, /cron: "61 \* \* \* \*" is wrong: Invalid value for minute: 61\. Write it like `0 8 \* \* 1-5`/],
  [{ cron: '* * *' }, /cron: expected 5 or 6 fields, not "\* \* \*"\. Write it like/],
  [{ cron: '@daily' }, /cron: expected 5 or 6 fields/],
  [{ cron: '0 0 30 2 *' }, /cron: no date matches "0 0 30 2 \*"/],
  [{ cron: 5 as never }, /cron: expected 5 or 6 fields, not 5/],
  [{ cron: '0 8 * * *', timeZone: 'Europe/Berln' }, /timeZone: expected an IANA time zone, not "Europe\/Berln"\..*Europe\/Berlin/],
  [{ at: 5 }, /when\.at: 1970-01-01T00:00:00\.005Z is in the past\. Choose a time after 2026/],
  [{ at: Number.NaN }, /when\.at: expected milliseconds since 1970/],
])('refuses %j', async (when, problem) => {
  const { scheduler } = await setup()
  await expect(scheduler.schedulesOf('scheduler').add({ task: 'X', when })).rejects.toThrow(problem)
  if ('cron' in when) expect(() => scheduler.register('x', when, () => {})).toThrow(problem)
})

it('refuses empty tasks, wrong or known ids, and more than 200 tasks', async () => {
  const { scheduler, clock } = await setup()
  const { add } = scheduler.schedulesOf('scheduler')
  const when = { at: clock.now() + 1 }
  await expect(add({ task: ' ', when })).rejects.toThrow(/task: expected a text/)
  await expect(add({ id: 'a/b', task: 'X', when })).rejects.toThrow(/id: expected an id, not "a\/b"/)
  for (let i = 0; i < 200; i += 1) await add({ id: `n${i}`, task: 'X', when })
  await expect(add({ task: 'X', when })).rejects.toThrow(/there are 200 tasks already. Cancel some/)
  await scheduler.schedulesOf('scheduler').cancel('n1')
  await expect(add({ id: 'n7', task: 'X', when })).rejects.toThrow(/id: "n7" exists already/)
})

it('a task has the extension that added it with a tool of another one', async () => {
  const { scheduler, clock, fired } = await setup()
  await scheduler.start()
  const add = (by: string) => scheduler.schedulesOf('scheduler', () => by).add({ task: by, when: { at: clock.now() + hour } })
  expect(await add('guest')).toMatchObject({ by: 'guest' })
  expect(await add('scheduler')).not.toHaveProperty('by')
  expect((await scheduler.schedulesOf('scheduler').list()).map(({ task, by }) => [task, by])).toEqual([
    ['guest', 'guest'],
    ['scheduler', undefined],
  ])
  await clock.elapse(hour)
  expect(fired.map(({ from }) => from)).toEqual(['guest', 'scheduler'])
})
