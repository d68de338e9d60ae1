import { expect, it } from 'vitest'
import { quarantineAfterCrash } from './after-crash.ts'

const loaded = [
  { id: 'cli_channel', hash: 'c', isBundled: true },
  { id: 'mail', hash: 'm', isBundled: false },
]
const ranWell = { quarantined: [], lastGood: { cli_channel: 'c', mail: 'm' } }
const ids = (state: Parameters<typeof quarantineAfterCrash>[0], extension: string, signal: string, isBlocked = false) =>
  quarantineAfterCrash(state, {
    ...{ loaded, active: { extension, stage: 'import' }, now: 1 },
    end: { code: null, signal, isBlocked },
  }).map(({ id }) => id)

it.each(['cli_channel', 'mail'])('%s ran well, and somebody kills the process while its code runs: it stays', (extension) => {
  expect(ids(ranWell, extension, 'SIGKILL')).toEqual([])
})

it('a crash, a blocked process, and a new extension are another matter', () => {
  expect(ids(ranWell, 'mail', 'SIGSEGV')).toEqual(['mail'])
  expect(ids(ranWell, 'mail', 'SIGKILL', true)).toEqual(['mail'])
  expect(ids({ quarantined: [], lastGood: {} }, 'mail', 'SIGKILL')).toEqual(['mail'])
})
