import type { Server as HttpServer, IncomingMessage, ServerResponse } from 'node:http'
import type { Readable, Writable } from 'node:stream'
import { type SessionService, TroupeError } from '../contracts/index.ts'
import { type Drained, dataDirFlag } from '../project/index.ts'
import { systemClock } from '../runtime/index.ts'
import { isLoopback } from '../util/loopback.ts'
import { type Connection, listen, listTokens, nodeHandler } from './http/index.ts'
import { mcpUpgrade, type StdioServed, serveStdio } from './mcp/index.ts'
import type { ListenSettings, LocalToken, Server, ServerAddress } from './server-options.ts'
import type { ServerParts } from './server-parts.ts'
import { baseUrl, hostInUrl, isAnyAddress } from './server-settings.ts'

/** For responses that are being sent. */
const closingMs = 1_000
const nearbyPorts = 20

export class RunningServer implements Server {
  readonly #parts: ServerParts
  /** Close ports and standard streams. */
  readonly #closers: ((ms: number) => void | Promise<void>)[] = []
  /** Close the WebSockets of a Node server. */
  readonly #upgrades = new Map<HttpServer, (ms: number) => void>()
  #isReachable = false
  #closing: Promise<Drained> | undefined
  readonly handle: (request: IncomingMessage, response: ServerResponse) => Promise<void>
  readonly fetch = (request: Request): Promise<Response> => this.#fetch(request)

  constructor(parts: ServerParts) {
    this.#parts = parts
    this.handle = nodeHandler(this.#fetch)
  }

  get sessions(): SessionService {
    return this.#parts.sessions
  }

  get token(): LocalToken {
    return this.#parts.token
  }

  get agents(): readonly string[] {
    return this.sessions.agents().map(({ name }) => name)
  }

  async listen(wanted: ListenSettings = {}): Promise<ServerAddress> {
    const { settings } = this.#parts
    const { host = settings.host, port = settings.port, nearby = false } = wanted
    this.#refuseWhenClosed()
    await this.#requireToken(host)
    this.#warnOfNames(host)
    const address = await (nearby ? this.#openNear(host, port) : this.#open(host, port))
    await wanted.listening?.(address)
    this.#beginHttp()
    return address
  }

  attach(server: HttpServer): void {
    this.#refuseWhenClosed()
    this.#upgrade(server)
    this.#beginHttp()
  }

  serveStdio(input: Readable, output: Writable): StdioServed {
    const { dependencies, sessions } = this.#parts
    this.#begin()
    const served = serveStdio({ ...dependencies, service: sessions }, input, output)
    this.#closers.push(() => served.close())
    return served
  }

  close({ drain = this.#parts.settings.drainMs }: { readonly drain?: number } = {}): Promise<Drained> {
    this.#closing ??= this.#close(drain)
    return this.#closing
  }

  readonly #fetch = (request: Request, connection?: Connection): Promise<Response> => {
    this.#beginHttp()
    return this.#parts.http.fetch(request, connection)
  }

  /** Of a server that a program mounts, the address is that of the settings. */
  #beginHttp(): void {
    const { settings, basePath } = this.#parts
    this.#reachedAt(`${baseUrl(settings.host, settings.port)}${basePath}`)
    this.#begin()
  }

  /** The first address stays. */
  #reachedAt(url: string): void {
    const { settings, reached, served } = this.#parts
    reached.url ??= settings.publicUrl ?? url
    if (served.webhooks) served.webhooks.serverUrl = reached.url
  }

  /** Interrupted sessions continue, and extensions start. */
  #begin(): void {
    if (this.#isReachable || this.#closing) return
    this.#isReachable = true
    const { own, served, storeHealth, log } = this.#parts
    storeHealth.start()
    served.webhooks?.recall().catch((error: unknown) => log.failure(error))
    own.resume().catch((error: unknown) => log.failure(error))
    served.kernel?.start().catch((error: unknown) => log.failure(error))
  }

  async #open(host: string, port: number): Promise<ServerAddress> {
    const { settings, basePath, http } = this.#parts
    http.allowHost(hostInUrl(host))
    const opened = await listen({ fetch: this.#fetch }, { host, port, clock: systemClock })
    if (this.#closing) {
      await opened.close(0)
      this.#refuseWhenClosed()
    }
    this.#closers.push((ms) => opened.close(ms))
    if (settings.legacyTransports) this.#upgrade(opened.server)
    const url = `${baseUrl(host, opened.port)}${basePath}`
    this.#reachedAt(url)
    return { host, port: opened.port, url }
  }

  #refuseWhenClosed(): void {
    if (this.#closing) throw new TroupeError('usage', 'The server is closed.', { remedy: 'Create another one with createServer.' })
  }

  /** Opens the port, or the next free one. */
  async #openNear(host: string, wanted: number): Promise<ServerAddress> {
    for (let port = wanted; port < wanted + nearbyPorts; port++)
      try {
        return await this.#open(host, port)
      } catch (error) {
        if (!(error instanceof TroupeError && (error.cause as NodeJS.ErrnoException | undefined)?.code === 'EADDRINUSE')) throw error
      }
    return this.#open(host, 0)
  }

  #upgrade(server: HttpServer): void {
    const { dependencies, http } = this.#parts
    if (!this.#upgrades.has(server)) this.#upgrades.set(server, mcpUpgrade(server, { ...dependencies, headends: http }))
  }

  /** An address that other machines can reach needs a token that was created for it. */
  async #requireToken(host: string): Promise<void> {
    if (isLoopback(host)) return
    const { served, dataDir } = this.#parts
    const now = systemClock.now()
    const tokens = await listTokens(served.store.records)
    if (tokens.some(({ expiresAt }) => expiresAt === undefined || expiresAt > now)) return
    throw new TroupeError('usage', `Other machines can reach the address ${host}, and there is no token for them.`, {
      remedy: served.project
        ? `Create one first: troupe token create --name NAME${dataDirFlag(dataDir)}`
        : 'Create one first: createToken of `troupe/server`.',
    })
  }

  #warnOfNames(host: string): void {
    const { settings, log } = this.#parts
    if (isAnyAddress(host) && !settings.hasHosts)
      log.warn('Requests are refused unless their Host is a name of this machine. Add the names that clients use to `headends.hosts`.')
  }

  /** The runtime of a program goes on: what clients wait for may end. */
  async #drain(ms: number): Promise<Drained> {
    const { served, http } = this.#parts
    if (served.drain) return served.drain(ms)
    return (await http.places.empty(ms)) ? 'finished' : 'released'
  }

  async #close(drainMs: number): Promise<Drained> {
    const { health, http, own, reload } = this.#parts
    health.isDraining = true
    http.drain()
    own.close()
    try {
      await reload?.close()
      return await this.#drain(this.#isReachable ? drainMs : 0)
    } finally {
      await this.#closeParts()
    }
  }

  async #closeParts(): Promise<void> {
    const { served, storeHealth, telemetry } = this.#parts
    // Where the runtime has ended, its streams have ended by themselves.
    await Promise.all([...this.#closers, ...this.#upgrades.values()].map((close) => close(closingMs)))
    storeHealth.close()
    this.#parts.leaveRuntime()
    await served.close()
    await telemetry.close()
  }
}
