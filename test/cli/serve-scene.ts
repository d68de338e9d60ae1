import { once } from 'node:events'
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises'
import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { dirname, join } from 'node:path'
import { afterAll } from 'vitest'
import { type Ended, type Running, type Workbench, workbench } from './troupe.ts'

// `troupe serve` as it was built, in a process of its own. Its models are on a server of the test.

export interface ModelReply {
  readonly text?: string
  /** Pieces of text, after `text`. At a promise the model waits for it. */
  readonly pieces?: readonly (string | Promise<unknown>)[]
  /** Output tokens that the model reports. Default: 5. */
  readonly tokens?: number
  readonly call?: { readonly name: string; readonly input: object }
}
export interface ModelRequest {
  /** The prompt of the agent. */
  readonly system: string
  /** The last message. */
  readonly last: string
}

export interface Served {
  readonly url: string
  readonly token: string
  readonly process: Running['process']
  readonly ended: Promise<Ended>
  /** Standard error so far. */
  log(): string
  /** Does something, and waits until the log says this afterwards. */
  after(work: () => Promise<unknown>, text: string): Promise<void>
  /** With the local token unless another one is given. */
  fetch(path: string, options?: RequestInit & { readonly token?: string; readonly json?: unknown }): Promise<Response>
}

export interface ServeScene extends Workbench {
  /** What the model answers. Default: it repeats the last message. */
  reply: (request: ModelRequest) => ModelReply | Promise<ModelReply>
  /** Writes an agent file. */
  put(path: string, text: string): Promise<void>
  remove(path: string): Promise<void>
  /** `cwd`: a folder of the workbench. */
  serve(args?: readonly string[], start?: { readonly cwd?: string }): Promise<Served>
}

export const agentText = (prompt: string, more = ''): string =>
  `---\ndescription: A test\nusage: anything\nmodels: lab/model\n${more}---\n${prompt}\n`

export async function serveScene(): Promise<ServeScene> {
  const bench = await workbench()
  const put = async (path: string, text: string): Promise<void> => {
    await mkdir(dirname(join(bench.folder, path)), { recursive: true })
    await writeFile(join(bench.folder, path), text)
  }
  const scene: ServeScene = {
    ...bench,
    put,
    remove: (path) => rm(join(bench.folder, path)),
    reply: ({ last }) => ({ text: `You said: ${last}` }),
    async serve(args = [], { cwd = '' } = {}) {
      const running = bench.start(['serve', ...(args.includes('--port') ? [] : ['--port', '0']), ...args], {
        cwd: join(bench.folder, cwd),
      })
      const log = new Log(running)
      const line = await Promise.race([log.line('"msg":"listening"'), running.ended.then(({ stderr }) => stderr)])
      if (!line.includes('"listening"')) throw new Error(`troupe serve has ended: ${line}`)
      const { url, tokenFile } = JSON.parse(line) as { readonly url: string; readonly tokenFile: string }
      const local = (await readFile(tokenFile, 'utf8')).trim()
      return {
        url,
        token: local,
        process: running.process,
        ended: running.ended,
        log: () => log.text,
        async after(work, text) {
          const from = log.text.length
          await work()
          await log.line(text, from)
        },
        fetch(path, { token = local, json, headers, ...init } = {}) {
          return fetch(`${url}${path}`, {
            ...(json !== undefined && { method: 'POST', body: JSON.stringify(json) }),
            ...init,
            headers: {
              authorization: `Bearer ${token}`,
              ...(json !== undefined && { 'content-type': 'application/json' }),
              ...(headers as Record<string, string>),
            },
          })
        },
      }
    },
  }
  const address = await modelServer((request) => scene.reply(request))
  // The user's own configuration needs no trust.
  await put('.ai-agent/.ai-agent.json', JSON.stringify({ providers: { lab: { baseURL: address, apiKey: 'none-needed-here' } } }))
  return scene
}

/** Standard error of a process. */
class Log {
  text = ''
  readonly #listeners = new Set<() => void>()

  constructor({ process }: Running) {
    process.stderr?.on('data', (text: string) => {
      this.text += text
      for (const listener of this.#listeners) listener()
    })
  }

  /** The first complete line with this text. */
  line(text: string, from = 0): Promise<string> {
    return new Promise((resolve) => {
      const look = (): void => {
        const lines = this.text.slice(from).split('\n').slice(0, -1)
        const found = lines.find((line) => line.includes(text))
        if (found === undefined) return
        this.#listeners.delete(look)
        resolve(found)
      }
      this.#listeners.add(look)
      look()
    })
  }
}

/** Speaks the streaming chat completions of OpenAI. `models`: what it lists, if it lists them. */
export async function modelServer(
  reply: (request: ModelRequest) => ModelReply | Promise<ModelReply>,
  models: readonly string[] = [],
): Promise<string> {
  const server = createServer(async (request, response) => {
    // `auto` looks for models.
    if (request.method !== 'POST')
      return void response.writeHead(models.length > 0 ? 200 : 404).end(JSON.stringify({ data: models.map((id) => ({ id })) }))
    const { messages } = JSON.parse(await textOf(request)) as { messages: readonly { role: string; content: unknown }[] }
    const text = (content: unknown): string =>
      typeof content === 'string' ? content : ((content as { text?: string }[] | null) ?? []).map((part) => part.text ?? '').join('')
    const system = text(messages.find(({ role }) => role === 'system')?.content ?? '')
    const { text: said, pieces = [], call, tokens = 5 } = await reply({ system, last: text(messages.at(-1)?.content ?? '') })
    const delta = call
      ? { tool_calls: [{ index: 0, id: 'call_1', type: 'function', function: { name: call.name, arguments: JSON.stringify(call.input) } }] }
      : { content: said }
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    const write = (chunk: object): boolean =>
      response.write(`data: ${JSON.stringify({ id: 'x', object: 'chat.completion.chunk', model: 'm', ...chunk })}\n\n`)
    write({ choices: [{ index: 0, delta: { role: 'assistant', ...delta } }] })
    for (const piece of pieces)
      if (typeof piece === 'string') write({ choices: [{ index: 0, delta: { content: piece } }] })
      else await piece
    const chunks = [
      { choices: [{ index: 0, delta: {}, finish_reason: call ? 'tool_calls' : 'stop' }] },
      { choices: [], usage: { prompt_tokens: 5, completion_tokens: tokens, total_tokens: 5 + tokens } },
    ]
    for (const chunk of chunks) write(chunk)
    response.end('data: [DONE]\n\n')
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  afterAll(() => {
    server.closeAllConnections()
    server.close()
  })
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`
}

async function textOf(request: IncomingMessage): Promise<string> {
  let text = ''
  for await (const chunk of request.setEncoding('utf8')) text += chunk
  return text
}
