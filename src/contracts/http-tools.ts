import type { Effect } from './items.ts'
import type { JsonSchema } from './json.ts'

export const httpMethods = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE'] as const
export type HttpMethod = (typeof httpMethods)[number]

export const parameterPlaces = ['path', 'query', 'header', 'body'] as const
export type ParameterPlace = (typeof parameterPlaces)[number]

/** A JSON Schema with a place. Default: `path` if the URL has `{name}`; else `query`, or `body` for POST, PUT and PATCH. */
export type RestParameter = JsonSchema & { readonly in?: ParameterPlace; readonly required?: boolean }

/** One of these. Values may have placeholders: `${TOKEN}`. */
export interface HttpAuth {
  readonly bearer?: string
  readonly basic?: { readonly user: string; readonly password: string }
  readonly header?: { readonly name: string; readonly value: string }
  readonly query?: { readonly name: string; readonly value: string }
}

/** How to get the next page. Collects the lists of all pages. */
export interface RestPagination {
  /** `cursor`: a value of the response; `page` and `offset`: a number; `link`: a URL of the response. */
  readonly by: 'cursor' | 'page' | 'offset' | 'link'
  /** The parameter for the cursor or the number. */
  readonly parameter?: string
  /** JSON path of the cursor or the URL. Default for `link`: the `Link` header. */
  readonly next?: string
  /** The number of the first page. Default: 1 for `page`, 0 for `offset`. */
  readonly start?: number
  /** Default 10. */
  readonly maxPages?: number
  /** Default 1,000. */
  readonly maxItems?: number
}

/** An endpoint that agents can call. */
export interface RestToolDefinition {
  readonly description: string
  /** Default `GET`. */
  readonly method?: HttpMethod
  /** With `{name}` for parameters in the path or the query: `https://api.example.com/users/{id}`. */
  readonly url: string
  readonly parameters?: { readonly [name: string]: RestParameter }
  /** Values may have placeholders: `${TOKEN}`. */
  readonly headers?: { readonly [name: string]: string }
  readonly auth?: HttpAuth
  /** JSON path of the part of the response that the model gets. Default: all of it. */
  readonly result?: string
  readonly pagination?: RestPagination
  /** For the whole call, `30s` or milliseconds. Default `30s`. */
  readonly timeout?: number | string
  /** For all responses together. Default 1 MB. */
  readonly maxBytes?: number
  /** Default: `read` for GET and HEAD, otherwise `write`. */
  readonly effect?: Effect
  /** A queue that limits the calls, besides the one with the name of the tool. */
  readonly queue?: string
  /** Other hosts that the endpoint may redirect to. They get no credentials. */
  readonly redirects?: readonly string[]
}

/** An OpenAPI document. Each operation becomes a tool. */
export interface OpenApiDefinition extends Pick<RestToolDefinition, 'headers' | 'timeout' | 'maxBytes' | 'queue' | 'redirects'> {
  /** A file or a URL. */
  readonly spec: string
  /** Replaces the servers of the document. */
  readonly baseUrl?: string
  /** Patterns of operations: `listPets`, `get*`, `GET /pets/*`. Default: all. */
  readonly include?: readonly string[]
  readonly exclude?: readonly string[]
  /** `schemes`: values for the security schemes of the document, by name; for HTTP basic `user:password`. */
  readonly auth?: HttpAuth & { readonly schemes?: { readonly [name: string]: string } }
}
