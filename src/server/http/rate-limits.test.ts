import { expect, it } from 'vitest'
import { memoryStore } from '../../stores/memory/index.ts'
import { FakeClock } from '../../testing/index.ts'
import type { RateLimits } from './caller.ts'
import { countRequest } from './rate-limits.ts'

const second = 1000
const minute = 60 * second
const day = 24 * 60 * minute

function stage() {
  const clock = new FakeClock(Date.UTC(2026, 0, 1))
  const { records } = memoryStore()
  /** The seconds to wait, or `ok`. */
  const request = async (rates: RateLimits | undefined, id = 'token:ci') => {
    try {
      await countRequest({ principal: { id, kind: 'token', name: id }, scopes: ['run'], ...(rates && { rates }) }, { records, clock })
      return 'ok'
    } catch (error) {
      expect(error).toMatchObject({ kind: 'rate_limited', status: 429 })
      return (error as { options: { retryAfterSeconds: number } }).options.retryAfterSeconds
    }
  }
  return { clock, records, request }
}

it('counts each minute from its beginning', async () => {
  const { clock, request } = stage()
  const rates = { requestsPerMinute: 2 }
  clock.advance(50 * second)
  expect([await request(rates), await request(rates), await request(rates)]).toEqual(['ok', 'ok', 10])
  clock.advance(9 * second)
  expect(await request(rates)).toBe(1)
  clock.advance(second)
  expect([await request(rates), await request(rates), await request(rates)]).toEqual(['ok', 'ok', 60])
})

it('counts each day', async () => {
  const { clock, request } = stage()
  const rates = { requestsPerDay: 1 }
  expect([await request(rates), await request(rates)]).toEqual(['ok', 86_400])
  clock.advance(day)
  expect([await request(rates), await request(rates)]).toEqual(['ok', 86_400])
})

it('does not count requests that are refused by the other limit', async () => {
  const { clock, request } = stage()
  const rates = { requestsPerMinute: 1, requestsPerDay: 3 }
  for (let n = 0; n < 3; n++) {
    expect(await request(rates)).toBe('ok')
    for (let refused = 0; refused < 5; refused++) expect(await request(rates)).not.toBe('ok')
    clock.advance(minute)
  }
  expect(await request(rates)).toBe((day - 3 * minute) / second)
  expect(await request({ requestsPerMinute: 1 })).toBe('ok')
})

it('counts requests that arrive together', async () => {
  const { request } = stage()
  const results = await Promise.all(Array.from({ length: 20 }, () => request({ requestsPerMinute: 7 })))
  expect(results.filter((result) => result === 'ok')).toHaveLength(7)
})

it('counts each token for itself, and none without limits', async () => {
  const { records, request } = stage()
  expect([await request({ requestsPerDay: 1 }, 'token:a'), await request({ requestsPerDay: 1 }, 'token:b')]).toEqual(['ok', 'ok'])
  expect(await request(undefined, 'token:c')).toBe('ok')
  expect(await request({}, 'token:d')).toBe('ok')
  expect((await records.list('rate')).map(({ key }) => key)).toEqual(['token:a', 'token:b'])
})

it('refuses everything at a limit of 0', async () => {
  const { request } = stage()
  expect(await request({ requestsPerMinute: 0 })).toBe(60)
})

it('says when its counter is of no use any more', async () => {
  const { clock, records, request } = stage()
  await request({ requestsPerMinute: 5, requestsPerDay: 5 })
  expect((await records.get('rate', 'token:ci'))?.due).toBe(clock.now() + day)
})
