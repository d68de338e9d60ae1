import { once } from 'node:events'
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { createServer as createHttpServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterAll } from 'vitest'
import { loadProject, ModelConnections } from '../../src/project/index.ts'
import { systemClock } from '../../src/runtime/index.ts'
import { createToken } from '../../src/server/http/index.ts'
import { createServer, type Server, type ServerLog } from '../../src/server/index.ts'

// A project on a real server, whose providers are a server of the test. The home folder is one of the test, too.

export const rightKey = 'sk-or-v1-right-0123456789'

export interface Provider {
  readonly url: string
  /** `METHOD PATH KEY` of each request. */
  readonly requests: readonly string[]
  /** The status of the next answers, whatever the key is. */
  status: number | undefined
}

/** Accepts keys with `right` in them. Speaks the chat completions of OpenAI. */
export async function provider(): Promise<Provider> {
  const requests: string[] = []
  const found = { url: '', requests, status: undefined as number | undefined }
  const http = createHttpServer((request, response) => {
    const { authorization = '', 'x-api-key': own = '', 'x-goog-api-key': google = '' } = request.headers
    const key = `${authorization.replace(/^Bearer /, '')}${own}${google}`
    requests.push(`${request.method} ${request.url} ${key}`)
    request.resume()
    const isRight = key.includes('right')
    const status = found.status ?? (isRight ? 200 : 401)
    if (request.method === 'GET' || status !== 200) {
      // As some providers do.
      return void response.writeHead(status).end(JSON.stringify({ data: [], error: { message: `Incorrect API key provided: ${key}` } }))
    }
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    const chunk = { id: 'x', object: 'chat.completion.chunk', model: 'm' }
    const chunks = [
      { choices: [{ index: 0, delta: { role: 'assistant', content: 'Connected.' } }] },
      { choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] },
      { choices: [], usage: { prompt_tokens: 5, completion_tokens: 5, total_tokens: 10 } },
    ]
    for (const each of chunks) response.write(`data: ${JSON.stringify({ ...chunk, ...each })}\n\n`)
    response.end('data: [DONE]\n\n')
  })
  http.listen(0, '127.0.0.1')
  await once(http, 'listening')
  afterAll(() => {
    http.closeAllConnections()
    http.close()
  })
  found.url = `http://127.0.0.1:${(http.address() as AddressInfo).port}/v1`
  return found
}

export interface ModelScene {
  readonly url: string
  readonly server: Server
  readonly provider: Provider
  readonly home: string
  /** The file for keys. */
  readonly keys: string
  /** Everything that the server said. */
  readonly said: readonly string[]
  /** With the local token unless another one is given. */
  fetch(path: string, options?: RequestInit & { readonly token?: string; readonly json?: unknown }): Promise<Response>
  connect(body: object): Promise<Response>
  /** Another token for everything. */
  readonly adminToken: string
  readKeys(): Promise<string>
}

interface ModelSceneOptions {
  readonly env?: { readonly [name: string]: string }
  /** Files below the home folder. */
  readonly files?: { readonly [path: string]: string }
  readonly models?: string
  /** Where it listens. Addresses that others can reach need a token, which is created. */
  readonly host?: string
  /** Further names of it. */
  readonly hosts?: readonly string[]
}

const names = ['anthropic', 'openai', 'google', 'openrouter'] as const

/** An agent whose model has no key, on a server that may be without one. */
export async function modelScene(options: ModelSceneOptions = {}): Promise<ModelScene> {
  const {
    env = {},
    files = {},
    models = 'openrouter/anthropic/claude-sonnet-5',
    host = '127.0.0.1',
    hosts = ['agents.example.com'],
  } = options
  const folder = await mkdtemp(join(tmpdir(), 'troupe-models-'))
  const [home, work] = [join(folder, 'home'), join(folder, 'work')]
  const put = async (path: string, text: string): Promise<void> => {
    await mkdir(dirname(path), { recursive: true })
    await writeFile(path, text)
  }
  const there = await provider()
  await put(join(work, 'clerk.ai'), `---\ndescription: Helps.\nusage: anything\nmodels: ${models}\n---\nHelp.\n`)
  await mkdir(home)
  for (const [path, text] of Object.entries(files)) await put(join(home, path), text)
  // Another file: the one for keys need not exist.
  const configFile = join(folder, 'config.json')
  await put(configFile, JSON.stringify({ providers: Object.fromEntries(names.map((name) => [name, { baseURL: there.url }])) }))
  const said: string[] = []
  const hear = (thing: unknown): void =>
    void said.push(thing instanceof Error ? `${thing.stack} ${JSON.stringify(thing)}` : JSON.stringify(thing))
  const log: ServerLog = { debug: hear, note: hear, warn: hear, failure: hear, access: hear }
  const nowhere = { OLLAMA_HOST: '127.0.0.1:9', LMSTUDIO_BASE_URL: 'http://127.0.0.1:9/v1', LLAMACPP_BASE_URL: 'http://127.0.0.1:9/v1' }
  const report = await loadProject({
    cwd: work,
    env: { HOME: home, XDG_STATE_HOME: join(folder, 'state'), ...nowhere, VLLM_BASE_URL: 'http://127.0.0.1:9/v1', ...env },
    configFile,
  })
  const project = await report.open({ serves: true, allowsMissingModels: true, otherModels: ['auto'] })
  const server = await createServer({ project, log, models: new ModelConnections(), settings: { hosts } })
  afterAll(async () => {
    await server.close({ drain: 0 })
    await rm(folder, { recursive: true, force: true, maxRetries: 5 })
  })
  const { records } = await project.openStore()
  const adminToken = await createToken(records, { name: 'boss', scopes: ['run', 'read', 'approve', 'admin'] }, { clock: systemClock })
  const { url } = await server.listen({ host, port: 0 })
  const keys = join(home, '.ai-agent', '.ai-agent.env')
  const scene: ModelScene = {
    ...{ url, server, provider: there, home, keys, said, adminToken },
    fetch: (path, { token = server.token.token, json, headers, ...init } = {}) =>
      fetch(`${url}${path}`, {
        ...(json !== undefined && { method: 'POST', body: JSON.stringify(json) }),
        ...init,
        headers: {
          authorization: `Bearer ${token}`,
          ...(json !== undefined && { 'content-type': 'application/json' }),
          ...(headers as Record<string, string>),
        },
      }),
    connect: (body) => scene.fetch('/v1/providers/key', { json: body }),
    readKeys: () => readFile(keys, 'utf8'),
  }
  return scene
}
