import { Ajv2020 } from 'ajv/dist/2020.js'
import type { HeadendServer, Route } from '../../src/server/http/index.ts'
import { KnownPaths } from '../../src/server/http/known-paths.ts'

// Every answer of a server in a test is compared with what its OpenAPI document says about it.

type Check = (value: unknown) => string | undefined
interface Operation {
  readonly responses: { readonly [status: string]: { readonly content?: { readonly [mediaType: string]: object } } }
}
export interface ApiDocument {
  readonly paths: { readonly [path: string]: { readonly [method: string]: Operation } }
}

export interface CheckedAnswers {
  fetch: HeadendServer['fetch']
  /** What differs from the document. */
  readonly problems: readonly string[]
}

/** `document` is asked for once. Servers with the same routes share their checks: a compilation takes a while. */
export function checkedAnswers(
  fetch: HeadendServer['fetch'],
  routes: readonly Route[],
  document: () => Promise<ApiDocument>,
): CheckedAnswers {
  const problems: string[] = []
  const key = routes.map(({ method, path }) => `${method} ${path}`).join()
  const api = (): Promise<Api> => {
    const known = apis.get(key) ?? document().then((given) => new Api(given))
    apis.set(key, known)
    return known
  }
  const paths = new KnownPaths(routes)
  const operations = paths.routes.map((route) => ({ route, pattern: patternOf(route) }))

  async function check(request: Request, response: Response): Promise<Response> {
    const { headers, method } = request
    const url = new URL(request.url)
    const route = operations.find(
      ({ route: each, pattern }) => pattern.test(url.pathname) && paths.isFor(each, { headers, url }) && each.method === method,
    )?.route
    // What no route answers has no description. A page that the browser has is not sent again; of 499, nobody hears.
    if (!route || route.isUnlisted || response.status === 304 || response.status === 499) return response
    const place = `${route.method} ${route.path} ${response.status}`
    const found = (await api()).find(route, response)
    if (typeof found === 'string') problems.push(`${place}: ${found}`)
    if (typeof found !== 'function') return response
    const note = (text: string): void => {
      const problem = found(parsed(text))
      if (problem !== undefined) problems.push(`${place}: ${problem} in ${text.slice(0, 2_000)}`)
    }
    if (!response.headers.get('content-type')?.startsWith('text/event-stream')) {
      note(await response.clone().text())
      return response
    }
    return new Response(response.body?.pipeThrough(eventChecker(note)) ?? null, response)
  }

  return { problems, fetch: async (request, connection) => check(request, await fetch(request, connection)) }
}

const apis = new Map<string, Promise<Api>>()

class Api {
  readonly #document: ApiDocument
  readonly #ajv = new Ajv2020({ strict: false, validateFormats: false })
  readonly #checks = new Map<string, Check>()

  constructor(document: ApiDocument) {
    this.#document = document
    this.#ajv.addSchema(document, 'api')
  }

  /** The check of a body, or what is wrong with the answer. `undefined`: there is nothing to check. */
  find({ method, path }: Route, { status, headers, body }: Response): Check | string | undefined {
    const template = path.replaceAll(/:(\w+)/g, '{$1}')
    const responses = this.#document.paths[template]?.[method.toLowerCase()]?.responses
    if (!responses) return 'the document does not describe this route'
    const name = String(status) in responses ? String(status) : 'default'
    if (name === 'default' && status < 400) return 'the document does not describe this status'
    const content = responses[name]?.content
    const mediaType = headers.get('content-type')?.split(';')[0]
    if (!content)
      return body === null || mediaType === undefined ? undefined : `the document describes no content, but there is ${mediaType}`
    if (mediaType === undefined) return 'there is no content, but the document describes one'
    const described = mediaType in content ? mediaType : '*/*'
    if (!(described in content)) return `the document describes no ${mediaType}`
    if (mediaType !== 'application/json' && mediaType !== 'text/event-stream') return undefined
    const pointer = ['paths', template, method.toLowerCase(), 'responses', name, 'content', described, 'schema'].map(escaped).join('/')
    const known = this.#checks.get(pointer) ?? this.#compile(`api#/${pointer}`)
    this.#checks.set(pointer, known)
    return known
  }

  #compile($ref: string): Check {
    const validate = this.#ajv.compile({ $ref })
    return (value) => (validate(value) ? undefined : this.#ajv.errorsText(validate.errors?.slice(-3)))
  }
}

const escaped = (part: string): string => encodeURIComponent(part.replaceAll('~', '~0').replaceAll('/', '~1'))

const patternOf = ({ path, isRest }: Route): RegExp =>
  new RegExp(`^${path.replaceAll('.', '\\.').replaceAll(/:\w+(?=$|\/)/g, '[^/]+')}${isRest ? '(?:/.+)?' : ''}$`)

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}

/** Passes the bytes on, and gives the data of each event. */
function eventChecker(note: (data: string) => void): TransformStream<Uint8Array, Uint8Array> {
  const decoder = new TextDecoder()
  let rest = ''
  return new TransformStream({
    transform(chunk, controller) {
      controller.enqueue(chunk)
      const blocks = (rest + decoder.decode(chunk, { stream: true })).split('\n\n')
      rest = blocks.pop() ?? ''
      for (const block of blocks) {
        const data = block.split('\n').flatMap((line) => (line.startsWith('data: ') ? [line.slice(6)] : []))
        if (data.length > 0) note(data.join('\n'))
      }
    },
  })
}
