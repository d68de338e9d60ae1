import { expect, it, vi } from 'vitest'
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

/** A request of anybody. */
function request(body: string | ReadableStream) {
  const raw = new Request('http://test/channels/x/y', { method: 'POST', body, duplex: 'half' } as RequestInit)
  return { raw, url: new URL(raw.url), params: { name: 'ci' } } as unknown as Parameters<Route['handle']>[0]
}

it('handlers of extensions have the limit', async () => {
  let running = 0
  const [route] = channelRoutes({
    answerChannel() {
      running++
      return new Promise(() => {})
    },
  })
  for (let at = 1; at <= 256; at++) {
    void route?.handle(request('x'))
    await vi.waitFor(() => expect(running).toBe(at), { interval: 1 })
  }
  await expect(route?.handle(request('x'))).rejects.toMatchObject({ code: 'overloaded' })
})

it('bodies of webhooks have the limit', async () => {
  const hook = { name: 'ci', agent: 'a', input: 'x', credential: { kind: 'github', secret: 'a secret' } } satisfies IncomingWebhook
  const [route] = hookRoutes({ incoming: [hook] } as never)
  for (let at = 0; at < 256; at++) void route?.handle(request(new ReadableStream()))
  await expect(route?.handle(request(new ReadableStream()))).rejects.toMatchObject({ code: 'overloaded' })
})
