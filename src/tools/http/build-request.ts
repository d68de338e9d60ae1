import type { HttpMethod, Json, JsonObject, ParameterPlace, ToolFailure } from '../../contracts/index.ts'
import { isRecord } from '../../util/is-record.ts'

/** One parameter of an operation. */
export interface HttpParameter {
  /** The key in the input of the tool. */
  readonly property: string
  /** The name in the request. */
  readonly name: string
  /** `whole body`: the value is the body. */
  readonly in: ParameterPlace | 'cookie' | 'whole body'
  /** Between the entries of a list. Absent: one parameter for each entry. */
  readonly separator?: ',' | ' ' | '|'
  /** An object becomes `name[key]=value`. */
  readonly isDeep?: true
}

export type BodyType = 'application/json' | 'application/x-www-form-urlencoded' | 'text/plain'

/** What a tool sends, without values. */
export interface HttpOperation {
  readonly method: HttpMethod
  /** With `{name}` for path parameters. */
  readonly url: string
  readonly parameters: readonly HttpParameter[]
  readonly bodyType?: BodyType
}

/** A request without credentials. */
export interface HttpRequest {
  readonly method: HttpMethod
  readonly url: URL
  readonly headers: { readonly [name: string]: string }
  readonly body?: string
}

export type BuiltRequest = { readonly ok: true; readonly request: HttpRequest } | { readonly ok: false; readonly failure: ToolFailure }

const longestUrl = 8_192

export function buildRequest(operation: HttpOperation, input: JsonObject): BuiltRequest {
  const { method, parameters } = operation
  const given = parameters.filter(({ property }) => input[property] !== undefined && input[property] !== null)
  const placed = (place: HttpParameter['in']): readonly Given[] =>
    given.flatMap((each) => (each.in === place ? [{ ...each, value: input[each.property] ?? null }] : []))
  const url = urlWith(operation.url, placed('path'))
  if (typeof url === 'string') return refused(url)
  for (const each of placed('query')) for (const [name, value] of pairsOf(each)) url.searchParams.append(name, value)
  if (url.href.length > longestUrl) return refused(`The URL would have more than ${longestUrl} characters.`)
  const headers: Record<string, string> = {}
  for (const each of placed('header')) headers[each.name.toLowerCase()] = textOf(each.value, ',')
  const cookies = placed('cookie').map(({ name, value }) => `${name}=${encodeURIComponent(textOf(value, ','))}`)
  if (cookies.length > 0) headers.cookie = cookies.join('; ')
  const wrong = Object.entries(headers).find(([, value]) => /[^\t\x20-\x7e\x80-\xff]/.test(value))
  if (wrong) return refused(`The header ${wrong[0]} cannot have this value.`)
  const body = bodyOf(operation, placed)
  if (body !== undefined) headers['content-type'] = operation.bodyType ?? 'application/json'
  return { ok: true, request: { method, url, headers, ...(body !== undefined && { body }) } }
}

interface Given extends HttpParameter {
  readonly value: Json
}

const refused = (message: string): BuiltRequest => ({
  ok: false,
  failure: { class: 'invalid_input', message, remedy: 'Change the arguments.' },
})

/** The URL, or why there is none. A value never changes the host or leaves its segment of the path. */
function urlWith(template: string, values: readonly Given[]): URL | string {
  const byName = new Map(values.map(({ name, value }) => [name, textOf(value, ',')]))
  let isEmpty = false
  const filled = template.replaceAll(/\{([^{}]+)\}/g, (_whole, name: string) => {
    const text = byName.get(name) ?? ''
    isEmpty ||= text === ''
    return encodeURIComponent(text.toWellFormed())
  })
  if (isEmpty) return 'A parameter of the path is empty.'
  const [path = ''] = filled.split('?', 1)
  if (path.split('/').some((segment) => segment === '.' || segment === '..')) return 'A parameter of the path cannot be "." or "..".'
  return URL.parse(filled) ?? 'The arguments give no valid URL.'
}

function pairsOf({ name, value, separator, isDeep }: Given): readonly (readonly [string, string])[] {
  if (Array.isArray(value) && separator === undefined) return (value as readonly Json[]).map((each) => [name, textOf(each, ',')])
  if (isRecord(value) && (isDeep || separator === undefined))
    return Object.entries(value).map(([key, inner]) => [isDeep ? `${name}[${key}]` : key, textOf(inner ?? null, ',')])
  return [[name, textOf(value, separator ?? ',')]]
}

function textOf(value: Json, separator: string): string {
  if (typeof value === 'string') return value
  if (Array.isArray(value)) return (value as readonly Json[]).map((each) => textOf(each, separator)).join(separator)
  return isRecord(value) ? JSON.stringify(value) : String(value)
}

function bodyOf({ bodyType }: HttpOperation, placed: (place: HttpParameter['in']) => readonly Given[]): string | undefined {
  const [whole] = placed('whole body')
  const fields = placed('body')
  if (!whole && fields.length === 0) return undefined
  if (whole && bodyType === 'text/plain') return textOf(whole.value, '\n')
  if (bodyType !== 'application/x-www-form-urlencoded')
    return JSON.stringify(whole ? whole.value : Object.fromEntries(fields.map(({ name, value }) => [name, value])))
  const form = new URLSearchParams()
  const entries = whole && isRecord(whole.value) ? Object.entries(whole.value) : fields.map(({ name, value }) => [name, value] as const)
  for (const [name, value] of entries) {
    const values: readonly Json[] = Array.isArray(value) ? value : [value ?? null]
    for (const each of values) form.append(name, textOf(each, ','))
  }
  return form.toString()
}
