import { once } from 'node:events'
import { createServer, type IncomingHttpHeaders } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Webhook } from 'standardwebhooks'
import { onTestFinished } from 'vitest'

export const secret = `whsec_${Buffer.from('a secret of twenty-four bytes!').toString('base64')}`

export interface Payload {
  readonly type: string
  readonly timestamp: string
  readonly data: { readonly sessionId: string; readonly [name: string]: unknown }
}

export interface Received {
  readonly id: string
  readonly path: string
  readonly headers: IncomingHttpHeaders
  readonly payload: Payload
  /** As `Webhook.verify` of the library sees it, by its own clock. */
  readonly isVerified: boolean
}

interface Answer {
  readonly status?: number
  readonly headers?: { readonly [name: string]: string }
  /** Answers never. */
  readonly hangs?: true
}

export interface Receiver {
  readonly url: string
  readonly port: number
  readonly received: readonly Received[]
  answer: (received: Received) => Answer
  /** Resolves with the first `count` deliveries. */
  have(count: number): Promise<readonly Received[]>
  stop(): Promise<void>
}

/** A program on loopback that gets webhooks, and verifies them with the library of Standard Webhooks. */
export async function receiver(port = 0): Promise<Receiver> {
  const received: Received[] = []
  const listeners = new Set<() => void>()
  const server = createServer(async (request, response) => {
    let body = ''
    for await (const piece of request.setEncoding('utf8')) body += piece
    const headers = Object.fromEntries(Object.entries(request.headers).map(([name, value]) => [name, String(value)]))
    let isVerified = true
    try {
      new Webhook(secret).verify(body, headers)
    } catch {
      isVerified = false
    }
    const one = {
      id: headers['webhook-id'] ?? '',
      path: request.url ?? '',
      headers: request.headers,
      payload: JSON.parse(body),
      isVerified,
    }
    received.push(one)
    const { status = 204, headers: answered = {}, hangs } = it.answer(one)
    for (const listener of listeners) listener()
    if (!hangs) response.writeHead(status, answered).end()
  })
  server.listen(port, '127.0.0.1')
  await once(server, 'listening')
  const { port: used } = server.address() as AddressInfo
  const stop = async (): Promise<void> => {
    server.closeAllConnections()
    server.close()
  }
  onTestFinished(stop)
  const it: Receiver = {
    url: `http://127.0.0.1:${used}/hook`,
    port: used,
    received,
    answer: () => ({}),
    have: (count) =>
      new Promise((resolve) => {
        const look = (): void => {
          if (received.length < count) return
          listeners.delete(look)
          resolve(received.slice(0, count))
        }
        listeners.add(look)
        look()
      }),
    stop,
  }
  return it
}
