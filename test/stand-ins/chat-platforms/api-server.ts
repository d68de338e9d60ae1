// The server of a stand-in for a chat platform, on loopback. It records what the bot asks for, and fails as platforms do: it limits
// rates, holds answers back, and is down. Nothing here knows a platform.
import { once } from 'node:events'
import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Duplex } from 'node:stream'
import { Growing } from '../../growing.ts'

// biome-ignore lint/suspicious/noExplicitAny: requests are read as the platforms describe them, without their types
export type Fields = { readonly [name: string]: any }

/** A request of the bot. */
export interface ApiRequest {
  /** As the platform names it, such as `chat.postMessage` or `POST /channels/1/messages`. */
  readonly method: string
  readonly input: Fields
}

export interface ApiCall extends ApiRequest {
  /** By the clock of `performance.now()`. */
  readonly at: number
  readonly status: number
}

export interface ApiAnswer {
  readonly status?: number
  readonly headers?: { readonly [name: string]: string }
  readonly body?: unknown
}

export interface HttpRequest {
  readonly verb: string
  readonly path: string
  readonly query: URLSearchParams
  readonly headers: IncomingMessage['headers']
  readonly body: Buffer
}

export interface Platform {
  read(request: HttpRequest): ApiRequest | Promise<ApiRequest>
  answer(request: ApiRequest): ApiAnswer | Promise<ApiAnswer>
  /** What the platform answers to a request above its rate. */
  limited(seconds: number): ApiAnswer
  upgrade?(request: IncomingMessage, socket: Duplex, head: Buffer): void
}

interface Rule {
  readonly matches: RegExp
  readonly seconds: number
  times: number
}

export class ApiServer {
  readonly calls = new Growing<readonly ApiCall[]>([])
  readonly #server = createServer()
  readonly #platform: Platform
  readonly #limits: Rule[] = []
  readonly #held = new Map<RegExp, Promise<void>>()
  readonly #lost = new Set<RegExp>()
  #isDown = false

  constructor(platform: Platform) {
    this.#platform = platform
    this.#server.on('request', async (request, response) => {
      const { status = 200, headers = {}, body } = await this.#serve(request)
      if (status === 0) return void request.socket.destroy()
      const isJson = body !== undefined && !Buffer.isBuffer(body)
      response.writeHead(status, { ...(isJson && { 'content-type': 'application/json' }), ...headers })
      response.end(isJson ? JSON.stringify(body) : body)
    })
    this.#server.on('upgrade', (request, socket, head) => {
      if (this.#isDown || platform.upgrade === undefined) socket.destroy()
      else platform.upgrade(request, socket, head)
    })
  }

  async listen(): Promise<void> {
    this.#server.listen(0, '127.0.0.1')
    await once(this.#server, 'listening')
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`
  }

  /** The next calls of these methods are refused because there were too many. */
  limit(matches: RegExp, { seconds = 1, times = 1 } = {}): void {
    this.#limits.push({ matches, seconds, times })
  }

  /** Calls of these methods get no answer until the returned function is called. */
  hold(matches: RegExp): () => void {
    const { promise, resolve } = Promise.withResolvers<void>()
    this.#held.set(matches, promise)
    return () => {
      this.#held.delete(matches)
      resolve()
    }
  }

  /** Calls of these methods take effect, and their answers are lost, until the returned function is called. */
  lose(matches: RegExp): () => void {
    this.#lost.add(matches)
    return () => this.#lost.delete(matches)
  }

  goDown(): void {
    this.#isDown = true
    this.#server.closeAllConnections()
  }

  comeBack(): void {
    this.#isDown = false
  }

  close(): void {
    this.#server.closeAllConnections()
    this.#server.close()
  }

  async #serve(request: IncomingMessage): Promise<ApiAnswer> {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk as Buffer)
    const { pathname, searchParams } = new URL(request.url ?? '/', this.url)
    const http = { verb: request.method ?? 'GET', path: pathname, query: searchParams, headers: request.headers }
    const asked = await this.#platform.read({ ...http, body: Buffer.concat(chunks) })
    const answer = this.#isDown ? { status: 0 } : await this.#answer(asked)
    this.calls.set([...this.calls.value, { ...asked, at: performance.now(), status: answer.status ?? 200 }])
    return answer
  }

  async #answer(asked: ApiRequest): Promise<ApiAnswer> {
    const limit = this.#limits.find(({ matches, times }) => times > 0 && matches.test(asked.method))
    if (limit !== undefined) {
      limit.times--
      return this.#platform.limited(limit.seconds)
    }
    for (const [matches, released] of [...this.#held]) if (matches.test(asked.method)) await released
    if (this.#isDown) return { status: 0 }
    const answer = this.#platform.answer(asked)
    return [...this.#lost].some((matches) => matches.test(asked.method)) ? { status: 0 } : answer
  }
}

/** The fields of a form with files. Each file has its name and content. */
export async function multipartOf({ headers, body }: HttpRequest): Promise<Fields> {
  const form = await new Response(new Uint8Array(body), { headers: { 'content-type': headers['content-type'] ?? '' } }).formData()
  const fields = [...form].map(async ([name, value]) => {
    if (typeof value === 'string') return [name, value]
    return [name, { name: value.name, content: Buffer.from(await value.arrayBuffer()) }]
  })
  return Object.fromEntries(await Promise.all(fields))
}
