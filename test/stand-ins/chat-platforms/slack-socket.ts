import { randomUUID } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import type { Duplex } from 'node:stream'
import { type WebSocket, WebSocketServer } from 'ws'
import { Growing } from '../../growing.ts'
import type { Fields } from './api-server.ts'

export interface Envelope {
  readonly type: string
  readonly payload: Fields
  readonly attempts: number
}

/** The WebSocket of Slack's Socket Mode. */
export class SlackSocket {
  /** What the bot has answered to envelopes, by their ids. */
  readonly answers = new Map<string, Fields>()
  readonly #connection = new Growing<WebSocket | undefined>(undefined)
  readonly #server = new WebSocketServer({ noServer: true })
  readonly #waiting = new Map<string, (isAcknowledged: boolean) => void>()

  accept(request: IncomingMessage, socket: Duplex, head: Buffer): void {
    this.#server.handleUpgrade(request, socket, head, (connection) => {
      connection.on('message', (data) => this.#acknowledged(JSON.parse(String(data))))
      connection.on('close', () => this.#closed(connection))
      connection.send(JSON.stringify({ type: 'hello', num_connections: 1 }))
      this.#connection.set(connection)
    })
  }

  /** Resolves when the bot is connected. */
  async connected(): Promise<void> {
    await this.#connection.until((connection) => connection, 'connection of Socket Mode')
  }

  /** Whether it was acknowledged before the connection ended. */
  async send({ type, payload, attempts }: Envelope): Promise<boolean> {
    const connection = await this.#connection.until((open) => open, 'connection of Socket Mode')
    const id = randomUUID()
    const { promise, resolve } = Promise.withResolvers<boolean>()
    this.#waiting.set(id, resolve)
    const retry = attempts > 0 ? { retry_attempt: attempts, retry_reason: 'timeout' } : {}
    connection.send(JSON.stringify({ type, envelope_id: id, payload, accepts_response_payload: type !== 'events_api', ...retry }))
    return promise
  }

  /** Slack asks the bot to connect again. */
  askToReconnect(): void {
    this.#connection.value?.send(JSON.stringify({ type: 'disconnect', reason: 'refresh_requested' }))
  }

  /** The connection breaks. */
  cut(): void {
    this.#connection.value?.terminate()
  }

  close(): void {
    for (const client of this.#server.clients) client.terminate()
    this.#server.close()
  }

  #acknowledged({ envelope_id, payload }: Fields): void {
    this.answers.set(envelope_id, payload)
    this.#waiting.get(envelope_id)?.(true)
    this.#waiting.delete(envelope_id)
  }

  #closed(connection: WebSocket): void {
    if (this.#connection.value !== connection) return
    this.#connection.set(undefined)
    for (const end of this.#waiting.values()) end(false)
    this.#waiting.clear()
  }
}
