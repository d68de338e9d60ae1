// biome-ignore-all lint/suspicious/noTemplateCurlyInString: placeholders are written like that
import {
  type HttpAuth,
  httpMethods,
  type OpenApiDefinition,
  type Problem,
  parameterPlaces,
  type RestPagination,
  type RestToolDefinition,
} from '../contracts/index.ts'
import { parseJsonPath } from '../util/json-path.ts'
import { checkSchema } from '../util/json-schema/check-schema.ts'
import { checkOnlyFields, expectObject, type FieldType, isPlainRecord, oneOf, optional, stringList } from '../util/option-problems.ts'
import { parseDuration } from '../util/parse-units.ts'
import { parseHttpAddress } from '../util/read-address.ts'
import { hasPlaceholders, parsePlaceholders } from './placeholders.ts'

const maxTimeoutMs = 3_600_000
/** Bodies are kept in memory. */
export const mostBodyBytes = 20_000_000
const headerName = /^[\w!#$%&'*+.^`|~-]+$/
/** The connection decides about these. */
const ownHeaders = ['host', 'content-length', 'transfer-encoding', 'connection', 'upgrade', 'accept-encoding']

const text: FieldType = { expected: 'text', accepts: (value) => typeof value === 'string' && value.trim() !== '' }
const secretText: FieldType = { ...text, isSecret: true, accepts: (value) => text.accepts(value) && parsePlaceholders(String(value)).ok }
const positive: FieldType = { expected: 'an integer from 1', accepts: (value) => Number.isSafeInteger(value) && Number(value) >= 1 }
const path: FieldType = {
  expected: 'a JSON path',
  remedy: 'Write it like `$.data.items` or `items[*].id`.',
  accepts: (value) => typeof value === 'string' && parseJsonPath(value) !== undefined,
}
const map: FieldType = { expected: 'an object', accepts: isPlainRecord }

/** The fields that both kinds of definitions have. */
const shared: { readonly [Key in keyof OpenApiDefinition & keyof RestToolDefinition]-?: FieldType } = {
  headers: optional(map),
  auth: optional(map),
  timeout: optional({
    expected: 'a time from 1ms to 1h',
    remedy: 'Write it like "30s"; a number is milliseconds.',
    accepts: (value) => (parseDuration(value) ?? 0) >= 1 && (parseDuration(value) ?? 0) <= maxTimeoutMs,
  }),
  maxBytes: optional({
    expected: `an integer from 1 to ${mostBodyBytes}`,
    accepts: (value) => positive.accepts(value) && Number(value) <= mostBodyBytes,
  }),
  queue: optional(text),
  redirects: optional(stringList('a list of hosts')),
}

const restFields: { readonly [Key in keyof RestToolDefinition]-?: FieldType } = {
  description: text,
  method: optional(oneOf(httpMethods)),
  url: {
    expected: 'an http: or https: URL without user and fragment, whose host has no parameter',
    remedy: 'Write it like `https://api.example.com/users/{id}`.',
    accepts: (value) => typeof value === 'string' && (hasPlaceholders(value) || isUrlTemplate(value)),
  },
  parameters: optional(map),
  result: optional(path),
  pagination: optional(map),
  effect: optional(oneOf(['read', 'idempotent', 'write'])),
  ...shared,
}

const openApiFields: { readonly [Key in keyof OpenApiDefinition]-?: FieldType } = {
  spec: text,
  baseUrl: optional({
    expected: 'an http: or https: URL without user, query and fragment',
    accepts: (value) => typeof value === 'string' && (hasPlaceholders(value) || (isUrlTemplate(value) && !/[?{]/.test(value))),
  }),
  include: optional(stringList('a list of patterns of operations')),
  exclude: optional(stringList('a list of patterns of operations')),
  ...shared,
}

/** Whether the parameters leave the host alone. */
export function isUrlTemplate(written: string): boolean {
  const read = parseHttpAddress(written.replaceAll(/\{[^{}]*\}/g, 'x'))
  const [, authority = ''] = /^[^/]*\/\/([^/?]*)/.exec(written) ?? []
  if (!read?.isAsWritten || authority.includes('{') || written.includes('#')) return false
  return read.url.username === '' && read.url.password === '' && !/[{}]/.test(written.replaceAll(/\{[^{}]+\}/g, ''))
}

/** The `{name}`s of a URL. */
export const urlParameters = (url: string): readonly string[] => [
  ...new Set([...url.matchAll(/\{([^{}]+)\}/g)].map(([, name = '']) => name)),
]

/** Everything that is wrong with a REST tool. Never repeats a value that may be a secret. */
export function checkRestTool(definition: RestToolDefinition, place: string): readonly Problem[] {
  const problems: Problem[] = []
  if (!expectObject(problems, definition, place)) return problems
  checkOnlyFields(problems, definition, { fields: restFields, place })
  checkShared(problems, definition, place)
  if (isPlainRecord(definition.parameters)) checkParameters(problems, definition, place)
  const { method = 'GET', effect, pagination } = definition
  if (isPlainRecord(pagination)) checkPagination(problems, pagination as RestPagination, `${place}.pagination`)
  if (pagination !== undefined && method !== 'GET' && effect !== 'read')
    problems.push({ place: `${place}.pagination`, message: 'is only for reading', remedy: 'Use GET, or set `effect` to `read`.' })
  return problems
}

/** The same for an OpenAPI source. The document is checked when it is read. */
export function checkOpenApi(definition: OpenApiDefinition, place: string): readonly Problem[] {
  const problems: Problem[] = []
  if (!expectObject(problems, definition, place)) return problems
  checkOnlyFields(problems, definition, { fields: openApiFields, place })
  checkShared(problems, definition, place)
  return problems
}

function checkShared(problems: Problem[], { headers, auth }: Pick<OpenApiDefinition, 'headers' | 'auth'>, place: string): void {
  if (isPlainRecord(headers))
    for (const [name, value] of Object.entries(headers)) {
      const at = `${place}.headers.${name}`
      if (!headerName.test(name) || ownHeaders.includes(name.toLowerCase()))
        problems.push({ place: at, message: 'this header cannot be set', remedy: 'Remove it.' })
      else if (!secretText.accepts(value)) problems.push({ place: at, message: 'expected text', remedy: 'Write `${NAME}` for a variable.' })
    }
  if (isPlainRecord(auth)) checkAuth(problems, auth as OpenApiDefinition['auth'] & object, `${place}.auth`)
}

const authFields: { readonly [kind in keyof HttpAuth]-?: readonly string[] } = {
  bearer: [],
  basic: ['user', 'password'],
  header: ['name', 'value'],
  query: ['name', 'value'],
}

function checkAuth(problems: Problem[], auth: object, place: string): void {
  const { schemes, ...rest } = auth as OpenApiDefinition['auth'] & object
  const kinds = Object.keys(rest)
  const isOne = schemes === undefined ? kinds.length === 1 : kinds.length === 0
  if (!isOne || kinds.some((kind) => !Object.hasOwn(authFields, kind))) {
    const remedy = 'Write one of `bearer`, `basic`, `header` and `query`; OpenAPI sources can have `schemes` instead.'
    problems.push({ place, message: 'expected one kind of authentication', remedy })
    return
  }
  for (const [kind, value] of Object.entries(rest)) {
    const fields = authFields[kind as keyof HttpAuth]
    const table = Object.fromEntries(fields.map((key) => [key, secretText]))
    if (fields.length === 0) checkOnlyFields(problems, { [kind]: value }, { fields: { [kind]: secretText }, place })
    else if (isPlainRecord(value)) checkOnlyFields(problems, value, { fields: table, place: `${place}.${kind}` })
    else problems.push({ place: `${place}.${kind}`, message: 'expected an object', remedy: `It has the keys ${fields.join(' and ')}.` })
  }
  if (schemes === undefined) return
  if (!isPlainRecord(schemes)) problems.push({ place: `${place}.schemes`, message: 'expected an object' })
  else
    checkOnlyFields(problems, schemes, {
      fields: Object.fromEntries(Object.keys(schemes).map((key) => [key, secretText])),
      place: `${place}.schemes`,
    })
}

function checkParameters(problems: Problem[], { parameters = {}, url, method = 'GET' }: RestToolDefinition, place: string): void {
  const inUrl = typeof url === 'string' && !hasPlaceholders(url) ? urlParameters(url) : undefined
  for (const [name, parameter] of Object.entries(parameters)) {
    const at = `${place}.parameters.${name}`
    const refuse = (message: string, remedy: string): unknown => problems.push({ place: at, message, remedy })
    if (!isPlainRecord(parameter)) {
      refuse('expected an object', 'Write a JSON Schema like { "type": "string", "in": "query" }.')
      continue
    }
    const { in: where, required, ...schema } = parameter
    problems.push(...checkSchema(schema, at, 'any'))
    if (where !== undefined && !parameterPlaces.includes(where)) refuse('unknown place', `Set "in" to ${parameterPlaces.join(', ')}.`)
    if (required !== undefined && typeof required !== 'boolean') refuse('"required" must be true or false', 'Set it for each parameter.')
    if (where === 'path' && inUrl && !inUrl.includes(name)) refuse('the URL does not contain it', `Add {${name}} to the URL.`)
    if (where === 'body' && (method === 'GET' || method === 'HEAD')) refuse(`${method} has no body`, 'Use "query", or another method.')
    if (where === 'header' && (!headerName.test(name) || ownHeaders.includes(name.toLowerCase())))
      refuse('this header cannot be set', 'Choose another one.')
  }
}

function checkPagination(problems: Problem[], pagination: RestPagination, place: string): void {
  const { by, parameter, next } = pagination
  const whole: FieldType = { expected: 'an integer from 0', accepts: (value) => Number.isSafeInteger(value) && Number(value) >= 0 }
  checkOnlyFields(problems, pagination, {
    fields: {
      by: oneOf(['cursor', 'page', 'offset', 'link']),
      parameter: optional(text),
      next: optional(path),
      start: optional(whole),
      maxPages: optional(positive),
      maxItems: optional(positive),
    },
    place,
  })
  if (by !== 'link' && parameter === undefined)
    problems.push({ place: `${place}.parameter`, message: 'is missing', remedy: 'Name the parameter, such as "page".' })
  if (by === 'cursor' && next === undefined)
    problems.push({ place: `${place}.next`, message: 'is missing', remedy: 'Write the JSON path of the cursor, such as "$.next_cursor".' })
}
