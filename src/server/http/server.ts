import { Hono } from 'hono'
import type { Clock, Ids, Records, SessionService } from '../../contracts/index.ts'
import { redactor } from '../../util/redact.ts'
import { TimeSlices } from '../../util/time-slices.ts'
import { isWithoutSlash, withoutBase, withSlash } from './base-path.ts'
import { type Caller, isAdmin } from './caller.ts'
import { type CarryOptions, carryStream, isEventStream } from './carry-stream.ts'
import { type AllowedNames, allowedOrigin, checkHostAndOrigin } from './check-host.ts'
import { type Connection, isLocalRequest } from './connection.ts'
import { Entrance } from './entrance.ts'
import { sseBytes } from './event-stream.ts'
import { type ErrorBody, errorResponse, HttpError, plainErrors, toHttpError } from './http-error.ts'
import { KnownPaths } from './known-paths.ts'
import { defaultStreamLimits, OpenStreams, type StreamLimits } from './open-streams.ts'
import { type HiddenFolders, PublicView } from './public-view.ts'
import { checked, readBody } from './read-body.ts'
import type { Peer, Place, Route, RouteRequest } from './route.ts'
import type { TokenRegistry } from './tokens.ts'
import { defaultPlaces, type PlaceLimits, TurnPlaces } from './turn-places.ts'

// One request: Host and Origin → route → token → scope → rate → query and body → handler → response → access log.
//
// 1. Every request gets exactly one response and one access log entry, written when its response has been sent.
// 2. A handler runs only after all checks. It sees the sessions of its caller only.
// 3. A place for a turn is free again when the response has been sent, or the client has left.
// 4. Streams that hold no place for a turn need one of their own: see `OpenStreams`.

export interface AccessEntry {
  readonly requestId: string
  readonly method: string
  /** Without the query, which may contain what people ask. */
  readonly path: string
  /** The path of the table, `/v1/sessions/:id`. */
  readonly route?: string
  readonly headend?: string
  readonly status: number
  readonly durationMs: number
  readonly principal?: string
  readonly sessionId?: string
  readonly error?: string
}

export interface HeadendServerOptions {
  readonly sessions: SessionService
  readonly routes: readonly Route[]
  readonly tokens: TokenRegistry
  /** Counts requests of tokens. */
  readonly records: Records
  readonly names: AllowedNames
  readonly clock: Clock
  readonly ids: Ids
  readonly places?: Partial<PlaceLimits>
  readonly streams?: Partial<StreamLimits>
  readonly maxBodyBytes?: number
  /** The path below which the server is mounted. */
  readonly basePath?: string
  /** Folders that only admins see. */
  readonly hiddenFolders?: HiddenFolders
  /** Why nothing can be stored now. */
  unavailable?(): string | undefined
  log?(entry: AccessEntry): void
  /** Unexpected errors, which clients do not see. */
  onError?(error: unknown, requestId?: string): void
}

export interface HeadendServer {
  /** `connection`: absent for requests of a program. */
  fetch(request: Request, connection?: Connection): Promise<Response>
  /** The checks of a request, for connections of another kind such as WebSockets: Host, Origin, token, scope, rate. Throws `HttpError`. */
  accept(headers: Headers, route: Pick<Route, 'headend' | 'access'>): Promise<Peer>
  /** The response if `accept` threw. */
  refusal(thrown: unknown, form: ErrorBody): Response
  /** Requests with this name in their Host are answered, too. */
  allowHost(name: string): void
  readonly places: TurnPlaces
  readonly streams: OpenStreams
  /** Shares the time between the work for all connections. */
  readonly slices: TimeSlices
  /** From now on no turn is started. */
  drain(): void
}

/** The handler of the program is in the wrong place. */
export const bodyRead = 'Something has read the body of this request before Troupe, such as a body parser. Mount Troupe before it.'

const defaultMaxBodyBytes = 20 * 1024 ** 2

/** What is known of a request while it is answered. */
interface Exchange {
  readonly requestId: string
  readonly url: URL
  readonly startedAt: number
  readonly connection: Connection | undefined
  route?: Route
  caller?: Caller
  peer?: Peer
  sessionId?: string
  error?: HttpError
  isStream: boolean
  encodeError: Parameters<RouteRequest['endsWith']>[0]
  readonly releases: Set<() => void>
}

interface Incoming {
  readonly raw: Request
  readonly params: RouteRequest['params']
  readonly exchange: Exchange
}

