import { mkdtemp, realpath, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { projectRecords } from '../../src/kernel/index.ts'
import { createScheduler, type FiredTask } from '../../src/kernel/scheduler/create-scheduler.ts'
import { openStore } from '../../src/stores/index.ts'
import { FakeClock, sequentialIds } from '../../src/testing/index.ts'
import { makeProject, troupeIn, variablesIn } from '../cli/in-process.ts'

let folder: string
const before = process.cwd()
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'troupe-schedules-'))
  await makeProject(folder)
})
afterAll(async () => {
  process.chdir(before)
  await rm(folder, { recursive: true })
})

const schedules = (...words: readonly string[]) => troupeIn(folder, ['schedules', ...words], variablesIn(folder))
const minute = 60_000

it('lists what is scheduled and cancels it, while a kernel runs and while none does', async () => {
  expect(await schedules('list')).toMatchObject({ code: 0, stdout: '', stderr: expect.stringContaining('Nothing is scheduled') })
  expect(await schedules('cancel', 'x')).toMatchObject({ code: 2, stderr: expect.stringContaining('Nothing is scheduled here.') })

  const store = await openStore(`sqlite:${join(folder, 'state', 'troupe')}`)
  const clock = new FakeClock(Date.UTC(2030, 0, 1))
  const fired: FiredTask[] = []
  const running = createScheduler({
    records: projectRecords(store.records, await realpath(folder)),
    clock,
    ids: sequentialIds('s'),
    fire: (task) => void fired.push(task),
    bus: { publish: async () => {} },
    onDiagnostic: () => {},
  })
  running.register('monitor', { cron: '0 8 * * *', timeZone: 'UTC' }, () => {})
  await running.start()
  try {
    const { add } = running.schedulesOf('scheduler')
    const to = { channel: 'cli_channel', userId: 'local' }
    await add({ kind: 'reminder', task: 'Call\nBo', when: { at: clock.now() + 5 * minute }, to })
    await add({ task: 'Read the news', when: { at: clock.now() + 6 * minute } })
    await add({ task: 'Water', when: { cron: '0 9 * * *', timeZone: 'UTC' } })

    expect((await schedules('list')).stdout.split('\n').map((line) => line.trimStart().replace(/ {2,}/, ' | '))).toEqual([
      '2030-01-01T00:05:00.000Z | reminder · to local on cli_channel · Call Bo · scheduler/s-1',
      '2030-01-01T00:06:00.000Z | task · Read the news · scheduler/s-2',
      '2030-01-01T08:00:00.000Z | extension monitor · cron 0 8 * * * (UTC) · monitor',
      '2030-01-01T09:00:00.000Z | task · cron 0 9 * * * (UTC) · Water · scheduler/s-3',
      '',
    ])
    expect(JSON.parse((await schedules('list', '--json')).stdout).schedules[0]).toEqual({
      id: 'scheduler/s-1',
      extension: 'scheduler',
      kind: 'reminder',
      text: 'Call\nBo',
      when: { at: '2030-01-01T00:05:00.000Z' },
      nextAt: '2030-01-01T00:05:00.000Z',
      to,
    })

    // All or nothing.
    const refused = await schedules('cancel', 's-2', 'scheduler/s-9', '--json')
    expect(refused.code).toBe(2)
    expect(refused.stdout).toContain('there is no schedule with this id')
    const registered = await schedules('cancel', 's-2', 'monitor')
    expect(registered).toMatchObject({ code: 2, stderr: expect.stringMatching(/part of an extension.*troupe extensions disable monitor/s) })
    expect(JSON.parse((await schedules('list', '--json')).stdout).schedules).toHaveLength(4)

    expect(await schedules('cancel', 's-2')).toMatchObject({ code: 0, stderr: expect.stringContaining('Cancelled scheduler/s-2.') })
    await clock.elapse(10 * minute)
    expect(fired.map(({ text }) => text)).toEqual(['Call\nBo'])
  } finally {
    await running.stop()
    await store.close()
  }
  expect(JSON.parse((await schedules('cancel', 'scheduler/s-3', '--json')).stdout)).toMatchObject({ cancelled: ['scheduler/s-3'] })
  expect(JSON.parse((await schedules('list', '--json')).stdout).schedules).toMatchObject([{ id: 'monitor' }])
  expect((await troupeIn(folder, ['audit'], variablesIn(folder))).stdout).toMatch(/schedule\.cancel · schedule scheduler\/s-2/)
})

it.each([
  [['cancel'], /The id of the schedule is missing/],
  [['list', 'x'], /takes no argument/],
  [['show'], /Unknown action "show"/],
])('refuses %j', async (words, problem) => {
  const said = await schedules(...words)
  expect(said.code).toBe(2)
  expect(said.stderr).toMatch(problem)
})
