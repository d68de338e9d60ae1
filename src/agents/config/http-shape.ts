// biome-ignore-all lint/suspicious/noTemplateCurlyInString: placeholders are written like that
import { httpMethods, type JsonObject, type OpenApiDefinition, type Problem, type RestToolDefinition } from '../../contracts/index.ts'
import { automaticTools, builtinToolNames } from '../../policy/builtin-tool-names.ts'
import { checkOpenApi, checkRestTool } from '../../policy/check-http-tools.ts'
import type { FieldConflict, Shape } from './shape.ts'

type Fields<Definition> = { readonly [Key in keyof Definition]-?: Shape }

const text = (example: string): Shape => ({ kind: 'text', example })
const literal = (example: string): Shape => ({ kind: 'text', example, isLiteral: true })
const choice = (of: readonly string[]): Shape => ({ kind: 'value', type: { kind: 'choice', of }, example: JSON.stringify(of[0]) })
const integer = (min: number): Shape => ({ kind: 'value', type: { kind: 'integer', min }, example: '10' })
const list = (example: string): Shape => ({ kind: 'list', of: literal(example), example: JSON.stringify([example]) })
const pair = (key: string, value: string): Shape => {
  const of = { [key]: text('X-Api-Key'), [value]: text('${API_KEY}') }
  return { kind: 'fields', of, required: Object.keys(of) }
}

const auth = {
  bearer: text('${API_TOKEN}'),
  basic: pair('user', 'password'),
  header: pair('name', 'value'),
  query: pair('name', 'value'),
}

const shared = {
  headers: { kind: 'names', of: text('${API_KEY}'), example: '{ "X-Team": "research" }' },
  timeout: { kind: 'value', type: { kind: 'duration' }, summary: 'for the whole call, at most an hour', example: '"30s"' },
  maxBytes: { kind: 'value', type: { kind: 'size', min: 1 }, summary: 'of all responses of a call', example: '"1MB"' },
  queue: literal('github'),
  redirects: list('files.example.com'),
} as const satisfies { readonly [key: string]: Shape }

const restTool: Fields<RestToolDefinition> = {
  description: literal('Current weather of a city.'),
  method: choice(httpMethods),
  url: text('https://api.example.com/users/{id}'),
  parameters: { kind: 'names', of: { kind: 'any' }, example: '{ "city": { "type": "string", "in": "query" } }' },
  auth: { kind: 'fields', of: auth },
  result: literal('$.data.items'),
  pagination: {
    kind: 'fields',
    of: {
      by: choice(['cursor', 'page', 'offset', 'link']),
      parameter: literal('page'),
      next: literal('$.next_cursor'),
      start: integer(0),
      maxPages: integer(1),
      maxItems: integer(1),
    },
    required: ['by'],
  },
  effect: choice(['read', 'idempotent', 'write']),
  ...shared,
}

const openApi: Fields<OpenApiDefinition> = {
  spec: text('./petstore.yaml'),
  baseUrl: text('https://api.example.com/v1'),
  include: list('list*'),
  exclude: list('DELETE *'),
  auth: {
    kind: 'fields',
    of: { ...auth, schemes: { kind: 'names', of: text('${API_KEY}'), example: '{ "api_key": "${API_KEY}" }' } },
  },
  ...shared,
}

/** Another tool cannot be replaced, and `__` separates a source from its tool. */
const taken = [...builtinToolNames, ...Object.keys(automaticTools)].join('|')
const name = new RegExp(`^(?!(?:${taken})$)(?!.*__)[A-Za-z][A-Za-z0-9_-]{0,40}$`)
const naming = 'Use up to 41 letters, digits, `-` and single `_`, and no name of a built-in tool'

export const restToolsShape: Shape = {
  kind: 'names',
  of: { kind: 'fields', of: restTool, required: ['description', 'url'], findConflicts: (values) => conflicts(values, checkRestTool) },
  example: '{ "weather": { "description": "Weather of a city.", "url": "https://api.example.com/weather?city={city}" } }',
  name,
  naming,
}

export const openApiShape: Shape = {
  kind: 'names',
  of: { kind: 'fields', of: openApi, required: ['spec'], findConflicts: (values) => conflicts(values, checkOpenApi) },
  example: '{ "petstore": { "spec": "./petstore.yaml", "include": ["list*"] } }',
  name,
  naming,
}

/** The problem is reported at the key of the definition; the message names what is inside. */
function conflicts<Definition>(
  values: JsonObject,
  check: (value: Definition, place: string) => readonly Problem[],
): readonly FieldConflict[] {
  return check(values as unknown as Definition, '').map(({ place, message, remedy = 'Correct it.' }) => {
    const path = place.slice(1)
    return { key: path.split(/[./]/, 1)[0] ?? path, message: `has a wrong value in \`${path}\`: ${message}`, remedy }
  })
}
