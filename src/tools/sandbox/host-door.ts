/*
 * The one way to the network that a command has: a proxy of ours, behind a socket that is seen inside of its walls.
 *
 * 1. Whoever asks for a host that is not named gets a refusal that says so, and is remembered.
 * 2. A name is looked up here, once, and the connection goes to the address that was looked at.
 * 3. It knows HTTP (by whole addresses) and tunnels (CONNECT); what is said inside of a tunnel is not its business.
 * 4. Nothing that is said on either side of it ends more than the one connection that it was said on.
 */
import { lookup } from 'node:dns/promises'
import { mkdtempSync, rmSync } from 'node:fs'
import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http'
import { connect, isIP } from 'node:net'
import { join } from 'node:path'
import type { Duplex } from 'node:stream'
import { messageOf } from '../../util/message-of.ts'
import { framing, isFinalStatus, passedOn } from './door-headers.ts'
import { isAllowedAddress, isAllowedHost } from './host-rules.ts'

export interface HostDoor {
  readonly socket: string
  /** Hosts with their ports, each with the reason, in the order in which they were asked for. */
  readonly refused: readonly string[]
  close(): void
}

export interface DoorOptions {
  readonly hosts: readonly string[]
  /** Those that may resolve to a private address. */
  readonly privateHosts?: readonly string[]
  /** Where its socket is kept. */
  readonly scratch: string
  /** What a name stands for. */
  readonly resolve?: (host: string) => Promise<readonly string[]>
  /** Default those of HTTP and HTTPS. */
  readonly ports?: readonly number[]
}

/** A command that is refused that often is not going to be helped by hearing it again. */
const mostRefusals = 50
const idleMs = 60_000
/** Each costs us two open files. */
const mostConnections = 256

