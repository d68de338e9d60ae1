import { expect, it } from 'vitest'
import { FakeClock } from '../testing/index.ts'
import { watchExtensions } from './watch-extensions.ts'

const content = (id: string, hash: string, trusted = true) => ({ id, hash, trusted, permitted: trusted })

function watched(loaded: readonly ReturnType<typeof content>[]) {
  const clock = new FakeClock()
  const said: string[] = []
  const files = { now: loaded }
  const end = watchExtensions({
    ...{ clock, loaded },
    find: async () => files.now,
    onChange: (ids) => void said.push(`changed ${ids.join(' ')}`),
    onUntrusted: (id) => void said.push(`untrusted ${id}`),
  })
  return { clock, said, files, end }
}

it('reports what is new, changed or gone once it stays the same for a second', async () => {
  const { clock, said, files } = watched([content('a', '1'), content('b', '1'), content('c', '1')])
  await clock.elapse(5_000)
  files.now = [content('a', '2'), content('b', '1')]
  await clock.elapse(1_000)
  files.now = [content('a', '3'), content('b', '1'), content('d', '1')]
  await clock.elapse(1_000)
  expect(said).toEqual([])
  await clock.elapse(5_000)
  expect(said).toEqual(['changed a c d'])
  expect(clock.pending).toBe(0)
})

it('a changed one that was trusted waits for trust, and is reported once in each form', async () => {
  const { clock, said, files, end } = watched([content('a', '1')])
  files.now = [content('a', '2', false)]
  await clock.elapse(10_000)
  expect(said).toEqual(['untrusted a'])
  files.now = [content('a', '2')]
  await clock.elapse(2_000)
  expect(said).toEqual(['untrusted a', 'changed a'])
  end()
})