function routerOf(paths: KnownPaths, answer: (route: Route, incoming: Incoming) => Promise<Response>) {
  const app = new Hono<{ Bindings: { readonly exchange: Exchange } }>()
  for (const route of paths.routes)
    app.on(route.isWebhook ? 'ALL' : route.method, route.isRest ? `${route.path}{.+}` : route.path, (c, next) =>
      paths.isFor(route, { headers: c.req.raw.headers, url: c.env.exchange.url })
        ? answer(route, { raw: c.req.raw, params: c.req.param(), exchange: c.env.exchange })
        : next(),
    )
  app.notFound((c) => {
    throw paths.unknownRoute(c.req.method, c.env.exchange.url)
  })
  app.onError((error) => {
    throw error
  })
  return app
}

export function headendServer(options: HeadendServerOptions): HeadendServer {
  const { clock, ids, routes, basePath = '' } = options
  const names = { ...options.names, hosts: [...options.names.hosts] }
  const places = new TurnPlaces({ ...defaultPlaces, ...options.places }, clock)
  const paths = new KnownPaths(routes)
  const view = new PublicView(options.hiddenFolders)
  const streams = new OpenStreams({ clock, tokens: options.tokens, limits: { ...defaultStreamLimits, ...options.streams } })
  const errorOf = errorForms(options, view, paths)
  const slices = new TimeSlices(clock)
  const entrance = new Entrance({ ...options, places, streams, view })
  const app = routerOf(paths, answer)

  async function answer(route: Route, { raw, params, exchange }: Incoming): Promise<Response> {
    const { url } = exchange
    exchange.route = route
    // Hono answers HEAD with the handler of GET. That may start a turn, or a stream that nobody reads.
    if (raw.method === 'HEAD' && route.access !== 'public') throw paths.unknownRoute(raw.method, url)
    const peer = await entrance.enter(raw.headers, route, (caller) => {
      exchange.caller = caller
    })
    exchange.peer = peer
    return route.handle({
      ...peer,
      raw,
      url,
      params,
      query: route.query ? checked(queryOf(url), route.query, 'query') : route.isWebhook ? undefined : refuseQuery(url),
      body: route.body ? await readBody(raw, route.body, route.maxBodyBytes ?? options.maxBodyBytes ?? defaultMaxBodyBytes) : undefined,
      requestId: exchange.requestId,
      get isLocal() {
        return isLocalRequest(raw, peer.caller, exchange.connection)
      },
      get signal() {
        return raw.signal
      },
      concerns(sessionId) {
        exchange.sessionId = sessionId
      },
      async enterAs(caller) {
        exchange.caller = caller
        const { sessions, admit } = await entrance.enterAs(caller, raw.headers, route)
        return { sessions, admit: async (agent, until = raw.signal) => placeOf(exchange, await admit(agent, until)) }
      },
      opensStream() {
        exchange.isStream = true
      },
      endsWith(encode) {
        exchange.encodeError = encode
      },
      admit: async (agent, until = raw.signal) => placeOf(exchange, await peer.admit(agent, until)),
    })
  }

  async function respond(request: Request, exchange: Exchange, stream: Pick<CarryOptions, 'cut' | 'done'>): Promise<Response> {
    try {
      const isWebhook = paths.isWebhook(exchange.url)
      checkHostAndOrigin(request.headers, names, { anyHost: isWebhook })
      if (request.bodyUsed) throw new HttpError('internal', bodyRead)
      if (isWithoutSlash(exchange.url, basePath)) return withSlash(exchange.url)
      if (request.method === 'OPTIONS' && !isWebhook) return preflight(request, paths.methodsFor(exchange.url))
      const response = await app.fetch(request, { exchange })
      return isEventStream(response) ? carried(request, response, { exchange, slices, errorOf, ...stream }) : response
    } catch (thrown) {
      return errorResponse(...errorOf(thrown, request, exchange), exchange.requestId)
    }
  }

  return {
    places,
    streams,
    slices,
    refusal: (thrown, form) => errorResponse(toHttpError(thrown, options.onError), (...given) => view.hide(form(...given)), ''),
    allowHost: (name) => void names.hosts.push(name),
    drain() {
      entrance.isDraining = true
    },
    async accept(headers, route) {
      checkHostAndOrigin(headers, names)
      return entrance.enter(headers, route)
    },
    async fetch(mounted, connection) {
      await slices.turn()
      const request = mounted.bodyUsed ? mounted : withoutBase(mounted, basePath)
      const exchange: Exchange = {
        requestId: ids.next(),
        url: new URL(request.url),
        startedAt: clock.monotonic(),
        ...{ connection, isStream: false },
        encodeError: errorEvent,
        releases: new Set(),
      }
      const ended = (status: number): void => {
        for (const release of exchange.releases) release()
        options.log?.(accessEntry(request, status, { exchange, durationMs: clock.monotonic() - exchange.startedAt }))
      }
      const response = await respond(request, exchange, { cut: connection?.cut, done: ended })
      addHeaders(response, request, { names, basePath, exchange })
      if (!isEventStream(response)) ended(response.status)
      return response
    },
  }
}

