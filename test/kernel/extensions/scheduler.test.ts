import { describe, expect, it } from 'vitest'
import { SchedulerExtension } from '../../../extensions/scheduler/main.ts'
import { parseTime, showTime } from '../../../extensions/scheduler/times.ts'
import type { JsonObject } from '../../../src/contracts/index.ts'
import { FakeClock } from '../../../src/testing/index.ts'
import { callTool, extensionContext } from '../extension-context.ts'

const berlin = 'Europe/Berlin'

function openScheduler() {
  const { context, recorded } = extensionContext({ clock: new FakeClock(Date.UTC(2026, 0, 5, 7, 0)) })
  const scheduler = new SchedulerExtension()
  scheduler.initialize(context)
  return { call: (name: string, input: JsonObject = {}) => callTool(scheduler.getTools(), name, input), scheduled: recorded.scheduled }
}

describe('tasks', () => {
  it.each<[JsonObject, object, string]>([
    [
      { at: '2026-01-05T09:30', time_zone: berlin },
      { at: Date.UTC(2026, 0, 5, 8, 30) },
      'once, Mon 2026-01-05 09:30 (Europe/Berlin): Call Bo',
    ],
    [
      { at: '2026-01-06T09:30:00+02:00', time_zone: 'UTC' },
      { at: Date.UTC(2026, 0, 6, 7, 30) },
      'once, Tue 2026-01-06 07:30 (UTC): Call Bo',
    ],
    [{ in_minutes: 1.5, time_zone: 'UTC' }, { at: Date.UTC(2026, 0, 5, 7, 1, 30) }, 'once, Mon 2026-01-05 07:01 (UTC): Call Bo'],
    [
      { cron: '0 8 * * 1-5', time_zone: berlin },
      { cron: '0 8 * * 1-5', timeZone: berlin },
      'cron `0 8 * * 1-5` (Europe/Berlin), next Mon 2026-01-05 08:01 (Europe/Berlin): Call Bo',
    ],
    [{ cron: '0 8 * * *' }, { cron: '0 8 * * *' }, 'cron `0 8 * * *`, next '],
  ])('are scheduled with %o', async (input, when, shown) => {
    const { call, scheduled } = openScheduler()
    expect(await call('add', { task: 'Call Bo', ...input })).toEqual({
      ok: true,
      content: expect.stringContaining(`Scheduled task-1: ${shown}`),
    })
    expect(scheduled).toMatchObject([{ task: 'Call Bo', when }])
  })

  it.each<[JsonObject, string]>([
    [{}, 'Set exactly one of at, in_minutes and cron. This call has none of them.'],
    [{ at: '2027-01-01T00:00', cron: '0 8 * * *' }, 'This call has at and cron.'],
    [{ at: '2026-01-05T07:00', time_zone: 'UTC' }, '2026-01-05T07:00 is in the past. Now it is Mon 2026-01-05 07:00 (UTC).'],
    [{ at: 'tomorrow' }, '"tomorrow" is not a date with a time. Expected a text such as 2027-03-01T09:00'],
    [{ at: '2026-02-30T09:00' }, 'is not a date with a time'],
    [{ at: '2026-02-03T25:00' }, 'is not a date with a time'],
    [{ at: '2027-01-01T00:00', time_zone: 'Berlin' }, '"Berlin" is not a time zone. Expected an IANA name'],
    [{ cron: 'daily' }, 'The cron expression "daily" is wrong.'],
  ])('with %o are refused', async (input, message) => {
    const { call, scheduled } = openScheduler()
    const output = await call('add', { task: 'Call Bo', ...input })
    expect(output).toMatchObject({ ok: false, error: { class: 'invalid_input', message: expect.stringContaining(message) } })
    expect(scheduled).toEqual([])
  })

  it('are listed, the next one first, and cancelled', async () => {
    const { call, scheduled } = openScheduler()
    expect(await call('list')).toEqual({ ok: true, content: 'Nothing is scheduled.' })
    await call('add', { task: 'Later', in_minutes: 20 })
    await call('add', { task: 'Sooner', in_minutes: 10 })
    expect(await call('list')).toMatchObject({ content: expect.stringMatching(/^task-2: .*Sooner\ntask-1: .*Later$/) })
    expect(await call('cancel', { id: 'task-1' })).toEqual({ ok: true, content: 'Cancelled task-1.' })
    expect(await call('cancel', { id: 'task-1' })).toMatchObject({ ok: false, error: { remedy: 'Call `list` to see the ids.' } })
    expect(scheduled.map(({ task }) => task)).toEqual(['Sooner'])
  })

  it('are work for the orchestrator; a reminder is a text for the person', async () => {
    const { call, scheduled } = openScheduler()
    expect(await call('remind', { reminder: 'Call Bo', in_minutes: 1, time_zone: 'UTC' })).toEqual({
      ok: true,
      content: 'Scheduled task-1: reminder: once, Mon 2026-01-05 07:01 (UTC): Call Bo',
    })
    await call('add', { task: 'Look', in_minutes: 2 })
    expect(scheduled.map(({ kind, task }) => [kind, task])).toEqual([
      ['reminder', 'Call Bo'],
      ['task', 'Look'],
    ])
  })

  it('have a clock', async () => {
    const { call } = openScheduler()
    expect(await call('current_time', { time_zone: berlin })).toEqual({ ok: true, content: 'Mon 2026-01-05 08:00 (Europe/Berlin)' })
    expect(await call('current_time', { time_zone: 'Mars' })).toMatchObject({ ok: false })
  })
})

describe('local times', () => {
  it.each([
    // The clocks go forward at 02:00 on March 29 and back at 03:00 on October 25.
    ['2026-03-29T01:59', '2026-03-29T00:59:00.000Z'],
    ['2026-03-29T03:00', '2026-03-29T01:00:00.000Z'],
    ['2026-10-25T01:59', '2026-10-24T23:59:00.000Z'],
    ['2026-10-25T03:00', '2026-10-25T02:00:00.000Z'],
    ['2026-07-01 12:00:05.250', '2026-07-01T10:00:05.250Z'],
  ])('%s in Berlin is %s', (local, utc) => {
    expect(new Date(parseTime(local, berlin)).toISOString()).toBe(utc)
  })

  it('are shown as they were given', () => {
    expect(showTime(parseTime('2026-07-01T00:00', 'America/New_York'), 'America/New_York')).toBe('Wed 2026-07-01 00:00 (America/New_York)')
  })
})
