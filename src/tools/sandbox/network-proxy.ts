// The network of a sandboxed command: an HTTP proxy in this process that connects to the hosts of the policy.
//
// 1. The command has no network of its own. A bridge inside the sandbox forwards its connections over one HTTP/2 connection,
//    on a descriptor that it inherits: no socket has a name that others could find.
// 2. A request for a host that is not listed is refused with the reason, and recorded.
// 3. A name is resolved here, once, and the connection goes to the address that was checked.
// 4. It forwards plain HTTP and tunnels (CONNECT). It does not look into tunnels.
// 5. A fault on one connection never ends another one.
import { lookup } from 'node:dns/promises'
import { createServer, type IncomingHttpHeaders, type IncomingMessage, request, type ServerResponse } from 'node:http'
import { createServer as createTunnelServer } from 'node:http2'
import { connect, isIP } from 'node:net'
import { type Duplex, duplexPair, pipeline } from 'node:stream'
import { coversHost, plainHost } from '../../util/host-pattern.ts'
import { messageOf } from '../../util/message-of.ts'
import { isPublicAddress } from '../../util/private-address.ts'

export interface NetworkProxy {
  /** Hosts with their ports, each with the reason, in the order in which they were requested. */
  readonly refused: readonly string[]
  /** Takes one connection of a client. */
  accept(client: Duplex): void
  /** Takes all connections that the bridge sends over one stream. */
  acceptBridge(bridge: Duplex): void
  close(): void
}

interface ProxyOptions {
  readonly hosts: readonly string[]
  /** Names that may resolve to a private address. */
  readonly privateHosts?: readonly string[]
  readonly resolve?: (host: string) => Promise<readonly string[]>
  /** Default: those of HTTP and HTTPS. */
  readonly ports?: readonly number[]
}

/** More would not help the person who reads them. */
const mostRefusals = 50
const idleMs = 60_000
const mostConnections = 256
/** Maximum length of a domain name. Refused names are shown to people and models. */
const longestName = 253

/** Whether a policy lists a host: `example.com` itself, `*.example.com` every name below it. */
export const isAllowedHost = (hosts: readonly string[], host: string): boolean => hosts.some((pattern) => coversHost(pattern, host))

/**
 * Whether a host may be reached at an address. The owner of a name can let it resolve to any address, so a private one has to
 * be listed itself, or its name among those that may resolve to one.
 */
export function isAllowedAddress(host: string, address: string, privateHosts: readonly string[]): boolean {
  const isSame = plainHost(host) === plainHost(address)
  return isPublicAddress(address) || isSame || plainHost(host) === 'localhost' || isAllowedHost(privateHosts, host)
}

export function networkProxy({ hosts, privateHosts = [], resolve = addressesOf, ports = [80, 443] }: ProxyOptions): NetworkProxy {
  const forwarder = new Forwarder({ hosts, privateHosts, resolve, ports })
  const { sockets } = forwarder
  const server = createServer((incoming, response) => {
    forwarder.forward(incoming, response).catch(() => response.destroy())
  })
  server.on('connect', (incoming, client: Duplex, head: Buffer) => {
    forwarder.tunnel(incoming, client, head).catch(() => client.destroy())
  })
  const tunnels = createTunnelServer({ settings: { maxConcurrentStreams: mostConnections } })
  const accept = (client: Duplex): void => {
    keep(sockets, client)
    server.emit('connection', client)
  }
  tunnels.on('stream', (stream) => {
    stream.respond({ ':status': 200 })
    // Strings that an HTTP server writes to an HTTP/2 stream arrive broken. A pair of streams makes buffers of them.
    const [client, relay] = duplexPair()
    pipeline(stream, relay, stream, () => client.destroy())
    client.once('close', () => stream.close())
    accept(client)
  })
  return {
    get refused() {
      return [...forwarder.refused]
    },
    accept,
    acceptBridge(bridge) {
      keep(sockets, bridge)
      tunnels.emit('connection', bridge)
    },
    close() {
      for (const each of sockets) each.destroy()
    },
  }
}

