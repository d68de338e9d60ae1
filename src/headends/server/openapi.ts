import { z } from 'zod'
import type { JsonSchema } from '../../contracts/index.ts'
import { serverErrors } from './http-error.ts'
import type { Route } from './route.ts'

/** The route table as an OpenAPI 3.1 document. */
export function openApiDocument(routes: readonly Route[], version: string): object {
  const paths: { [path: string]: { [method: string]: object } } = {}
  for (const each of routes) {
    const path = each.path.replaceAll(/:(\w+)/g, '{$1}')
    paths[path] = { ...paths[path], [each.method.toLowerCase()]: operation(each) }
  }
  return {
    openapi: '3.1.0',
    info: { title: 'Troupe', version, description: 'Agents over HTTP.' },
    security: [{ token: [] }],
    paths,
    components: {
      securitySchemes: { token: { type: 'http', scheme: 'bearer', description: 'A token of `troupe serve` or `troupe token create`.' } },
      schemas: { Error: errorSchema },
    },
  }
}

const errorSchema = {
  type: 'object',
  required: ['error'],
  properties: {
    error: {
      type: 'object',
      required: ['code', 'message'],
      properties: { code: { type: 'string' }, message: { type: 'string' }, remedy: { type: 'string' }, requestId: { type: 'string' } },
    },
  },
}

function operation(each: Route): object {
  const { method, path, headend, access, summary, description, body } = each
  return {
    operationId: operationId(method, path),
    tags: [headend],
    summary,
    ...(description !== undefined && { description }),
    ...(access === 'public' ? { security: [] } : { 'x-scope': access }),
    parameters: parametersOf(each),
    ...(body && { requestBody: { required: true, content: { 'application/json': { schema: schemaOf(body) } } } }),
    responses: responsesOf(each),
  }
}

const operationId = (method: string, path: string): string =>
  `${method.toLowerCase()}${path
    .split(/[/.]/)
    .filter((part) => part !== '' && part !== 'v1')
    .map((part) => (part.startsWith(':') ? `By${capital(part.slice(1))}` : capital(part)))
    .join('')}`

const capital = (word: string): string => word.replace(/(?:^|_)(\w)/g, (_, letter: string) => letter.toUpperCase())

function responsesOf({ responses, access }: Route): object {
  const own = Object.entries(responses).map(([status, { description, mediaType = 'application/json', schema }]) => [
    status,
    { description, ...(status !== '204' && { content: { [mediaType]: schema ? { schema } : {} } }) },
  ])
  const error = { description: 'An error.', content: { 'application/json': { schema: { $ref: '#/components/schemas/Error' } } } }
  const common =
    access === 'public'
      ? []
      : [
          ['401', { ...error, description: serverErrors.unauthorized.summary }],
          ['403', { ...error, description: serverErrors.forbidden.summary }],
        ]
  return Object.fromEntries([...common, ['default', error], ...own])
}

export interface ParameterDescription {
  readonly name: string
  readonly in: 'path' | 'query'
  readonly required: boolean
  readonly schema: object
}

export function parametersOf({ path, query }: Route): readonly ParameterDescription[] {
  const inPath = [...path.matchAll(/:(\w+)/g)].map(
    ([, name]): ParameterDescription => ({ name: name ?? '', in: 'path', required: true, schema: { type: 'string' } }),
  )
  const schema = query && schemaOf(query)
  const required = new Set((schema?.required as readonly string[] | undefined) ?? [])
  const inQuery = Object.entries((schema?.properties as { [name: string]: object } | undefined) ?? {}).map(
    ([name, each]): ParameterDescription => ({ name, in: 'query', required: required.has(name), schema: each }),
  )
  return [...inPath, ...inQuery]
}

/** Inline: a document without references between operations is easier to read. */
export function schemaOf(schema: z.ZodType): JsonSchema {
  const { $schema: _, ...rest } = z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any', reused: 'inline' })
  return rest as JsonSchema
}
