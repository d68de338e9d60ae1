import { expect, it } from 'vitest'
import type { IncomingWebhook } from '../../project/index.ts'
import { channelRoutes } from '../channels/index.ts'
import { hookRoutes } from '../webhooks/index.ts'
import { openLimit } from './open-limit.ts'
import type { Route } from './route.ts'

it('work beyond the limit is refused, and what has ended makes room', async () => {
  const limited = openLimit()
  const { promise, resolve } = Promise.withResolvers<string>()
  const open = Array.from({ length: 256 }, () => limited(() => promise))
  await expect(limited(async () => 'more')).rejects.toMatchObject({ code: 'overloaded', options: { retryAfterSeconds: 1 } })
  resolve('done')
  await Promise.all(open)
  await expect(limited(() => Promise.reject(new Error('failed')))).rejects.toThrow('failed')
  expect(await limited(async () => 'more')).toBe('more')
})

const hook = { name: 'ci', agent: 'a', input: 'x', credential: { kind: 'github', secret: 'a secret' } } satisfies IncomingWebhook
it.each([
  ['addresses of extensions', channelRoutes({ answerChannel: () => new Promise(() => {}) })],
  ['bodies of webhooks', hookRoutes({ incoming: [hook] } as never)],
] as const)('requests of anybody have the limit: %s', async (_, [route]) => {
  const request = () => {
    const raw = new Request('http://test/channels/x/y', { method: 'POST', body: new ReadableStream(), duplex: 'half' } as RequestInit)
    return { raw, url: new URL(raw.url), params: { name: 'ci' } } as unknown as Parameters<Route['handle']>[0]
  }
  for (let at = 0; at < 256; at++) void route?.handle(request())
  await expect(route?.handle(request())).rejects.toMatchObject({ code: 'overloaded' })
})