class Forwarder {
  readonly refused = new Set<string>()
  readonly sockets = new Set<Duplex>()
  readonly #options: Required<ProxyOptions>

  constructor(options: Required<ProxyOptions>) {
    this.#options = options
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
    // The command keeps this process alive, if it should, not its connections.
    const server = connect(target.port, address).unref()
    keep(this.sockets, server)
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
      refuse(response, { status: '501 Not Implemented', text: 'The proxy forwards no other transfer encoding than chunked.\n' })
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
    outgoing.on('socket', (socket) => socket.unref())
    outgoing.on('response', (answer) => passBack(answer, response))
    outgoing.setTimeout(idleMs, () => outgoing.destroy(new Error('no response in time')))
    outgoing.on('error', (error) => fail(error.message))
    // Also where the reply is not HTTP.
    outgoing.on('close', () => {
      if (!response.headersSent) fail('no response')
    })
    response.on('error', () => outgoing.destroy())
    response.on('close', () => outgoing.destroy())
    incoming.on('error', () => outgoing.destroy())
    incoming.pipe(outgoing)
  }

  async #addressFor(target: Target | undefined): Promise<string | Refusal> {
    if (!target) return notAProxyRequest
    const { host, port } = target
    const { hosts, privateHosts, resolve, ports } = this.#options
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
    if (this.refused.size < mostRefusals) this.refused.add(text)
    return { status: '403 Forbidden', text: `${text}.\n` }
  }
}

interface Refusal {
  readonly status: string
  readonly text: string
}

function refuse(response: ServerResponse, { status, text }: Refusal): void {
  if (response.headersSent) response.destroy()
  else response.writeHead(Number(status.slice(0, 3)), { 'content-type': 'text/plain', connection: 'close' }).end(text)
}

function passBack(answer: IncomingMessage, response: ServerResponse): void {
  answer.on('error', () => response.destroy())
  const { statusCode } = answer
  try {
    if (!isFinalStatus(statusCode)) throw new Error(`it responded with status ${statusCode}`)
    response.writeHead(statusCode, passedOn(answer.headers))
    answer.pipe(response)
  } catch (error) {
    answer.destroy()
    refuse(response, { status: '502 Bad Gateway', text: `The response could not be forwarded: ${messageOf(error)}\n` })
  }
}

const notAProxyRequest: Refusal = { status: '400 Bad Request', text: 'This is a proxy: send requests with absolute URLs, or CONNECT.\n' }

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
  if (hostname.length > longestName) return undefined
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

/** The proxy itself answers `expect`. */
const ofOneConnection = new Set([
  'connection',
  'expect',
  'keep-alive',
  'proxy-authenticate',
  'proxy-authorization',
  'proxy-authentication-info',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
])

/** They belong to the message, even where a `connection` header names them. */
const ofTheMessage = new Set(['host', 'content-length'])

/** Without those of one connection; its `connection` header may name more of them. */
export function passedOn(headers: IncomingHttpHeaders): IncomingHttpHeaders {
  const named = new Set((headers.connection ?? '').split(',').map((name) => name.trim().toLowerCase()))
  return Object.fromEntries(
    Object.entries(headers).filter(([name]) => !ofOneConnection.has(name) && (!named.has(name) || ofTheMessage.has(name))),
  )
}

/** How a body is forwarded; nothing for an encoding that the proxy does not know. */
function framing({ 'transfer-encoding': encoding }: IncomingHttpHeaders): { readonly [name: string]: string } | undefined {
  if (encoding === undefined) return {}
  return encoding.trim().toLowerCase() === 'chunked' ? { 'transfer-encoding': 'chunked' } : undefined
}

/** Statuses that end a request. */
const isFinalStatus = (status: number | undefined): status is number => status !== undefined && status >= 200 && status <= 599
