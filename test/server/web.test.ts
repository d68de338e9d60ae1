import { expect, onTestFinished, test } from 'vitest'
import { webRoutes } from '../../src/server/web/index.ts'
import { request } from './raw-request.ts'
import { type Served, type ServedOptions, serve } from './support.ts'
import { page, script, webFolder } from './web-folder.ts'

async function served(options: ServedOptions = {}): Promise<Served> {
  const folder = await webFolder()
  const opened = await serve({ routes: () => webRoutes(folder), ...options })
  onTestFinished(() => opened.close())
  return opened
}

test('the page needs no token, and shows no data without one', async () => {
  const { fetch } = await served()
  for (const path of ['/', '/assets/page-1.js']) expect((await fetch(path, { token: '' })).status).toBe(200)
  expect(await (await fetch('/', { token: '' })).text()).toBe(page)
  for (const path of ['/v1/status', '/v1/agents', '/v1/sessions', '/v1/extensions', '/v1/approvals', '/v1/watch'])
    expect([path, (await fetch(path, { token: '' })).status]).toEqual([path, 401])
})

test('the page allows nothing but its own files, and no text becomes HTML unsanitised', async () => {
  const { headers } = await (await served()).fetch('/')
  const names = ['content-security-policy', 'cross-origin-opener-policy', 'referrer-policy', 'x-content-type-options', 'cache-control']
  expect(Object.fromEntries(names.map((name) => [name, headers.get(name)]))).toEqual({
    'content-security-policy':
      "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' blob: data:; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types dompurify",
    'cross-origin-opener-policy': 'same-origin',
    'referrer-policy': 'no-referrer',
    'x-content-type-options': 'nosniff',
    'cache-control': 'no-cache',
  })
})

test('HEAD and conditional requests have no body; files with a hash in their name are kept', async () => {
  const { fetch } = await served()
  const head = await fetch('/', { method: 'HEAD' })
  expect([head.status, head.headers.get('content-type'), await head.text()]).toEqual([200, 'text/html; charset=utf-8', ''])
  const etag = head.headers.get('etag') ?? ''
  const again = await fetch('/', { headers: { 'if-none-match': etag } })
  expect([again.status, again.headers.get('etag'), await again.text()]).toEqual([304, etag, ''])
  expect((await fetch('/', { headers: { 'if-none-match': 'W/"other"' } })).status).toBe(200)
  expect((await fetch('/assets/page-1.js')).headers.get('cache-control')).toBe('public, max-age=31536000, immutable')
})

test('files are compressed for clients that accept it', async () => {
  const { url } = await served()
  const encoding = async (accepted: string) =>
    (await request(`${url}/assets/page-1.js`, { headers: { 'accept-encoding': accepted } })).headers['content-encoding']
  expect([await encoding('gzip, br'), await encoding('gzip;q=0'), await encoding('br')]).toEqual(['gzip', undefined, undefined])
  expect(await (await fetch(`${url}/assets/page-1.js`)).text()).toBe(script)
})

test('only files of the web chat are served', async () => {
  const { url } = await served()
  for (const path of [
    '/assets/none.js',
    '/assets/..%2Fsecret.txt',
    '/assets/../secret.txt',
    '/assets/page-1.js.gz',
    '/secret.txt',
    '/assets/',
  ])
    expect([path, (await request(`${url}${path}`)).status]).toEqual([path, 404])
})

test('the reference lists the page, not its files', async () => {
  const { fetch } = await served()
  const { paths } = (await (await fetch('/openapi.json')).json()) as { readonly paths: object }
  expect(Object.keys(paths)).toContain('/')
  expect(JSON.stringify(Object.keys(paths))).not.toContain('/assets')
  const reference = await (await fetch('/docs')).text()
  expect(reference).toContain('Web chat')
  expect(reference).not.toContain('/assets')
})

test('without a build, the page says how to make one', async () => {
  const { fetch } = await served({ routes: () => webRoutes('/nowhere') })
  const answer = await fetch('/', { token: '' })
  expect(answer.status).toBe(200)
  expect(await answer.text()).toContain('The web chat is not built. Run <code>npm run build</code>')
})

test('a page hears that agents, extensions or warnings have changed', async () => {
  const listeners = new Set<() => void>()
  let warnings: readonly string[] = []
  const { fetch } = await served({
    rest: {
      warnings: () => warnings,
      onChange(changed) {
        listeners.add(changed)
        return () => void listeners.delete(changed)
      },
    },
  })
  const status = async () => (await (await fetch('/v1/status')).json()) as { readonly warnings?: readonly string[] }
  expect(await status()).not.toHaveProperty('warnings')
  const leaving = new AbortController()
  const { body } = await fetch('/v1/watch', { signal: leaving.signal })
  const reader = body!.pipeThrough(new TextDecoderStream()).getReader()
  await expect.poll(() => listeners.size).toBe(1)
  warnings = ['Not reloaded: a.ai:2:1 unknown key']
  for (const changed of listeners) changed()
  let text = ''
  while (!text.includes('server.changed')) text += (await reader.read()).value
  expect(text).toContain('event: server.changed\ndata: {}\n\n')
  expect(await status()).toMatchObject({ warnings })
  leaving.abort()
  await expect.poll(() => listeners.size).toBe(0)
})

test('the model of the demonstration is chosen among those that were found, by an administrator', async () => {
  const offers = [{ model: 'ollama/tiny', from: 'Ollama on this machine' }]
  const demo = {
    model: 'recorded',
    offers,
    processId: 1,
    pullPlug() {},
    async choose(model: string) {
      demo.model = model
    },
  }
  const { fetch, token } = await served({ rest: { demo } })
  const choose = (model: string, as?: string) => fetch('/v1/demo/model', { json: { model }, ...(as !== undefined && { token: as }) })
  expect(await (await fetch('/v1/status')).json()).toMatchObject({ demo: { model: 'recorded', offers } })
  expect(await (await choose('ollama/tiny')).json()).toMatchObject({ version: '0.0.0', demo: { model: 'ollama/tiny', offers } })
  const refused = await choose('openai/gpt')
  expect([refused.status, await refused.json()]).toMatchObject([
    400,
    { error: { message: 'model: "openai/gpt" was not found here.', remedy: 'Choose one of: recorded, ollama/tiny.' } },
  ])
  expect((await choose('recorded', await token({ name: 'worker' }))).status).toBe(403)
  expect((await (await served()).fetch('/v1/demo/model', { json: { model: 'recorded' } })).status).toBe(404)
})
