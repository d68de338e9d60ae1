import { expect, it } from 'vitest'
import type { AnyExtension, ExtensionContext } from '../../contracts/index.ts'
import { FakeClock } from '../../testing/index.ts'
import { foundExtension, testKernel } from '../loader/fixtures/test-kernel.ts'
import { ExtensionRoutes } from './extension-routes.ts'

/** Its `start` with its context. */
function starting(start: (context: ExtensionContext) => void): AnyExtension {
  let own: ExtensionContext
  return {
    initialize: (context) => {
      own = context
    },
    start: () => start(own),
  }
}

const at = (path: string): Request => new Request(`http://127.0.0.1${path}`)

it('rejects an answer that takes longer than ten seconds', async () => {
  const clock = new FakeClock()
  const routes = new ExtensionRoutes(clock)
  routes.attach({ url: 'http://127.0.0.1:3900' })
  const own = routes.of({ id: 'chat', folder: '/e/chat', run: (_, work) => work() })
  own.http?.route('/events', () => new Promise(() => {}))
  const answer = routes.answer(at('/channels/chat/events'))
  await clock.advance(10_000)
  await expect(answer).rejects.toThrow('`http /events` took longer than 10 s')
  await own.close()
  expect(() => own.http?.route('/more', () => new Response())).toThrow('stopped')
})

it('removes the addresses of an extension that fails, and only those', async () => {
  const routes = new ExtensionRoutes(new FakeClock())
  routes.attach({ url: 'http://127.0.0.1:3900' })
  const kernel = testKernel(
    [foundExtension('broken'), foundExtension('works'), foundExtension('untrusted', {}, { trusted: false })],
    {
      broken: starting(({ http }) => {
        http?.route('/a', () => new Response('broken'))
        throw new Error('no')
      }),
      works: starting(({ http }) => void http?.route('/a', () => new Response('works'))),
      untrusted: starting(({ http }) => {
        if (http) throw new Error('it has addresses')
      }),
    },
    { ports: { routes } },
  )
  await kernel.loader.load()
  await kernel.loader.start()
  routes.isReady = true
  expect(kernel.state()).toEqual({ broken: 'failed', works: 'running', untrusted: 'running' })
  expect(await routes.answer(at('/channels/broken/a'))).toBe(undefined)
  expect(await (await routes.answer(at('/channels/works/a')))?.text()).toBe('works')
  await kernel.loader.stop()
  expect(await routes.answer(at('/channels/works/a'))).toBe(undefined)
})
