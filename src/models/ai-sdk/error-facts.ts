import { messageOf } from '../../util/message-of.ts'

/** What can be learnt from an error of a provider's package, whatever its class: known by form, so nothing is loaded. */
export interface ErrorFacts {
  readonly name: string
  readonly message: string
  readonly status: number | undefined
  /** Lower-case names. */
  readonly headers: { readonly [name: string]: string }
  readonly body: string
  /** Where the request went, without path and query. */
  readonly origin: string | undefined
  /** `ECONNREFUSED`, `UND_ERR_SOCKET`, from wherever in the chain of causes. */
  readonly networkCode: string | undefined
  /** What the provider calls the kind of failure: `insufficient_quota overloaded_error`. */
  readonly kinds: string
}

type Fields = { readonly [field: string]: unknown }

export function factsOf(error: unknown): ErrorFacts {
  const fields = asFields(error)
  const chain = causesOf(error)
  const said = [fields, asFields(fields.data), asFields(asFields(fields.data).error), asFields(fields.error)]
  const kinds = said
    .flatMap(({ type, code, status }) => [type, code, status])
    .filter((kind) => typeof kind === 'string' || typeof kind === 'number')
  return {
    name: typeof fields.name === 'string' ? fields.name : '',
    message: messageIn(error, chain),
    status: statusOf(fields, kinds),
    headers: lowerCased(asFields(fields.responseHeaders)),
    body: typeof fields.responseBody === 'string' ? fields.responseBody : '',
    origin: typeof fields.url === 'string' ? URL.parse(fields.url)?.origin : undefined,
    networkCode: chain.map(({ code }) => code).find((code) => typeof code === 'string' && /^[A-Z][A-Z0-9_]+$/.test(code)) as
      | string
      | undefined,
    kinds: kinds.join(' '),
  }
}

/** The error behind one that says only that a good answer could not be read. */
export function hiddenCause(error: unknown): unknown {
  const { statusCode, cause } = asFields(error)
  return typeof statusCode === 'number' && statusCode < 300 ? cause : undefined
}

function statusOf(fields: Fields, kinds: readonly (string | number)[]): number | undefined {
  const numbers = [fields.statusCode, fields.status, ...kinds].map((value) =>
    typeof value === 'string' && /^\d{3}$/.test(value) ? Number(value) : value,
  )
  const status = numbers.find((value) => typeof value === 'number' && value >= 300 && value <= 599)
  return typeof status === 'number' ? status : statusByKind.find(([kind]) => kinds.some((each) => kind.test(String(each))))?.[1]
}

/** Within a stream there is no status, only a word. */
const statusByKind: readonly [RegExp, number][] = [
  [/authentication|unauthenticated|invalid_api_key/i, 401],
  [/billing|insufficient_quota/i, 402],
  [/permission/i, 403],
  [/not_found/i, 404],
  [/rate_limit|resource_exhausted/i, 429],
  [/overloaded|unavailable/i, 529],
  [/timeout|deadline/i, 504],
  [/invalid_request|invalid_argument|context_length|bad_request/i, 400],
  [/api_error|server_error|internal/i, 500],
]

function messageIn(error: unknown, chain: readonly Fields[]): string {
  if (typeof error === 'string') return error
  const own = chain.map(({ message }) => message).find((message) => typeof message === 'string' && message.trim() !== '')
  if (typeof own === 'string') return own
  if (error instanceof Error) return messageOf(error)
  try {
    return JSON.stringify(error) ?? String(error)
  } catch {
    return 'the provider failed without saying why'
  }
}

/** The error and what caused it; a failed connection has one error for each address that was tried. */
function causesOf(error: unknown): readonly Fields[] {
  const chain: Fields[] = []
  for (let current = error; typeof current === 'object' && current !== null && chain.length < 10; ) {
    const fields = current as Fields
    chain.push(fields)
    current = fields.cause ?? (Array.isArray(fields.errors) ? fields.errors[0] : undefined)
  }
  return chain
}

function lowerCased(headers: Fields): { readonly [name: string]: string } {
  return Object.fromEntries(
    Object.entries(headers).flatMap(([name, value]) => (typeof value === 'string' ? [[name.toLowerCase(), value]] : [])),
  )
}

const asFields = (value: unknown): Fields => (typeof value === 'object' && value !== null ? (value as Fields) : {})