export async function openHostDoor(options: DoorOptions): Promise<HostDoor> {
  const { hosts, privateHosts = [], scratch, resolve = addressesOf, ports = [80, 443] } = options
  const folder = mkdtempSync(join(scratch, 'troupe-door-'))
  const socket = join(folder, 'proxy')
  const refused = new Set<string>()
  const sockets = new Set<Duplex>()
  const way = new Way({ hosts, privateHosts, resolve, ports, refused, sockets })
  const server = createServer((incoming, response) => {
    way.forward(incoming, response).catch(() => response.destroy())
  })
  server.maxConnections = mostConnections
  server.on('connect', (incoming, client: Duplex, head: Buffer) => {
    way.tunnel(incoming, client, head).catch(() => client.destroy())
  })
  server.on('connection', (client) => keep(sockets, client))
  await new Promise<void>((done, failed) => {
    server.once('error', failed)
    server.listen(socket, done)
  })
  server.unref()
  return {
    socket,
    get refused() {
      return [...refused]
    },
    close() {
      server.close()
      for (const each of sockets) each.destroy()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

interface WayParts extends Required<Pick<DoorOptions, 'hosts' | 'privateHosts' | 'resolve' | 'ports'>> {
  readonly refused: Set<string>
  readonly sockets: Set<Duplex>
}

class Way {
  readonly #parts: WayParts

  constructor(parts: WayParts) {
    this.#parts = parts
  }

  async tunnel(incoming: IncomingMessage, client: Duplex, head: Buffer): Promise<void> {
    client.on('error', () => client.destroy())
    const target = targetOf(`https://${incoming.url ?? ''}`)
    const address = await this.#addressFor(target)
    if (typeof address !== 'string' || !target) {
      const { status, text } = address as Refusal
      client.end(
        `HTTP/1.1 ${status}\r\nContent-Type: text/plain\r\nConnection: close\r\nContent-Length: ${Buffer.byteLength(text)}\r\n\r\n${text}`,
      )
      return
    }
    if (client.destroyed) return
    const server = connect(target.port, address)
    keep(this.#parts.sockets, server)
    server.setTimeout(idleMs, () => server.destroy())
    server.once('connect', () => {
      client.write('HTTP/1.1 200 Connection established\r\n\r\n')
      server.write(head)
      server.pipe(client)
      client.pipe(server)
    })
    server.on('error', () => client.destroy())
    client.on('close', () => server.destroy())
  }

  async forward(incoming: IncomingMessage, response: ServerResponse): Promise<void> {
    const target = targetOf(incoming.url ?? '')
    const address = target?.protocol === 'http:' ? await this.#addressFor(target) : notAProxyRequest
    if (typeof address !== 'string' || !target) {
      refuse(response, address as Refusal)
      return
    }
    const body = framing(incoming.headers)
    if (!body) {
      refuse(response, { status: '501 Not Implemented', text: 'Bodies are passed on whole or in pieces, and in no other form.\n' })
      return
    }
    if (response.destroyed) return
    const outgoing = request({
      host: address,
      port: target.port,
      method: incoming.method,
      path: target.path,
      headers: { ...passedOn(incoming.headers), ...body, host: target.authority },
      agent: false,
    })
    const fail = (why: string): void =>
      refuse(response, { status: '502 Bad Gateway', text: `${target.host} could not be reached: ${why}\n` })
    outgoing.on('response', (answer) => passBack(answer, response))
    outgoing.setTimeout(idleMs, () => outgoing.destroy(new Error('no answer in time')))
    outgoing.on('error', (error) => fail(error.message))
    // Also where it was answered with something that is no answer, such as another protocol.
    outgoing.on('close', () => {
      if (!response.headersSent) fail('it gave no answer')
    })
    response.on('error', () => outgoing.destroy())
    response.on('close', () => outgoing.destroy())
    incoming.on('error', () => outgoing.destroy())
    incoming.pipe(outgoing)
  }

  async #addressFor(target: Target | undefined): Promise<string | Refusal> {
    if (!target) return notAProxyRequest
    const { host, port } = target
    const { hosts, privateHosts, resolve, ports } = this.#parts
    const what = `${host}:${port}`
    if (!isAllowedHost(hosts, host)) return this.#refuse(what, 'is not listed in sandbox.hosts')
    if (!ports.includes(port)) return this.#refuse(what, `is listed in sandbox.hosts, but only ports ${ports.join(' and ')} can be reached`)
    try {
      const addresses = isIP(host) ? [host] : await resolve(host)
      const address = addresses.find((each) => isAllowedAddress(host, each, privateHosts))
      return address ?? this.#refuse(what, 'resolves to a private address; sandbox.privateHosts has to list it, too')
    } catch (error) {
      return { status: '502 Bad Gateway', text: `${host} was not found: ${messageOf(error)}\n` }
    }
  }

  #refuse(what: string, why: string): Refusal {
    const text = `${what} ${why}`
    if (this.#parts.refused.size < mostRefusals) this.#parts.refused.add(text)
    return { status: '403 Forbidden', text: `${text}.\n` }
  }
}

interface Refusal {
  readonly status: string
  readonly text: string
}

/** Says so where there is still time for it. */
function refuse(response: ServerResponse, { status, text }: Refusal): void {
  if (response.headersSent) response.destroy()
  else response.writeHead(Number(status.slice(0, 3)), { 'content-type': 'text/plain', connection: 'close' }).end(text)
}

function passBack(answer: IncomingMessage, response: ServerResponse): void {
  answer.on('error', () => response.destroy())
  const { statusCode } = answer
  try {
    if (!isFinalStatus(statusCode)) throw new Error(`it answered with status ${statusCode}`)
    response.writeHead(statusCode, passedOn(answer.headers))
    answer.pipe(response)
  } catch (error) {
    answer.destroy()
    refuse(response, { status: '502 Bad Gateway', text: `The answer could not be passed on: ${messageOf(error)}\n` })
  }
}

const notAProxyRequest: Refusal = { status: '400 Bad Request', text: 'Only requests to a proxy are answered here.\n' }

interface Target {
  readonly protocol: string
  readonly host: string
  readonly port: number
  readonly path: string
  readonly authority: string
}

function targetOf(address: string): Target | undefined {
  if (!URL.canParse(address)) return undefined
  const { protocol, hostname, port, pathname, search, host } = new URL(address)
  const usual = protocol === 'https:' ? 443 : 80
  return {
    protocol,
    host: hostname.replace(/^\[(.*)\]$/, '$1'),
    port: port === '' ? usual : Number(port),
    path: `${pathname}${search}`,
    authority: host,
  }
}

async function addressesOf(host: string): Promise<readonly string[]> {
  return (await lookup(host, { all: true, verbatim: true })).map(({ address }) => address)
}

function keep(sockets: Set<Duplex>, socket: Duplex): void {
  sockets.add(socket)
  socket.on('error', () => socket.destroy())
  socket.on('close', () => sockets.delete(socket))
}
