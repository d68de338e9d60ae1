import { type JsonSchema, type RestToolDefinition, type Tool, TroupeError } from '../../contracts/index.ts'
import { checkRestTool, urlParameters } from '../../policy/http-tool-shapes.ts'
import { fillPlaceholders } from '../../policy/placeholders.ts'
import { configError } from '../../util/option-problems.ts'
import { parseDuration } from '../../util/parse-units.ts'
import { portOf } from '../builtin/web-fetch/parse-url.ts'
import type { HttpParameter } from './build-request.ts'
import { credentialTemplates, type Variables } from './credentials.ts'
import { type HttpToolOptions, httpTool } from './http-tool.ts'

export const defaultTimeout = '30s'
export const defaultBytes = 1_000_000

/**
 * Creates a tool that calls an HTTP endpoint. `${NAME}` in headers and `auth` is a variable of the session.
 *
 * @example
 * const weather = restTool('weather', {
 *   description: 'Current weather of a city.',
 *   url: 'https://api.example.com/weather?city={city}',
 *   auth: { bearer: '${WEATHER_TOKEN}' },
 * })
 *
 * @throws TroupeError `config_invalid` with all problems of the definition.
 */
export function restTool(name: string, definition: RestToolDefinition, options: HttpToolOptions = {}): Tool {
  const place = `restTools.${name}`
  const problems = checkRestTool(definition, place)
  if (problems.length > 0) throw configError(problems)
  const url = addressOf(definition.url, { variables: options.variables, place: `${place}.url` })
  const { description, method = 'GET', parameters, inputSchema } = { ...definition, ...inputOf({ ...definition, url }) }
  const wrong = checkRestTool({ ...definition, url }, place)
  if (wrong.length > 0) throw configError(wrong)
  const { headers, auth, result, pagination, timeout = defaultTimeout, maxBytes = defaultBytes, queue, redirects = [] } = definition
  const isReading = method === 'GET' || method === 'HEAD'
  return httpTool(
    {
      ...{ name, source: name, description, inputSchema, result, pagination, maxBytes, queue, redirects },
      operation: { method, url, parameters },
      credentials: credentialTemplates(headers, auth),
      timeoutMs: parseDuration(timeout) ?? 0,
      effect: definition.effect ?? (isReading ? 'read' : 'write'),
      privateHost: hostWithPort(new URL(url.replaceAll(/[{}]/g, ''))),
    },
    options,
  )
}

export const hostWithPort = (url: URL): string => `${url.hostname}:${portOf(url)}`

/** The address decides about approvals and credentials, so it is the same for all sessions. */
export function addressOf(
  written: string,
  { variables = {}, place }: { readonly variables?: Variables | undefined; readonly place: string },
): string {
  const filled = fillPlaceholders(written, (name) => (Object.hasOwn(variables, name) ? variables[name] : undefined))
  if (typeof filled === 'string') return filled
  const message = `it needs the variable ${filled.missing.join(', ')}, which is not set`
  throw new TroupeError('config_invalid', `${place}: ${message}`, { problems: [{ place, message, remedy: 'Set it.' }] })
}

function inputOf({ url, method = 'GET', parameters = {} }: RestToolDefinition): {
  readonly parameters: readonly HttpParameter[]
  readonly inputSchema: JsonSchema
} {
  const inUrl = urlParameters(url)
  const elsewhere = ['POST', 'PUT', 'PATCH'].includes(method) ? 'body' : 'query'
  const all: NonNullable<RestToolDefinition['parameters']> = {
    ...Object.fromEntries(inUrl.map((name) => [name, { type: 'string' }])),
    ...parameters,
  }
  const properties: Record<string, JsonSchema> = {}
  const required: string[] = []
  const list = Object.entries(all).map(([name, { in: where, required: isRequired, ...schema }]): HttpParameter => {
    properties[name] = schema
    if (isRequired || inUrl.includes(name)) required.push(name)
    return { property: name, name, in: inUrl.includes(name) ? 'path' : (where ?? elsewhere) }
  })
  return { parameters: list, inputSchema: { type: 'object', properties, required, additionalProperties: false } }
}