/** An error, and its form: that of the protocol, as the caller may see it. */
type ErrorForms = (thrown: unknown, request: Request, exchange: Exchange) => readonly [HttpError, ErrorBody]

const errorForms =
  (options: HeadendServerOptions, view: PublicView, paths: KnownPaths): ErrorForms =>
  (thrown, request, exchange) => {
    const { requestId, caller } = exchange
    const error = toHttpError(thrown, (unexpected) => options.onError?.(unexpected, requestId))
    exchange.error = error
    const shape = (exchange.route ?? paths.ownerOf({ headers: request.headers, url: exchange.url }))?.errors ?? plainErrors
    return [error, caller && isAdmin(caller) ? shape : (...given) => view.hide(shape(...given))]
  }

const errorEvent = (error: object): Uint8Array => sseBytes({ event: 'error', data: JSON.stringify(error) })

/** Is released with the response. */
function placeOf({ releases }: Exchange, place: Place): Awaited<ReturnType<RouteRequest['admit']>> {
  const release = (): void => {
    releases.delete(release)
    place.release()
  }
  releases.add(release)
  return {
    release,
    keepUntil(turn) {
      releases.delete(release)
      void turn.then(release, release)
    },
  }
}

interface StreamExchange extends Pick<CarryOptions, 'slices' | 'cut' | 'done'> {
  readonly exchange: Exchange
  readonly errorOf: ErrorForms
}

function carried(request: Request, response: Response, { exchange, errorOf, ...options }: StreamExchange): Response {
  const { peer, requestId, releases } = exchange
  if (!peer) return response
  const isCounted = exchange.isStream || (request.method === 'GET' && releases.size === 0)
  return carryStream(response, {
    open: (connection) => peer.openStream({ ...connection, isCounted }),
    lastMessage(thrown) {
      const [error, form] = errorOf(thrown, request, exchange)
      return exchange.encodeError(form(error, requestId))
    },
    signal: request.signal,
    ...options,
  })
}

function queryOf(url: URL): { readonly [name: string]: string | readonly string[] } {
  return Object.fromEntries(
    [...new Set(url.searchParams.keys())].map((name) => {
      const all = url.searchParams.getAll(name)
      return [name, all.length > 1 ? all : (all[0] ?? '')]
    }),
  )
}

function refuseQuery(url: URL): undefined {
  const [name] = url.searchParams.keys()
  if (name === undefined) return undefined
  throw new HttpError('invalid_request', `This route has no query parameter "${name}".`, { parameter: name, remedy: 'See GET /docs.' })
}

/** For pages of the origins in the list. Others were refused before. */
function preflight({ headers }: Request, methods: readonly string[]): Response {
  return new Response(null, {
    status: 204,
    headers: {
      'access-control-allow-methods': methods.join(', '),
      'access-control-allow-headers': headers.get('access-control-request-headers') ?? '',
      'access-control-max-age': '600',
    },
  })
}

interface AddedHeaders {
  readonly names: AllowedNames
  readonly basePath: string
  readonly exchange: Exchange
}

function addHeaders(response: Response, request: Request, { names, basePath, exchange: { requestId, route } }: AddedHeaders): void {
  const { headers } = response
  headers.set('x-request-id', requestId)
  // Where clients of that protocol look for it.
  if (route?.headend === 'anthropic') headers.set('request-id', requestId)
  headers.set('x-content-type-options', 'nosniff')
  if (!headers.has('cache-control')) headers.set('cache-control', 'no-store')
  const location = headers.get('location')
  if (location?.startsWith('/')) headers.set('location', `${basePath}${location}`)
  const origin = allowedOrigin(request.headers, names)
  if (origin === undefined) return
  headers.set('access-control-allow-origin', origin)
  headers.set('access-control-expose-headers', '*')
  headers.append('vary', 'origin')
}

/** People paste tokens into addresses. */
const { text: withoutTokens } = redactor()

function accessEntry(
  request: Request,
  status: number,
  { exchange, durationMs }: { readonly exchange: Exchange; readonly durationMs: number },
): AccessEntry {
  const { requestId, route, caller, sessionId, error } = exchange
  return {
    requestId,
    method: request.method,
    path: withoutTokens(exchange.url.pathname),
    ...(route && { route: route.path, headend: route.headend }),
    status,
    durationMs: Math.round(durationMs * 10) / 10,
    ...(caller && { principal: caller.principal.id }),
    ...(sessionId !== undefined && { sessionId }),
    ...(error && { error: error.code }),
  }
}
