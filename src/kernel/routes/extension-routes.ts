// Addresses of extensions on the server that hosts the kernel.
//
// 1. A route exists from `route` until its function is called, or its extension stops.
// 2. An extension stops after the requests that its handlers answer.
// 3. A handler has a deadline, like every call of an extension.
import { type Clock, type HttpRoutes, type MaybePromise, TroupeError } from '../../contracts/index.ts'
import { keepAlive } from '../../util/keep-alive.ts'
import { withinTime } from '../shared/background-work.ts'
import { extensionError } from '../shared/extension-failure.ts'
import type { KernelServer } from '../shared/kernel-types.ts'

const handlerMs = 10_000

type Handler = Parameters<HttpRoutes['route']>[1]

interface RoutingExtension {
  readonly id: string
  /** The folder of the extension. */
  readonly folder: string
  run<Result>(stage: string, work: () => Result): Result
}

/** The routes of one extension. */
export interface OwnRoutes {
  /** Absent without a server. */
  readonly http: HttpRoutes | undefined
  /** Removes them. Resolves when their handlers have ended. Can be repeated. */
  close(): Promise<void>
}

export class ExtensionRoutes {
  readonly #clock: Clock
  /** By their paths on the server. */
  readonly #answers = new Map<string, (request: Request) => Promise<Response>>()
  #server: Pick<KernelServer, 'url'> | undefined
  /** All extensions have started, and none has been stopped. */
  isReady = false

  constructor(clock: Clock) {
    this.#clock = clock
  }

  attach(server: Pick<KernelServer, 'url'>): void {
    this.#server = server
  }

  /** `undefined`: there is no such route. Rejects if the handler fails, and with `runtime_closed` if its extension may not run yet. */
  async answer(request: Request): Promise<Response | undefined> {
    const answer = this.#answers.get(new URL(request.url).pathname)
    if (answer) return answer(request)
    if (this.isReady) return undefined
    throw new TroupeError('runtime_closed', 'The assistant is starting or stopping.', { remedy: 'Try again in a moment.' })
  }

  /** @param extension That asks for routes. */
  of({ id, folder, run }: RoutingExtension): OwnRoutes {
    const base = `/channels/${id}`
    const own = new Set<() => void>()
    const running = new Set<Promise<unknown>>()
    let isOpen = true
    const url = (): string | undefined => this.#server?.url
    const route = (path: string, handler: Handler): (() => void) => {
      const full = `${base}${path}`
      if (!isOpen) throw new TroupeError('runtime_closed', `the extension \`${id}\` is stopped`)
      if (!isPath(path))
        throw extensionError(folder, `\`${path}\` is not a path of a route`, 'Write it like /events, with a slash at its beginning.')
      if (this.#answers.has(full))
        throw extensionError(folder, `it has a route \`${path}\` already`, 'Remove the first one before you add another.')
      this.#answers.set(full, (request) => {
        const stage = `http ${path}`
        const work = this.#call(stage, () => run(stage, () => handler(request)))
        running.add(work)
        return work.finally(() => running.delete(work))
      })
      const remove = (): void => {
        if (own.delete(remove)) this.#answers.delete(full)
      }
      own.add(remove)
      return remove
    }
    return {
      get http() {
        const known = url()
        return known === undefined ? undefined : { url: `${known}${base}`, route }
      },
      async close() {
        isOpen = false
        for (const remove of [...own]) remove()
        await Promise.allSettled([...running])
      },
    }
  }

  async #call(stage: string, work: () => MaybePromise<Response>): Promise<Response> {
    const release = keepAlive()
    const late = new Error(`\`${stage}\` took longer than ${handlerMs / 1000} s`)
    const response: unknown = await withinTime(work, { clock: this.#clock, ms: handlerMs, late }).finally(release)
    if (!isResponse(response)) throw new Error(`\`${stage}\` returned no \`Response\``)
    return response
  }
}

/** As requests have it: without `..`, a query and characters that are written in another form. */
const isPath = (path: string): boolean => /^\/[^?#]/.test(path) && new URL(`http://localhost${path}`).pathname === path

/** Servers replace the global class. */
const isResponse = (value: unknown): value is Response =>
  typeof value === 'object' && value !== null && 'status' in value && 'headers' in value && 'arrayBuffer' in value
