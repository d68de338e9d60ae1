import { isRecord } from '../../util/is-record.ts'
import { messageOf } from '../../util/message-of.ts'
import { oneLine } from '../../util/one-line.ts'
import { type Fields, fieldsOf, textOf } from '../../util/unknown-fields.ts'
import { FailureError } from './failure.ts'

/** The facts about an error. Clients and frameworks share no error class, so this reads their common fields and causes. */
export interface ErrorFacts {
  /** Our own failure, if the error has one as its cause. */
  readonly own: FailureError | undefined
  /** Names of the error and its causes. */
  readonly names: readonly string[]
  readonly message: string
  readonly status: number | undefined
  /** Lower-case names. */
  readonly headers: { readonly [name: string]: string }
  readonly body: string
  /** The target of the request, without path and query. */
  readonly origin: string | undefined
  /** `ECONNREFUSED`, `UND_ERR_SOCKET`. */
  readonly networkCode: string | undefined
  /** The provider's names for the failure: `insufficient_quota overloaded_error`. */
  readonly kinds: readonly string[]
}

export function readError(error: unknown): ErrorFacts {
  const all = causesOf(error)
  // An outer error with a good status only says that the response could not be read.
  const chain = all.length > 1 && isGoodStatus(all[0]?.statusCode) ? all.slice(1) : all
  const codes = chain.flatMap(codesOf)
  const networkCode = codes.find((code) => networkCodes.test(code))
  const kinds = codes.filter((code) => !networkCodes.test(code))
  return {
    own: all.find((each) => each instanceof FailureError) as FailureError | undefined,
    names: chain.flatMap(({ name }) => textOf(name) ?? []),
    message: messageIn(chain[0] ?? error, chain),
    status: statusIn(chain, kinds),
    headers: all.map(headersOf).find((headers) => Object.keys(headers).length > 0) ?? {},
    body: chain.map(bodyOf).find((body) => body !== '') ?? '',
    origin: all.map(({ url }) => (typeof url === 'string' ? URL.parse(url)?.origin : undefined)).find((origin) => origin !== undefined),
    networkCode,
    kinds,
  }
}

const isGoodStatus = (status: unknown): boolean => typeof status === 'number' && status < 300

const networkCodes =
  /^(?:E(?:CONN|AI_|HOST|NET)\w+|ENOTFOUND|ETIMEDOUT|EPIPE|EPROTO|EADDRNOTAVAIL|UND_ERR_\w+|HPE_\w+|ERR_(?:TLS|SSL|INVALID_URL|STREAM_PREMATURE_CLOSE)\w*|\w*CERT\w*|DEPTH_ZERO_\w+|SELF_SIGNED_\w+|UNABLE_TO_\w+|\w*HOSTNAME_MISMATCH)$/

function codesOf(error: Fields): readonly string[] {
  const data = fieldsOf(error.data)
  const said = [error, data, fieldsOf(data.error), fieldsOf(error.error), fieldsOf(fieldsOf(error.error).error)]
  return said
    .flatMap(({ lc_error_code, type, code, status }) => [lc_error_code, type, code, status])
    .filter((code) => typeof code === 'string' || typeof code === 'number')
    .map(String)
}

function statusIn(chain: readonly Fields[], kinds: readonly string[]): number | undefined {
  const given = chain.flatMap((error) => [
    error.statusCode,
    error.status,
    error.status_code,
    fieldsOf(error.response).status,
    fieldsOf(error.$metadata).httpStatusCode,
  ])
  const numbers = [...given, ...kinds].map((value) => (typeof value === 'string' && /^\d{3}$/.test(value) ? Number(value) : value))
  const status = numbers.find((value) => typeof value === 'number' && value >= 300 && value <= 999)
  return typeof status === 'number' ? status : statusByKind.find(([kind]) => kinds.some((each) => kind.test(each)))?.[1]
}

/** An error within a stream has no status, only a name. */
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
  const said = chain.flatMap(({ message }) => (typeof message === 'string' && message.trim() !== '' ? [message] : []))[0]
  // LangChain appends hints for its own users.
  if (said !== undefined) return said.replace(/\s*Troubleshooting URL:[\s\S]*$/, '')
  if (error instanceof Error) return withoutName(messageOf(error), error)
  return jsonText(error)
}

function jsonText(value: unknown): string {
  try {
    return JSON.stringify(value) ?? ''
  } catch {
    return ''
  }
}

const withoutName = (text: string, { name }: Error): string => (text === name ? '' : text)

/** The error and its causes. A failed connection has one error for each address that was tried. */
function causesOf(error: unknown): readonly Fields[] {
  const chain: Fields[] = []
  for (let at = error; isRecord(at) && chain.length < 10; at = at.cause ?? (Array.isArray(at.errors) ? at.errors[0] : undefined))
    chain.push(at)
  return chain
}

/** Headers come as `Headers`, or as an object with keys in any case. */
function headersOf(error: Fields): { readonly [name: string]: string } {
  const given = error.responseHeaders ?? error.headers ?? fieldsOf(error.response).headers
  const entries = given instanceof Headers ? [...given] : Object.entries(fieldsOf(given))
  return Object.fromEntries(
    entries.flatMap(([name, value]) => (typeof value === 'string' || typeof value === 'number' ? [[name.toLowerCase(), `${value}`]] : [])),
  )
}

/** The raw body, or the parsed one. */
function bodyOf(error: Fields): string {
  const given = error.responseBody ?? fieldsOf(error.response).data ?? error.error ?? error.errorDetails
  return typeof given === 'string' ? given : jsonText(given)
}

/** One short line. */
export function shorten(text: string, length = 300): string {
  const line = oneLine(text)
  return line.length > length ? `${line.slice(0, length).trimEnd()}…` : line
}

/** The message in the body of a failed response. */
export function bodyText(body: string): string | undefined {
  const said = saying(parsed(body))
  return said === undefined || said.trim() === '' ? undefined : said
}

export const isWebPage = (body: string): boolean => /^\s*<(?:!doctype|html|head|body|\?xml)/i.test(body)

/** The text of a page, without its markup. */
export function pageText(body: string): string {
  const text = body
    .slice(0, 20_000)
    .replaceAll(/<(script|style)\b[\s\S]*?(?:<\/\1>|$)/gi, ' ')
    .replaceAll(/<[^>]*>?/g, ' ')
  return shorten(text, 120)
}

function parsed(body: string): unknown {
  try {
    return JSON.parse(body)
  } catch {
    return undefined
  }
}

function saying(value: unknown): string | undefined {
  if (typeof value === 'string') return value
  if (Array.isArray(value)) return saying(value[0])
  if (!isRecord(value)) return undefined
  const { error, message, msg, detail, metadata } = value
  const own = [error, message, msg, detail].map(saying).find((text) => text !== undefined)
  // OpenRouter puts the message of the upstream provider into `metadata.raw`.
  const raw = textOf(fieldsOf(metadata).raw)
  if (raw === undefined) return own
  const inner = saying(parsed(raw)) ?? raw
  return own === undefined ? inner : `${own}: ${inner}`
}
