import { mkdtemp, realpath, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { createBus, projectRecords } from '../../src/kernel/index.ts'
import { openStore } from '../../src/stores/index.ts'
import { FakeClock, sequentialIds } from '../../src/testing/index.ts'
import { makeProject, troupeIn, variablesIn } from '../cli/in-process.ts'

let folder: string
const before = process.cwd()
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'troupe-events-'))
  await makeProject(folder)
})
afterAll(async () => {
  process.chdir(before)
  await rm(folder, { recursive: true })
})

const events = (...words: readonly string[]) => troupeIn(folder, ['events', ...words], variablesIn(folder))
const list = async (...words: readonly string[]) => JSON.parse((await events('list', '--json', ...words)).stdout).events

it('lists what happened, and has failed events delivered by a running kernel', async () => {
  expect(await events('list')).toMatchObject({ code: 0, stdout: '', stderr: expect.stringContaining('No events.') })
  expect(await events('retry', '--all')).toMatchObject({ code: 0, stderr: expect.stringContaining('No failed events.') })

  const store = await openStore(`sqlite:${join(folder, 'state', 'troupe')}`)
  const clock = new FakeClock(Date.now() - 3_600_000)
  const bus = createBus({
    records: projectRecords(store.records, await realpath(folder)),
    clock,
    ids: sequentialIds('e'),
    onDiagnostic: () => {},
  })
  let isBroken = true
  const got: unknown[] = []
  bus.subscribe({
    id: 'mailer',
    name: 'order',
    handle({ data }) {
      if (isBroken) throw new Error('no network')
      got.push(data)
    },
  })
  bus.start()
  try {
    await bus.publish({ name: 'order', data: { item: 'tea' }, source: 'shop', id: '1' })
    await bus.publish({ name: 'order', data: { item: 'milk' }, source: 'shop', id: '2' })
    await bus.publish({ name: 'seen', data: null, source: 'shop' })
    await clock.elapse(0)
    const text = (await events('list')).stdout
    expect(text).toMatch(/seen · from shop · delivered/)
    expect(text).toMatch(/order · from shop · waits for mailer \(1 attempt failed: no network\) · shop:1/)
    await clock.elapse(13 * 60_000)

    expect((await list()).map((each: { name: string; status: string }) => [each.name, each.status])).toEqual([
      ['seen', 'delivered'],
      ['order', 'failed'],
      ['order', 'failed'],
    ])
    expect(await list('--name', 'order', '--limit', '1')).toMatchObject([{ id: 'shop:2', data: { item: 'milk' } }])
    expect(await list('--dead')).toMatchObject([
      { id: 'shop:2', status: 'failed', subscribers: ['mailer'], attempts: 6, error: 'no network' },
      { id: 'shop:1', status: 'failed' },
    ])
    expect((await events('list', '--dead')).stdout).toMatch(
      /order · from shop · not delivered to mailer after 6 attempts · no network · shop:2/,
    )

    isBroken = false
    clock.jump(3_600_000)
    expect(await events('retry', 'shop:1')).toMatchObject({ code: 0, stderr: expect.stringContaining('1 event will be delivered again.') })
    await clock.elapse(2_000)
    expect(got).toEqual([{ item: 'tea' }])
    expect(JSON.parse((await events('retry', '--all', '--json')).stdout)).toMatchObject({ retried: ['shop:2'] })
    await clock.elapse(2_000)
    expect(got).toEqual([{ item: 'tea' }, { item: 'milk' }])
    expect(await list('--dead')).toEqual([])
    expect((await troupeIn(folder, ['audit'], variablesIn(folder))).stdout).toMatch(/event\.retry · event shop:1/)
  } finally {
    await bus.stop()
    await store.close()
  }
})

it.each([
  [['retry'], /The id of the event is missing/],
  [['retry', 'x', '--all'], /cannot be combined/],
  [['retry', 'x', '--name', 'y'], /cannot be combined/],
  [['retry', 'x'], /There is no failed event with the id "x"/],
  [['retry', '--all', '--limit', '3'], /belong to events list/],
  [['list', 'x'], /takes no argument/],
  [['list', '--all'], /belongs to events retry/],
  [['list', '--limit', 'many'], /--limit.*Expected a number from 1 to 999999, not "many"/s],
  [['show'], /Unknown action "show"/],
])('refuses %j', async (words, problem) => {
  const said = await events(...words)
  expect(said.code).toBe(2)
  expect(said.stderr).toMatch(problem)
})
