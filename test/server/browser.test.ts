import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { openBrowser } from '../browser.ts'
import { localToken, type Served, serve } from './support.ts'

// What a page in a real browser can do.

let browser: Browser
let served: Served
/** A page of another origin. */
const foreign = createServer((_, response) =>
  response.writeHead(200, { 'content-type': 'text/html' }).end('<!doctype html><title>other</title>'),
)
let origin: string

beforeAll(async () => {
  served = await serve()
  await new Promise<void>((resolve) => foreign.listen(0, '127.0.0.1', resolve))
  origin = `http://127.0.0.1:${(foreign.address() as AddressInfo).port}`
  browser = await openBrowser()
})
afterAll(async () => {
  await browser?.close()
  await served.close()
  await new Promise((resolve) => foreign.close(resolve))
})

test('a page of another origin reads nothing and starts nothing, even with the token', async () => {
  const page = await browser.newPage()
  await page.goto(origin)
  const results = await page.evaluate(
    async ({ url, token }) => {
      const attempt = async (path: string, init: RequestInit): Promise<string> => {
        try {
          const response = await fetch(`${url}${path}`, init)
          return `${response.type} ${response.status}`
        } catch (error) {
          return (error as Error).name
        }
      }
      const headers = { authorization: `Bearer ${token}` }
      const events = new EventSource(`${url}/v1/watch`)
      const stream = await new Promise<string>((resolve) => {
        events.onerror = () => resolve('error')
        events.onopen = () => resolve('open')
      })
      events.close()
      return [
        await attempt('/health', {}),
        await attempt('/v1/agents', { headers }),
        await attempt('/v1/echo?q=x', { headers }),
        await attempt('/v1/echo?q=x', { mode: 'no-cors' }),
        await attempt('/v1/echo', { method: 'POST', mode: 'no-cors', body: '{"input":"x"}' }),
        await attempt('/v1/echo', { method: 'POST', headers: { ...headers, 'content-type': 'application/json' }, body: '{"input":"x"}' }),
        stream,
      ]
    },
    { url: served.url, token: localToken },
  )
  expect(results).toEqual(['TypeError', 'TypeError', 'TypeError', 'opaque 0', 'opaque 0', 'TypeError', 'error'])
  expect(await served.runtime.sessions.list()).toEqual([])
  expect(served.log.every(({ status }) => status === 403 || status === 401)).toBe(true)
})

test('the reference page needs no script and loads nothing else', async () => {
  const page = await browser.newPage({ viewport: { width: 1280, height: 900 } })
  const requested: string[] = []
  page.on('request', (request) => requested.push(request.url()))
  const problems: string[] = []
  page.on('console', (message) => problems.push(message.text()))
  await page.goto(`${served.url}/docs`)
  expect(await page.locator('article').count()).toBe(served.routes.length)
  expect([requested, problems]).toEqual([[`${served.url}/docs`], []])
  if (process.env.TROUPE_PICTURES) await page.screenshot({ path: process.env.TROUPE_PICTURES })
})
