import type { z } from 'zod'
import type { MaybePromise, SessionService } from '../../contracts/index.ts'
import type { Caller, Scope } from './caller.ts'
import type { ErrorShape } from './http-error.ts'
import type { OpenStream, StreamConnection } from './open-streams.ts'

// The route table: the server, the OpenAPI document, the reference page and the access tests are made from it.

type Method = 'GET' | 'POST' | 'PATCH' | 'DELETE'
export type HeadendName = 'server' | 'rest' | 'openai' | 'anthropic' | 'mcp' | 'hooks' | 'web' | 'channels'

/** The place that a running turn holds. */
export interface Place {
  /** Can be called several times. */
  release(): void
}

/** Somebody who has passed authentication and limits. */
export interface Peer {
  readonly caller: Caller
  /** Only the sessions and agents of the caller. */
  readonly sessions: SessionService
  /** A document of the server as the caller may see it: without absolute paths, unless it is an admin. */
  shown<Document extends object>(document: Document): Document
  /** Names the session in the access log. */
  concerns(sessionId: string): void
  /** Waits for a free place for a turn of this agent. */
  admit(agent: string, signal: AbortSignal): Promise<Place>
  /** Something that stays open, and ends with the token of the caller. Throws `HttpError` if there is no place for it. */
  openStream(connection: StreamConnection): OpenStream
}

/** A request that has passed authentication, limits and validation. */
export interface RouteRequest<Body = unknown, Query = unknown> extends Peer {
  readonly raw: Request
  readonly url: URL
  /** Parameters of the path, decoded. */
  readonly params: { readonly [name: string]: string }
  readonly query: Query
  readonly body: Body
  readonly requestId: string
  /** The user of this machine sends it, from this machine and to a loopback address. */
  readonly isLocal: boolean
  /** Aborted when the client disconnects. */
  readonly signal: AbortSignal
  /** For a route that has authenticated the request itself: the checks that follow a token, and the rights of this caller. */
  enterAs(caller: Caller): Promise<Entered>
  /** The response is a stream that needs a place, as those of GET do. */
  opensStream(): void
  /** How the stream of the response ends with an error, which has the form of the route. Default: with an event `error`. */
  endsWith(encode: (error: object) => Uint8Array): void
  /**
   * The place is also free again when the response has been sent, or when the promise that `keepUntil` gets has settled. Default
   * signal: that of the request.
   */
  admit(agent: string, signal?: AbortSignal): Promise<Place & { keepUntil(turn: Promise<unknown>): void }>
}

export type Entered = Pick<RouteRequest, 'sessions' | 'admit'>

/** A response as the OpenAPI document describes it. */
export interface RouteResponse {
  readonly description: string
  /** By media type. Of `text/event-stream`: the data of an event. Default: nothing, or the error of the protocol. */
  readonly content?: { readonly [mediaType: string]: z.ZodType }
}

export interface Route<Body = unknown, Query = unknown> {
  readonly method: Method
  /** `/v1/sessions/:id`. */
  readonly path: string
  /** Requests without this header go to the next route of the same path. */
  readonly onlyWith?: string
  /** The last parameter is the rest of the path: it may contain slashes. */
  readonly isRest?: boolean
  readonly headend: HeadendName
  /** `public`: no token is needed. */
  readonly access: Scope | 'public'
  /** Paths of its protocol that this server does not have, below `/v1/`. No agent can have their first words as its name. */
  readonly missing?: readonly string[]
  /**
   * Programs of others call it, such as platforms, which know nothing of the server: every method, Host and query is accepted. Its `handle`
   * reads the body.
   */
  readonly isWebhook?: true
  /** It is allowed while the server shuts down. */
  readonly endsWork?: boolean
  /** It is no part of the interface: the reference does not show it. */
  readonly isUnlisted?: true
  /** One sentence for the reference. */
  readonly summary: string
  readonly description?: string
  /** Descriptions of the parameters of `path`. */
  readonly pathParameters?: { readonly [name: string]: string }
  /** Strict, except for protocols of others: their clients add parameters. Without it, every parameter is refused. */
  readonly query?: z.ZodType<Query>
  readonly body?: z.ZodType<Body>
  /** Default: that of the server. */
  readonly maxBodyBytes?: number
  readonly responses: { readonly [status: number]: RouteResponse }
  readonly errors: ErrorShape
  handle(request: RouteRequest<Body, Query>): MaybePromise<Response>
}

/** The content of a response with a JSON body. */
export const json = (schema: z.ZodType): NonNullable<RouteResponse['content']> => ({ 'application/json': schema })

/** Keeps the types of body and query for the handler, and forgets them in the table. */
export const route = <Body = undefined, Query = undefined>(given: Route<Body, Query>): Route => given as unknown as Route
