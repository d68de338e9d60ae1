import { once } from 'node:events'
import { connect, createServer, type Socket } from 'node:net'

/** Between a client and a server. It can cut connections, and lose what one side says. */
export interface TcpProxy {
  /** The given URL, through the proxy. */
  readonly url: string
  /** Refuses connections and cuts those that exist. */
  cut(): void
  heal(): void
  /** Calls `passes` with each message of the client before the server gets it. `false`: the server gets it, but its answers are lost, and the connection is cut. */
  onRequest(passes: (message: Buffer) => boolean): void
  /** Nothing passes in either direction, and nobody is told. */
  freeze(): void
  close(): Promise<void>
}

export async function tcpProxy(target: string): Promise<TcpProxy> {
  const { hostname, port } = new URL(target)
  const sockets = new Set<Socket>()
  let state: 'open' | 'cut' | 'frozen' = 'open'
  let passes: (message: Buffer) => boolean = () => true
  const server = createServer((client) => {
    if (state === 'cut') {
      client.destroy()
      return
    }
    const upstream = connect(Number(port), hostname)
    let losesAnswers = false
    for (const [socket, other] of [
      [client, upstream],
      [upstream, client],
    ] as const) {
      sockets.add(socket)
      socket.on('error', () => undefined)
      socket.on('close', () => {
        sockets.delete(socket)
        other.destroy()
      })
    }
    client.on('data', (message) => {
      if (state === 'frozen') return
      if (!passes(message)) losesAnswers = true
      upstream.write(message)
    })
    upstream.on('data', (answer) => {
      if (losesAnswers) client.destroy()
      else if (state !== 'frozen') client.write(answer)
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  const url = new URL(target)
  url.port = String(typeof address === 'object' && address ? address.port : 0)
  const destroyAll = (): void => {
    for (const socket of sockets) socket.destroy()
  }
  return {
    url: url.href,
    cut() {
      state = 'cut'
      destroyAll()
    },
    heal() {
      state = 'open'
      // Connections that were frozen have lost a part of what was said.
      destroyAll()
    },
    onRequest: (check) => {
      passes = check
    },
    freeze() {
      state = 'frozen'
    },
    async close() {
      destroyAll()
      server.close()
      await once(server, 'close')
    },
  }
}
