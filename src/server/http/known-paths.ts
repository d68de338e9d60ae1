import { HttpError } from './http-error.ts'
import type { Route } from './route.ts'

// What is said about requests that no route answers: in the form of the protocol that the path belongs to.

/** A request whose address has been read. */
interface Addressed {
  readonly headers: Headers
  readonly url: URL
}

interface Pattern {
  readonly pattern: RegExp
  readonly isAgent: boolean
  readonly isWebhook: boolean
  readonly methods: readonly string[]
}

export class KnownPaths {
  /** Routes for clients of one protocol first. */
  readonly routes: readonly Route[]
  readonly #patterns: readonly Pattern[]
  readonly #areas: ReadonlySet<string>
  readonly #missing: readonly string[]

  constructor(routes: readonly Route[]) {
    this.routes = routes.toSorted((a, b) => Number('onlyWith' in b) - Number('onlyWith' in a))
    this.#patterns = patternsOf(routes)
    this.#areas = new Set(routes.flatMap(areasOf))
    this.#missing = routes.flatMap(({ missing = [] }) => missing)
  }

  /** Whether the route answers the request: `/v1/:agent` has no words of other routes. */
  isFor({ path, onlyWith }: Route, { headers, url }: Addressed): boolean {
    return (onlyWith === undefined || headers.has(onlyWith)) && !(isForAgents(path) && this.#areas.has(areaOf(url.pathname)))
  }

  /** A route of the protocol that has the path, or others below the same word. */
  ownerOf({ headers, url }: Addressed): Route | undefined {
    const area = areaOf(url.pathname)
    return this.routes.find((route) => (route.onlyWith === undefined || headers.has(route.onlyWith)) && areasOf(route).includes(area))
  }

  isWebhook({ pathname }: URL): boolean {
    return this.#patterns.some(({ isWebhook, pattern }) => isWebhook && pattern.test(pathname))
  }

  methodsFor({ pathname }: URL): readonly string[] {
    const isOwned = this.#areas.has(areaOf(pathname))
    const found = this.#patterns.filter(({ pattern, isAgent }) => pattern.test(pathname) && !(isAgent && isOwned))
    return [...new Set(found.flatMap(({ methods }) => methods))]
  }

  unknownRoute(method: string, url: URL): HttpError {
    const { pathname } = url
    const allowed = this.#missing.some((name) => pathname === `/v1/${name}`) ? [] : this.methodsFor(url)
    if (allowed.length === 0) return new HttpError('not_found', `There is no route ${pathname}.`, { remedy: 'See GET /docs.' })
    return new HttpError('method_not_allowed', `${pathname} has no method ${method}.`, { remedy: `Use ${allowed.join(' or ')}.` })
  }
}

/** The beginnings of paths that belong to the protocol of a route: `/v1/responses`. */
export const areasOf = ({ path, missing = [] }: Pick<Route, 'path' | 'missing'>): readonly string[] =>
  [path, ...missing.map((name) => `/v1/${name}`)].map(areaOf)

const areaOf = (path: string): string => path.split('/', 3).join('/')

const isForAgents = (path: string): boolean => path.startsWith('/v1/:')

function patternsOf(routes: readonly Route[]): readonly Pattern[] {
  return [...new Set(routes.map(({ path }) => path))].map((path) => {
    const own = routes.filter((route) => route.path === path)
    const parts = path.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&').replaceAll(/:\w+/g, '[^/]+')
    const rest = own.some(({ isRest }) => isRest) ? '(?:/.+)?' : ''
    return {
      pattern: new RegExp(`^${parts}${rest}$`),
      isAgent: isForAgents(path),
      isWebhook: own.some(({ isWebhook }) => isWebhook),
      methods: own.map(({ method }) => method),
    }
  })
}
