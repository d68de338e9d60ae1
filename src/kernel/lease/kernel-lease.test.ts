import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { expect, it } from 'vitest'
import { openStore } from '../../stores/index.ts'
import { FakeClock, sequentialIds } from '../../testing/index.ts'
import { acquireKernelLease, type LeaseOptions, takeKernelLease } from './kernel-lease.ts'

async function setup() {
  const { records } = await openStore('memory:')
  const clock = new FakeClock()
  const ids = sequentialIds()
  const lost: string[] = []
  const acquire = (options: Pick<LeaseOptions, 'holder' | 'supervisor'>) =>
    acquireKernelLease(records, { clock, ids, onLost: (holder) => lost.push(holder), ...options })
  const take = (holder: string) => takeKernelLease(records, { clock, ids, onLost: () => {}, holder })
  return { clock, acquire, take, lost, records }
}

it('has one holder, who renews it; the second one learns who has it', async () => {
  const { clock, acquire, lost } = await setup()
  const first = await acquire({ holder: 'process 1' })
  expect(first.ok).toBe(true)
  expect(await acquire({ holder: 'process 2' })).toEqual({ ok: false, holder: 'process 1', freeInMs: 6_000 })
  await clock.elapse(60_000)
  expect(await acquire({ holder: 'process 2' })).toMatchObject({ ok: false, holder: 'process 1' })
  if (first.ok) await first.lease.release()
  expect(await acquire({ holder: 'process 2' })).toMatchObject({ ok: true })
  await clock.elapse(10_000)
  expect(lost).toEqual([])
})

it('is free six seconds after a crash, and the old holder is told if it comes back', async () => {
  const { clock, acquire, lost } = await setup()
  await acquire({ holder: 'process 1' })
  // The process stands still: its timers do not fire, the time goes on.
  clock.jump(5_999)
  expect(await acquire({ holder: 'process 2' })).toEqual({ ok: false, holder: 'process 1', freeInMs: 1 })
  clock.jump(1)
  expect(await acquire({ holder: 'process 2' })).toMatchObject({ ok: true })
  await clock.elapse(10_000)
  expect(lost).toEqual(['process 2'])
})

it('passes to the next kernel of the same supervisor immediately', async () => {
  const { acquire } = await setup()
  await acquire({ holder: 'kernel 1', supervisor: 's1' })
  expect(await acquire({ holder: 'kernel 2', supervisor: 's2' })).toMatchObject({ ok: false })
  expect(await acquire({ holder: 'kernel 3', supervisor: 's1' })).toMatchObject({ ok: true })
  expect(await acquire({ holder: 'kernel 4' })).toMatchObject({ ok: false, holder: 'kernel 3' })
})

it('outlives a wall clock that goes back', async () => {
  const { clock, acquire } = await setup()
  await acquire({ holder: 'process 1' })
  clock.jump(-3_600_000)
  expect(await acquire({ holder: 'process 2' })).toMatchObject({ ok: true })
})

it('refuses to run beside a living kernel', async () => {
  const { clock, acquire, take } = await setup()
  await acquire({ holder: 'troupe up, process 1' })
  const refused = expect(take('process 2')).rejects.toThrow('The extensions of this project run already: troupe up, process 1.')
  await clock.elapse(6_000)
  await refused
})

it('takes over from a crashed kernel within six seconds', async () => {
  const { clock, take, records } = await setup()
  // Its timers never fire.
  await acquireKernelLease(records, { clock: new FakeClock(), ids: sequentialIds('dead'), holder: 'process 1', onLost: () => {} })
  let isTaken = false
  const taken = take('process 2').then(() => {
    isTaken = true
  })
  await clock.elapse(5_999)
  expect(isTaken).toBe(false)
  await clock.elapse(1)
  await taken
})

it('keeps the process alive while it waits', async () => {
  const script = `
    import { takeKernelLease } from './src/kernel/lease/kernel-lease.ts'
    import { systemClock } from './src/runtime/index.ts'
    import { openStore } from './src/stores/index.ts'
    const { records } = await openStore('memory:')
    await records.update('lease', 'kernel', () => ({ value: { id: 'x', holder: 'crashed', until: Date.now() + 200 } }))
    await takeKernelLease(records, { clock: systemClock, ids: { next: () => 'y' }, holder: 'next', onLost() {} })
    console.log('taken')`
  const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '-e', script])
  expect(stdout).toBe('taken\n')
})
