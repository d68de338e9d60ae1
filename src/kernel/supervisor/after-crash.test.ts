import { expect, it } from 'vitest'
import { quarantineAfterCrash } from './after-crash.ts'

const loaded = [
  { id: 'cli_channel', hash: 'c', isBundled: true },
  { id: 'mail', hash: 'm', isBundled: false },
]
const ranWell = { quarantined: [], lastGood: { cli_channel: 'c', mail: 'm' } }
const found = (
  state: Parameters<typeof quarantineAfterCrash>[0],
  extension: string,
  { killedIn, ...end }: { signal: string; isBlocked?: boolean; killedIn?: string },
) =>
  quarantineAfterCrash(state, {
    ...{ loaded, active: { extension, stage: 'import' }, now: 1, killedIn },
    end: { code: null, isBlocked: false, ...end },
  })?.id

it.each(['cli_channel', 'mail'])('%s ran well, and somebody kills the process while its code runs: it stays', (extension) => {
  expect(found(ranWell, extension, { signal: 'SIGKILL', killedIn: extension })).toBeUndefined()
})

it('somebody kills the process while a new extension runs: it stays, unless that happens twice in a row', () => {
  const nothingRan = { quarantined: [], lastGood: {} }
  expect(found(nothingRan, 'mail', { signal: 'SIGKILL' })).toBeUndefined()
  expect(found(nothingRan, 'mail', { signal: 'SIGKILL', killedIn: 'other' })).toBeUndefined()
  expect(found(nothingRan, 'mail', { signal: 'SIGKILL', killedIn: 'mail' })).toBe('mail')
  expect(found(nothingRan, 'cli_channel', { signal: 'SIGKILL', killedIn: 'cli_channel' })).toBeUndefined()
})

it('a crash and a blocked process are evidence against the code that was running', () => {
  expect(found(ranWell, 'mail', { signal: 'SIGSEGV' })).toBe('mail')
  expect(found(ranWell, 'mail', { signal: 'SIGKILL', isBlocked: true })).toBe('mail')
})

it('a crash of Troupe itself, or without running code, is the fault of no extension', () => {
  const crash = { loaded, now: 1, end: { code: null, signal: 'SIGSEGV', isBlocked: false } }
  expect(quarantineAfterCrash({ quarantined: [], lastGood: {} }, crash)).toBeUndefined()
  const fault = { ...crash, active: { extension: 'mail', stage: 'invoke' }, fault: { reason: 'a bug' } }
  expect(quarantineAfterCrash({ quarantined: [], lastGood: {} }, fault)).toBeUndefined()
})
