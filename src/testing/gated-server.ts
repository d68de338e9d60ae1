// 1. Each request takes one reply when its last byte has arrived, in that order.
// 2. A request beyond the script, or one that `check` rejects, is answered with 500, and `assertDone` throws.
// 3. After `close` no socket and no timer is left, and every reply is over.
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Problem } from '../contracts/index.ts'
import { messageOf } from '../util/message-of.ts'
import { Exchange, type GatedExchange, type GatedReply, type GatedRequest } from './gated-exchange.ts'
import { assertNoMismatch, count } from './scripted-model.ts'

export interface GatedServer {
  /** `http://127.0.0.1:PORT`. */
  readonly url: string
  /** All requests, oldest first. */
  readonly requests: readonly GatedRequest[]
  /** Adds a reply to the script. */
  reply(reply: GatedReply): GatedExchange
  /** Throws `script_mismatch` unless every reply was used and no request was unexpected. */
  assertDone(): void
  close(): Promise<void>
}

/**
 * A real HTTP server on 127.0.0.1 that sends scripted replies in order. Held chunks wait for the test.
 *
 * @example
 * const server = await gatedServer()
 * const reply = server.reply({ chunks: ['one', { held: 'two' }] })
 * const response = await fetch(server.url)
 * await reply.sent(1)
 * reply.release()
 * await reply.over
 */
export async function gatedServer(): Promise<GatedServer> {
  const script = new Script()
  const server = createServer((request, response) => void script.answer(request, response))
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(0, '127.0.0.1', resolve)
  })
  const { port } = server.address() as AddressInfo
  let closing: Promise<void> | undefined
  return {
    url: `http://127.0.0.1:${port}`,
    requests: script.requests,
    reply: (reply) => script.add(reply),
    assertDone: () => script.assertDone(),
    close: () => {
      closing ??= close(server, script)
      return closing
    },
  }
}

async function close(server: Server, script: Script): Promise<void> {
  script.close()
  const closed = new Promise<void>((resolve) => server.close(() => resolve()))
  server.closeAllConnections()
  await closed
}

class Script {
  readonly requests: GatedRequest[] = []
  readonly #exchanges: Exchange[] = []
  readonly #mismatches: Problem[] = []

  add(reply: GatedReply): GatedExchange {
    const exchange = new Exchange(`replies[${this.#exchanges.length}]`, reply)
    this.#exchanges.push(exchange)
    return exchange
  }

  async answer(incoming: IncomingMessage, response: ServerResponse): Promise<void> {
    const request = await read(incoming)
    // The client left in the middle of its request.
    if (!request) return
    const index = this.requests.push(request) - 1
    const exchange = this.#exchanges[index]
    const mismatch = exchange ? check(exchange.reply, request) : `the script has ${count(this.#exchanges.length, 'reply', 'replies')}`
    if (mismatch === undefined) return exchange?.play(request, response).catch((error) => this.#unplayable(index, error, response))
    exchange?.close()
    const message = `${request.method} ${request.path}: ${mismatch}, this is request ${index + 1}`
    this.#mismatches.push({ place: `requests[${index}]`, message })
    response.writeHead(500, { 'content-type': 'application/json', connection: 'close' })
    response.end(JSON.stringify({ error: { type: 'script_mismatch', message } }))
  }

  #unplayable(index: number, error: unknown, response: ServerResponse): void {
    this.#mismatches.push({ place: `replies[${index}]`, message: `cannot be sent: ${messageOf(error)}` })
    this.#exchanges[index]?.close()
    response.destroy()
  }

  assertDone(): void {
    const left = this.#exchanges.slice(this.requests.length).map(({ reply }, i) => ({
      place: `replies[${this.requests.length + i}]`,
      message: `never asked for: status ${reply.status ?? 200}, ${count(reply.chunks?.length ?? 0, 'chunk')}`,
    }))
    assertNoMismatch('the server', [...this.#mismatches, ...left])
  }

  close(): void {
    for (const exchange of this.#exchanges) exchange.close()
  }
}

function check(reply: GatedReply, request: GatedRequest): string | undefined {
  try {
    reply.check?.(request)
    return undefined
  } catch (error) {
    return messageOf(error)
  }
}

async function read(incoming: IncomingMessage): Promise<GatedRequest | undefined> {
  const chunks: Buffer[] = []
  try {
    for await (const chunk of incoming) chunks.push(chunk)
  } catch {
    return undefined
  }
  const headers = Object.entries(incoming.headers).map(([name, value]) => [name, Array.isArray(value) ? value.join(', ') : (value ?? '')])
  return {
    method: incoming.method ?? '',
    path: incoming.url ?? '',
    headers: Object.fromEntries(headers),
    body: parsed(Buffer.concat(chunks).toString('utf8')),
  }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}
