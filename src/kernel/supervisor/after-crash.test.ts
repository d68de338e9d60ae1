import { expect, it } from 'vitest'
import { quarantineAfterCrash } from './after-crash.ts'

const loaded = [
  { id: 'cli_channel', hash: 'c', isBundled: true },
  { id: 'mail', hash: 'm', isBundled: false },
]
const ranWell = { quarantined: [], lastGood: { cli_channel: 'c', mail: 'm' } }
const ids = (state: Parameters<typeof quarantineAfterCrash>[0], extension: string, end: { signal: string; isBlocked?: boolean }) =>
  quarantineAfterCrash(state, {
    ...{ loaded, active: { extension, stage: 'import' }, now: 1 },
    end: { code: null, isBlocked: false, ...end },
  }).map(({ id }) => id)

it.each(['cli_channel', 'mail'])('%s ran well, and somebody kills the process while its code runs: it stays', (extension) => {
  expect(ids(ranWell, extension, { signal: 'SIGKILL' })).toEqual([])
})

it('a crash, a blocked process, and a new extension are another matter', () => {
  expect(ids(ranWell, 'mail', { signal: 'SIGSEGV' })).toEqual(['mail'])
  expect(ids(ranWell, 'mail', { signal: 'SIGKILL', isBlocked: true })).toEqual(['mail'])
  expect(ids({ quarantined: [], lastGood: {} }, 'mail', { signal: 'SIGKILL' })).toEqual(['mail'])
})
