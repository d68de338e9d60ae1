import { z } from 'zod'
import type { JsonSchema } from '../../contracts/index.ts'
import { serverErrors } from './http-error.ts'
import type { HeadendName, Route, RouteResponse } from './route.ts'

export const headendTitles: { readonly [Name in HeadendName]: string } = {
  rest: 'REST',
  openai: 'OpenAI-compatible',
  anthropic: 'Anthropic-compatible',
  mcp: 'Model Context Protocol',
  hooks: 'Incoming webhooks',
  web: 'Web chat',
  channels: 'Extensions',
  server: 'Server',
}

/** Schemas by name, for `published`. They refer to each other as `#/$defs/NAME`. */
export interface Definitions {
  readonly [name: string]: JsonSchema
}

interface OpenApiOptions {
  readonly basePath?: string
  readonly version: string
  readonly definitions: Definitions
}

/** A schema of the definitions that the document gets, by reference. */
export const published = (name: string): z.ZodType => z.unknown().meta({ $ref: `#/$defs/${name}` })

/** The route table as an OpenAPI 3.1 document. */
export function openApiDocument(routes: readonly Route[], { version, basePath = '', definitions }: OpenApiOptions): object {
  const schemas: { [name: string]: JsonSchema } = { ...definitions }
  /** What a schema defines is moved to the components, which all operations share. */
  const place = (schema: z.ZodType, io: 'input' | 'output'): object => {
    const { $defs = {}, ...rest } = schemaOf(schema, io)
    const taken = Object.keys($defs).find((name) => name in definitions)
    if (taken !== undefined) throw new Error(`Two schemas of the API description have the name ${taken}.`)
    Object.assign(schemas, $defs)
    return rest
  }
  const paths: { [path: string]: { [method: string]: object } } = {}
  for (const forms of Map.groupBy(routes, ({ method, path }) => `${method} ${path}`).values()) {
    const [{ method, path: pattern }] = forms as [Route]
    const path = pattern.replaceAll(/:(\w+)/g, '{$1}')
    paths[path] = { ...paths[path], [method.toLowerCase()]: operation(forms as [Route], place) }
  }
  return inComponents({
    openapi: '3.1.0',
    info: {
      title: 'Troupe',
      version,
      description: 'Agents over HTTP.',
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    servers: [{ url: basePath || '/' }],
    security: [{ token: [] }, { apiKey: [] }],
    tags: [...new Set(routes.map(({ headend }) => headend))].map((name) => ({ name, description: headendTitles[name] })),
    paths,
    components: {
      securitySchemes: {
        token: { type: 'http', scheme: 'bearer', description: 'A token of `troupe serve` or `troupe token create`.' },
        apiKey: { type: 'apiKey', in: 'header', name: 'x-api-key', description: 'The same token, as clients of Anthropic send it.' },
      },
      schemas,
    },
  })
}

type Place = (schema: z.ZodType, io: 'input' | 'output') => object

/** The operation of a path that clients of several protocols use, in their forms. */
function operation(forms: readonly [Route, ...Route[]], place: Place): object {
  const { method, path, access, summary, description, body } = forms[0]
  const parameters = forms.flatMap(parametersOf)
  return {
    operationId: operationId(method, path),
    tags: forms.map(({ headend }) => headend),
    summary,
    ...(description !== undefined && { description }),
    ...(access === 'public' ? { security: [] } : { 'x-scope': access }),
    parameters: parameters.filter(({ name }, index) => parameters.findIndex((other) => other.name === name) === index),
    ...(body && { requestBody: { required: true, content: { 'application/json': { schema: place(body, 'input') } } } }),
    responses: responsesOf(forms, place),
  }
}

const operationId = (method: string, path: string): string =>
  `${method.toLowerCase()}${
    path
      .split(/[/.]/)
      .filter((part) => part !== '' && part !== 'v1')
      .map((part) => (part.startsWith(':') ? `By${capital(part.slice(1))}` : capital(part)))
      .join('') || 'Page'
  }`

const capital = (word: string): string => word.replace(/(?:^|_)(\w)/g, (_, letter: string) => letter.toUpperCase())

/** A status of a success without content has none; every other one has the error of the protocol. */
function responsesOf(forms: readonly Route[], place: Place): object {
  const error = oneOf(forms.map(({ errors }) => errors.schema))
  const failure: RouteResponse = { description: 'An error.', content: { 'application/json': error } }
  const given: { readonly [status: string]: RouteResponse } = {
    ...(forms[0]?.access !== 'public' && { 401: { ...failure, description: serverErrors.unauthorized.summary } }),
    403: { ...failure, description: serverErrors.forbidden.summary },
    ...forms.map(({ responses }) => responses).reduceRight(united),
    default: failure,
  }
  return Object.fromEntries(
    Object.entries(given).map(([status, { description, content = status.startsWith('2') ? undefined : failure.content }]) => [
      status,
      {
        description,
        ...(content && {
          content: Object.fromEntries(
            Object.entries(content).map(([mediaType, schema]) => [
              mediaType,
              // A stream may end with an error. Generators take the schema for that of one event.
              { schema: place(mediaType === 'text/event-stream' ? z.union([schema, error]) : schema, 'output') },
            ]),
          ),
        }),
      },
    ]),
  )
}

const oneOf = ([first = z.unknown(), ...others]: readonly z.ZodType[]): z.ZodType =>
  others.length === 0 ? first : z.xor([first, ...others])

/** The contents of both, by status and media type. */
function united(others: Route['responses'], own: Route['responses']): Route['responses'] {
  const response = (status: string, given: RouteResponse): RouteResponse => {
    const other = others[Number(status)]?.content ?? {}
    const content = Object.entries(given.content ?? {}).map(([type, schema]) => [
      type,
      oneOf([schema, ...(other[type] ? [other[type]] : [])]),
    ])
    return { ...given, ...(given.content && { content: { ...other, ...Object.fromEntries(content) } }) }
  }
  return { ...others, ...Object.fromEntries(Object.entries(own).map(([status, given]) => [status, response(status, given)])) }
}

interface ParameterDescription {
  readonly name: string
  readonly in: 'path' | 'query' | 'header'
  readonly required: boolean
  readonly description?: string
  readonly schema: object
}

export function parametersOf({ path, pathParameters = {}, query, onlyWith }: Route): readonly ParameterDescription[] {
  const inPath = [...path.matchAll(/:(\w+)/g)].map(
    ([, name = '']): ParameterDescription => ({
      name,
      in: 'path',
      required: true,
      ...described(pathParameters[name]),
      schema: { type: 'string' },
    }),
  )
  const schema = query && schemaOf(query)
  const required = new Set((schema?.required as readonly string[] | undefined) ?? [])
  const inQuery = Object.entries((schema?.properties as { [name: string]: { description?: string } } | undefined) ?? {}).map(
    ([name, { description, ...rest }]): ParameterDescription => ({
      name,
      in: 'query',
      required: required.has(name),
      ...described(description),
      schema: rest,
    }),
  )
  const inHeader = onlyWith === undefined ? [] : [{ name: onlyWith, in: 'header', required: false, schema: { type: 'string' } } as const]
  return [...inPath, ...inQuery, ...inHeader]
}

const described = (description: string | undefined) => (description === undefined ? {} : { description })

/** What has an id is in `$defs`. */
export function schemaOf(schema: z.ZodType, io: 'input' | 'output' = 'input'): JsonSchema & { readonly $defs?: Definitions } {
  const { $schema: _, ...rest } = z.toJSONSchema(schema, { io, unrepresentable: 'any', reused: 'inline' })
  return rest as JsonSchema
}

const inComponents = (document: object): object =>
  JSON.parse(JSON.stringify(document), (key, value) =>
    key === '$ref' && typeof value === 'string' ? value.replace('#/$defs/', '#/components/schemas/') : value,
  )
