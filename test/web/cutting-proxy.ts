import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'

/** A proxy between the page and the server whose connections break. */
export interface CuttingProxy {
  readonly url: string
  /** Breaks all connections now, and each further one after as many bytes from the server as the list says. Then none breaks. */
  cut(bytes: readonly number[]): void
  /** Connections that the list has broken so far. */
  readonly cuts: number
  close(): Promise<void>
}

export async function cuttingProxy(target: string): Promise<CuttingProxy> {
  const { hostname, port } = new URL(target)
  const open = new Set<Socket>()
  let budgets: number[] = []
  let cuts = 0
  const server = createServer((client) => {
    const upstream = connect(Number(port), hostname)
    open.add(client)
    let left = budgets.shift() ?? Number.POSITIVE_INFINITY
    const end = (): void => {
      open.delete(client)
      client.resetAndDestroy()
      upstream.destroy()
    }
    for (const socket of [client, upstream]) socket.on('error', end).on('close', end)
    client.on('data', (data) => upstream.write(data))
    upstream.on('data', (data) => {
      if (data.length < left) {
        left -= data.length
        client.write(data)
        return
      }
      cuts++
      // In the middle of an event, or of a character.
      client.write(data.subarray(0, left), end)
      left = 0
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    cut(bytes) {
      budgets = [...bytes]
      for (const client of open) client.resetAndDestroy()
    },
    get cuts() {
      return cuts
    },
    async close() {
      for (const client of open) client.destroy()
      server.close()
      await once(server, 'close')
    },
  }
}
