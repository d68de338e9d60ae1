import type { IncomingMessage } from 'node:http'
import type { Duplex } from 'node:stream'
import { type WebSocket, WebSocketServer } from 'ws'
import { Growing } from '../../growing.ts'
import type { Fields } from './api-server.ts'

const operations = {
  dispatch: 0,
  heartbeat: 1,
  identify: 2,
  resume: 6,
  reconnect: 7,
  invalidSession: 9,
  hello: 10,
  heartbeatAcknowledged: 11,
}
const heartbeatMs = 40_000

/** The WebSocket over which Discord sends events. It replays those that a bot has missed when the bot resumes its session. */
export class DiscordGateway {
  url = ''
  /** How often bots have identified and resumed. */
  readonly begun = { identified: 0, resumed: 0 }
  readonly #connection = new Growing<WebSocket | undefined>(undefined)
  readonly #server = new WebSocketServer({ noServer: true })
  #sent: Fields[] = []
  #sessions = 0

  accept(request: IncomingMessage, socket: Duplex, head: Buffer): void {
    this.#server.handleUpgrade(request, socket, head, (connection) => {
      connection.on('message', (data) => this.#receive(connection, JSON.parse(String(data))))
      connection.on('close', () => this.#connection.value === connection && this.#connection.set(undefined))
      connection.send(JSON.stringify({ op: operations.hello, d: { heartbeat_interval: heartbeatMs } }))
    })
  }

  /** Resolves when a bot is connected. */
  async connected(): Promise<void> {
    await this.#connection.until((connection) => connection, 'connection of the Gateway')
  }

  /** Resolves when it was sent. */
  async send(name: string, data: Fields): Promise<boolean> {
    const connection = await this.#connection.until((open) => open, 'connection of the Gateway')
    this.#dispatch(connection, name, data)
    return true
  }

  /** Discord asks the bot to connect again. */
  askToReconnect(): void {
    this.#connection.value?.send(JSON.stringify({ op: operations.reconnect, d: null }))
  }

  /** Sessions end: bots must begin new ones. */
  forgetSession(): void {
    this.#sessions++
    this.#sent = []
  }

  /** The connection breaks. */
  cut(): void {
    const connection = this.#connection.value
    this.#connection.set(undefined)
    connection?.terminate()
  }

  close(): void {
    for (const client of this.#server.clients) client.terminate()
    this.#server.close()
  }

  #dispatch(connection: WebSocket, name: string, data: Fields): void {
    const event = { op: operations.dispatch, s: this.#sent.length + 1, t: name, d: data }
    this.#sent.push(event)
    connection.send(JSON.stringify(event))
  }

  #receive(connection: WebSocket, { op, d }: Fields): void {
    if (op === operations.heartbeat) connection.send(JSON.stringify({ op: operations.heartbeatAcknowledged }))
    if (op === operations.identify) {
      this.begun.identified++
      this.forgetSession()
      this.#dispatch(connection, 'READY', {
        session_id: this.#sessionId,
        resume_gateway_url: this.url,
        user: { id: '900' },
        guilds: [],
        v: 10,
      })
      this.#connection.set(connection)
    }
    if (op !== operations.resume) return
    if (d.session_id !== this.#sessionId) {
      connection.send(JSON.stringify({ op: operations.invalidSession, d: false }))
      return
    }
    this.begun.resumed++
    for (const event of this.#sent.slice(d.seq)) connection.send(JSON.stringify(event))
    this.#dispatch(connection, 'RESUMED', {})
    this.#connection.set(connection)
  }

  get #sessionId(): string {
    return `session-${this.#sessions}`
  }
}
