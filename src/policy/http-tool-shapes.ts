// biome-ignore-all lint/suspicious/noTemplateCurlyInString: placeholders are written like that
import {
  httpMethods,
  type JsonObject,
  type OpenApiDefinition,
  type Problem,
  parameterPlaces,
  type RestToolDefinition,
} from '../contracts/index.ts'
import { parseJsonPath } from '../util/json-path.ts'
import { checkSchema } from '../util/json-schema/check-schema.ts'
import { isPlainRecord } from '../util/option-problems.ts'
import { parseHttpAddress } from '../util/read-address.ts'
import { automaticTools, builtinToolNames } from './builtin-tool-names.ts'
import { checkShape } from './check-shape.ts'
import { hasPlaceholders } from './placeholders.ts'
import { choice, type FieldConflict, type FieldsShape, integer, literal, literals, type Shape, text } from './shape.ts'

type Fields<Definition> = { readonly [Key in keyof Definition]-?: Shape }

/** Bodies are kept in memory. */
const maxBodyBytes = 20_000_000
/** The connection decides about the excluded ones. */
const headerName = /^(?!(?:host|content-length|transfer-encoding|connection|upgrade|accept-encoding)$)[\w!#$%&'*+.^`|~-]+$/i

const pair = (key: string, value: string): Shape => {
  const of = { [key]: text('X-Api-Key'), [value]: text('${API_KEY}') }
  return { kind: 'fields', of, required: Object.keys(of) }
}

const authKinds = {
  bearer: text('${API_TOKEN}'),
  basic: pair('user', 'password'),
  header: pair('name', 'value'),
  query: pair('name', 'value'),
}

const auth = (of: FieldsShape['of']): Shape => ({
  kind: 'fields',
  of,
  findConflicts: (given) =>
    Object.values(given).filter((each) => each !== undefined).length === 1
      ? []
      : [{ key: '', message: 'must have one kind of authentication', remedy: `Write one of ${Object.keys(of).join(', ')}.` }],
})

const shared = {
  headers: {
    kind: 'names',
    of: text('${API_KEY}'),
    example: '{ "X-Team": "research" }',
    name: headerName,
    naming: 'Use a header that the connection does not set itself',
  },
  timeout: { kind: 'value', type: { kind: 'duration', max: 3_600_000 }, summary: 'for the whole call, at most an hour', example: '"30s"' },
  maxBytes: { kind: 'value', type: { kind: 'size', min: 1, max: maxBodyBytes }, summary: 'of all responses of a call', example: '"1MB"' },
  queue: literal('github'),
  redirects: literals('files.example.com'),
} as const satisfies { readonly [key: string]: Shape }

const jsonPath = (example: string): Shape =>
  literal(example, (written) => (parseJsonPath(written) ? undefined : 'must be a JSON path like `$.data.items` or `items[*].id`'))

const restFields: Fields<RestToolDefinition> = {
  description: literal('Current weather of a city.'),
  method: choice(httpMethods),
  url: text('https://api.example.com/users/{id}', (written) =>
    isUrlTemplate(written) ? undefined : 'must be an http: or https: URL without user and fragment, whose host has no parameter',
  ),
  parameters: { kind: 'names', of: { kind: 'any' }, example: '{ "city": { "type": "string", "in": "query" } }' },
  auth: auth(authKinds),
  result: jsonPath('$.data.items'),
  pagination: {
    kind: 'fields',
    of: {
      by: choice(['cursor', 'page', 'offset', 'link']),
      parameter: literal('page'),
      next: jsonPath('$.next_cursor'),
      start: integer(0, '10'),
      maxPages: integer(1, '10'),
      maxItems: integer(1, '10'),
    },
    required: ['by'],
    findConflicts: ({ by, parameter, next }) => [
      ...(by === 'link' || parameter !== undefined
        ? []
        : [{ key: 'parameter', message: 'needs `parameter`', remedy: 'Name the parameter, such as "page".' }]),
      ...(by !== 'cursor' || next !== undefined
        ? []
        : [{ key: 'next', message: 'needs `next`', remedy: 'Write the JSON path of the cursor, such as "$.next_cursor".' }]),
    ],
  },
  effect: choice(['read', 'idempotent', 'write']),
  ...shared,
}

const restTool: Shape = {
  kind: 'fields',
  of: restFields,
  required: ['description', 'url'],
  findConflicts(values) {
    const { method = 'GET', effect, pagination } = values
    const isReading = method === 'GET' || effect === 'read'
    const remedy = 'Use GET, or set `effect` to `read`.'
    return [
      ...parameterConflicts(values),
      ...(pagination === undefined || isReading ? [] : [{ key: 'pagination', message: 'has pages, which are only for reading', remedy }]),
    ]
  },
}

const openApiFields: Fields<OpenApiDefinition> = {
  spec: text('./petstore.yaml'),
  baseUrl: text('https://api.example.com/v1', (written) =>
    isUrlTemplate(written) && !/[?{]/.test(written) ? undefined : 'must be an http: or https: URL without user, query and fragment',
  ),
  include: literals('list*'),
  exclude: literals('DELETE *'),
  auth: auth({ ...authKinds, schemes: { kind: 'names', of: text('${API_KEY}'), example: '{ "api_key": "${API_KEY}" }' } }),
  ...shared,
}

const openApi: Shape = { kind: 'fields', of: openApiFields, required: ['spec'] }

/** Another tool cannot be replaced, and `__` separates a source from its tool. */
const taken = [...builtinToolNames, ...Object.keys(automaticTools)].join('|')
const names = {
  kind: 'names',
  name: new RegExp(`^(?!(?:${taken})$)(?!.*__)[A-Za-z][A-Za-z0-9_-]{0,40}$`),
  naming: 'Use up to 41 letters, digits, `-` and single `_`, and no name of a built-in tool',
} as const

/** `restTools` of a configuration. */
export const restToolsShape: Shape = {
  ...names,
  of: restTool,
  example: '{ "weather": { "description": "Weather of a city.", "url": "https://api.example.com/weather?city={city}" } }',
}

/** `openapi` of a configuration. */
export const openApiShape: Shape = { ...names, of: openApi, example: '{ "petstore": { "spec": "./petstore.yaml", "include": ["list*"] } }' }

/** Everything that is wrong with a REST tool of a program. */
export const checkRestTool = (definition: RestToolDefinition, place: string): readonly Problem[] =>
  problemsOf(definition, { shape: restTool, place })

/** The same for an OpenAPI source. The document is checked when it is read. */
export const checkOpenApi = (definition: OpenApiDefinition, place: string): readonly Problem[] =>
  problemsOf(definition, { shape: openApi, place })

function problemsOf(definition: unknown, at: Parameters<typeof checkShape>[2]): readonly Problem[] {
  const problems: Problem[] = []
  checkShape(problems, definition, at)
  return problems
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

function parameterConflicts({ parameters = {}, url, method = 'GET' }: JsonObject): readonly FieldConflict[] {
  const inUrl = hasPlaceholders(String(url)) ? undefined : urlParameters(String(url))
  return Object.entries(parameters as object).flatMap(([name, parameter]): readonly FieldConflict[] => {
    const conflict = (why: string, remedy = 'Correct it.', path = ''): FieldConflict => {
      const key = `parameters.${name}${path}`
      return { key, message: `has a wrong value in \`${key}\`: ${why}`, remedy }
    }
    if (!isPlainRecord(parameter)) return [conflict('expected an object', 'Write a JSON Schema like { "type": "string", "in": "query" }.')]
    const { in: where, required, ...schema } = parameter
    const conflicts = checkSchema(schema, '', 'any').map(({ place, message, remedy }) => conflict(message, remedy, place))
    const expect = (isValid: boolean, why: string, remedy: string): unknown => isValid || conflicts.push(conflict(why, remedy))
    const places: readonly unknown[] = [undefined, ...parameterPlaces]
    expect(places.includes(where), 'unknown place', `Set "in" to ${parameterPlaces.join(', ')}.`)
    expect(['undefined', 'boolean'].includes(typeof required), '"required" must be true or false', 'Set it for each parameter.')
    expect(where !== 'path' || inUrl?.includes(name) !== false, 'the URL does not contain it', `Add {${name}} to the URL.`)
    expect(where !== 'body' || (method !== 'GET' && method !== 'HEAD'), `${String(method)} has no body`, 'Use "query", or another method.')
    expect(where !== 'header' || headerName.test(name), 'this header cannot be set', 'Choose another one.')
    return conflicts
  })
}
