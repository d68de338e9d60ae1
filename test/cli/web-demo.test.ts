import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { demoScene, isAlive } from '../web/demo-scene.ts'
import { modelServer } from './serve-scene.ts'
import { type Running, type Workbench, workbench } from './troupe.ts'

// `troupe demo --web` as it was built, in a process of its own. The only other server that it sees is one of the test.

interface Demo extends Running {
  readonly banner: string
  readonly url: string
  request(path: string, body?: object, headers?: { readonly [name: string]: string }): Promise<Response>
  read<Answer>(path: string, body?: object): Promise<Answer>
}

async function opened(running: Running): Promise<Demo> {
  let banner = ''
  running.process.stderr?.on('data', (text: string) => {
    banner += text
  })
  await Promise.race([running.says('Stop with Ctrl-C.'), running.ended])
  const [, url = '', token = ''] = /Web chat +(http:\S+)\/#token=(\S+)/.exec(banner) ?? []
  const request: Demo['request'] = (path, body, headers) =>
    fetch(`${url}${path}`, {
      headers: { authorization: `Bearer ${token}`, ...(body && { 'content-type': 'application/json' }), ...headers },
      ...(body && { method: 'POST', body: JSON.stringify(body) }),
    })
  return { ...running, banner, url, request, read: async (path, body) => (await (await request(path, body)).json()) as never }
}

let bench: Workbench
let demo: Demo
const model = 'ollama/tiny'
beforeAll(async () => {
  bench = await workbench()
  const address = await modelServer(({ last }) => ({ text: `The model has read: ${last}` }), ['nomic-embed-text', 'tiny'])
  const env = { OLLAMA_HOST: new URL(address).host }
  demo = await opened(bench.start(['demo', '--web', '--port', '0'], { env }))
})
afterAll(() => demo.process.kill('SIGKILL'))

/** Asks, and returns the answer. */
async function ask(agent: string, input: string): Promise<string> {
  return (await demo.read<{ readonly text: string }>(`/v1/${agent}`, { input })).text
}

test('it prints the address with the token, the model, the folders and how to stop', () => {
  expect(demo.banner).toMatch(/^Troupe: demonstration of the web chat\n +Web chat +http:\/\/127\.0\.0\.1:\d+\/#token=trp_local_[\w-]{32}\n/)
  expect(demo.banner.replaceAll(/\n {10,}/g, ' ')).toContain(
    `none: recorded answers, with real tools. Found: ${model} (Ollama on this machine)`,
  )
  expect(demo.banner).toContain(join(bench.folder, 'state', 'troupe-demo', 'workspace'))
  expect(demo.banner).toContain(join(bench.folder, 'state', 'troupe-demo', 'sessions'))
})

test('it serves the page', async () => {
  const answer = await fetch(`${demo.url}/`)
  expect([answer.status, answer.headers.get('content-type')]).toEqual([200, 'text/html; charset=utf-8'])
  expect(await answer.text()).toContain('<script type="module"')
})

describe('recorded answers', () => {
  test('sessions are there from the start', async () => {
    type List = { readonly sessions: readonly { readonly agent: string; readonly status: string; readonly cost: number }[] }
    const finished = async () =>
      (await demo.read<List>('/v1/sessions')).sessions.map(({ agent, status }) => `${agent} ${status}`).toSorted()
    await expect.poll(finished, { timeout: 30_000 }).toEqual(['engineer completed', 'researcher completed'])
  })

  test('another message gets none, to any agent', async () => {
    const answers = await Promise.all(
      [
        ['lead', 'Fix the failing test'],
        ['lead', 'Do the cart tests pass?'],
        ['estimator', 'Way to pay: shells'],
      ].map(([agent = '', input = '']) => ask(agent, input)),
    )
    for (const answer of answers) expect(answer).toMatch(/^Demo mode cannot answer that\. Connect a model \(paste a key or use Ollama\)/)
  })
})

describe('a model that was found', () => {
  interface Status {
    readonly models: readonly string[]
    readonly demo: { readonly model: string; readonly offers: readonly object[] }
  }

  test('answers for all agents from the next turn on, and recorded answers again afterwards', async () => {
    const before = await demo.read<Status>('/v1/status')
    expect(before).toMatchObject({ models: ['script/recorded.yaml', 'script/recorded-backup.yaml'], demo: { model: 'recorded' } })
    expect(before.demo.offers).toContainEqual({ model, from: 'Ollama on this machine' })
    const chosen = await demo.read<Status>('/v1/demo/model', { model })
    expect(chosen).toMatchObject({ models: [model], demo: { model } })
    const answers = await Promise.all(['lead', 'engineer'].map((agent) => ask(agent, 'Hello there')))
    expect(answers).toEqual(['The model has read: Hello there', 'The model has read: Hello there'])
    expect(await demo.read<Status>('/v1/demo/model', { model: 'recorded' })).toMatchObject({ demo: { model: 'recorded' } })
    expect(await ask('lead', 'Hello there')).toContain('Demo mode')
  })

  test('another one is refused', async () => {
    const refused = await demo.request('/v1/demo/model', { model: 'openai/gpt-5.4-mini' })
    expect(refused.status).toBe(400)
    expect(await refused.json()).toMatchObject({ error: { remedy: expect.stringContaining(model) } })
  })
})

test('Ctrl-C is its planned end; the next start takes the next free port and has the same sessions', async () => {
  const { sessions } = await demo.read<{ readonly sessions: readonly { readonly sessionId: string }[] }>('/v1/sessions')
  demo.process.kill('SIGINT')
  expect(await demo.ended).toMatchObject({ code: 0, stdout: '' })
  const root = join(import.meta.dirname, '../..')
  const [again, other] = await Promise.all([
    opened(bench.start(['demo', '--web'])),
    // `npm start`.
    opened(bench.start([], { binary: join(root, 'scripts/start.mjs'), cwd: root })),
  ])
  expect(new Set([again.url, other.url]).size).toBe(2)
  const list = await again.read<{ readonly sessions: readonly { readonly sessionId: string }[] }>('/v1/sessions')
  expect(list.sessions.map(({ sessionId }) => sessionId)).toEqual(sessions.map(({ sessionId }) => sessionId))
  expect((await fetch(`${other.url}/`)).status).toBe(200)
  expect(again.banner.replaceAll(/\n {10,}/g, ' ')).toContain('none: recorded answers, with real tools.')
  for (const each of [again, other]) each.process.kill('SIGTERM')
  expect(await again.ended).toMatchObject({ code: 0 })
  expect(await other.ended).toMatchObject({ code: 0 })
})

test('the server ends with its parent, however that ends', async () => {
  const [stopped, killed] = await Promise.all([demoScene(), demoScene()])
  const servers = await Promise.all([stopped.serverId(), killed.serverId()])
  expect(await stopped.end('SIGINT')).toBe(0)
  expect(isAlive(servers[0])).toBe(false)
  await killed.end('SIGKILL')
  await expect.poll(() => isAlive(servers[1]), { timeout: 20_000 }).toBe(false)
})

test('a port that is in use is reported, and a folder that cannot be created, too', async () => {
  const taken = await demoScene()
  const { port } = new URL(taken.url)
  const busy = bench.start(['demo', '--web', '--port', port])
  expect(await busy.ended).toMatchObject({ code: 2, stderr: expect.stringContaining(port) })
  const unwritable = bench.start(['demo', '--web', '--data-dir', '/dev/null/demo'])
  expect(await unwritable.ended).toMatchObject({ code: 2, stderr: expect.stringContaining('cannot be created') })
  await taken.end()
})
