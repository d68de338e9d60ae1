import { expect, test } from 'vitest'
import type { TroupeError } from '../../../contracts/index.ts'
import { tokenSettings } from './token-settings.ts'

const now = 1_000

test('flags become settings; scopes are run and read by default', () => {
  expect(tokenSettings({ name: 'ci' }, now)).toEqual({ name: 'ci', scopes: ['run', 'read'] })
  expect(
    tokenSettings(
      {
        ...{ name: 'ci', scopes: 'approve, run', agents: 'a, mail-*', budget: '2.5usd/day,1000tokens/day', rate: '60/minute,1000/day' },
        expires: '2d',
      },
      now,
    ),
  ).toEqual({
    ...{ name: 'ci', scopes: ['run', 'approve'], agents: ['a', 'mail-*'] },
    ...{ budget: { costUsdPerDay: 2.5, tokensPerDay: 1_000 }, rates: { requestsPerMinute: 60, requestsPerDay: 1_000 } },
    expiresAt: now + 2 * 86_400_000,
  })
})

test.each([
  [{ scopes: 'run,rum' }, '--scopes expected a list of scopes, not "rum"'],
  [{ scopes: ',' }, '--scopes expected a list of scopes, not ","'],
  [{ agents: '*x' }, '--agents expected names of agents, not "*x"'],
  [{ budget: '5' }, '--budget expected an amount a day in usd or tokens, not "5"'],
  [{ budget: '0usd/day' }, '--budget expected an amount a day in usd or tokens, not "0usd/day"'],
  [{ budget: '1.5tokens/day' }, '--budget expected an amount a day in usd or tokens, not "1.5tokens/day"'],
  [{ budget: '0.0000000001usd/day' }, '--budget expected whole nano-dollars, not "0.0000000001usd/day"'],
  [{ budget: '1.0000000001usd/day' }, '--budget expected whole nano-dollars, not "1.0000000001usd/day"'],
  [{ budget: '5usd/day,6usd/day' }, '--budget expected one amount in usd, found another: "6usd/day"'],
  [{ budget: '5token/day,1usd/day,5tokens/day' }, '--budget expected one amount in tokens, found another: "5tokens/day"'],
  [{ rate: '5/minute,6/minute' }, '--rate expected one number a minute, found another: "6/minute"'],
  [{ rate: '5/hour' }, '--rate expected a number of requests a minute or a day, not "5/hour"'],
  [{ expires: '90' }, '--expires expected how long it is valid, not "90"'],
  [{ expires: '0d' }, '--expires expected how long it is valid, not "0d"'],
])('%j is refused with what was expected', (flags, expected) => {
  const problems = problemsOf({ name: 'ci', ...flags })
  expect(problems.map(({ place, message }) => `${place} ${message}`)).toEqual([expected])
  expect(problems[0]?.remedy).toEqual(expect.any(String))
})

test('all problems are reported together', () => {
  expect(problemsOf({ scopes: 'x', rate: 'y' }).map(({ place }) => place)).toEqual(['--name', '--scopes', '--rate'])
})

function problemsOf(flags: Parameters<typeof tokenSettings>[0]): TroupeError['problems'] {
  try {
    tokenSettings(flags, now)
  } catch (error) {
    return (error as TroupeError).problems
  }
  return []
}
