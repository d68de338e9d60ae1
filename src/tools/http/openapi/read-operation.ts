import type { HttpMethod, JsonSchema } from '../../../contracts/index.ts'
import { isRecord } from '../../../util/is-record.ts'
import { checkSchema } from '../../../util/json-schema/check-schema.ts'
import type { BodyType, HttpOperation, HttpParameter } from '../build-request.ts'
import { SchemaConverter, type SchemaTotal } from './convert-schema.ts'
import { follow, type OpenApiDocument } from './read-document.ts'

export interface FoundOperation {
  /** `listPets`, or `get_pets` without an operationId. */
  readonly id: string
  readonly method: HttpMethod
  readonly path: string
  /** `#/paths/~1pets/get`. */
  readonly pointer: string
  readonly operation: { readonly [key: string]: unknown }
  readonly item: { readonly [key: string]: unknown }
}

export interface ReadOperation {
  readonly description: string
  readonly inputSchema: JsonSchema
  readonly request: Omit<HttpOperation, 'url' | 'method'>
  /** Whether parts of the schemas were cut. */
  readonly isCut: boolean
}

const maxDescription = 1_000

/** Parameters and body as one input. @throws Error with the reason if the operation cannot be a tool. */
export function readOperation(
  document: OpenApiDocument,
  { operation, item, method, path }: FoundOperation,
  total: SchemaTotal,
): ReadOperation {
  const schemas = new SchemaConverter(document, total)
  const input = new InputBuilder(schemas)
  for (const parameter of parametersOf(document, item, operation)) input.parameter(parameter)
  const missing = [...path.matchAll(/\{([^{}]+)\}/g)].find(
    ([, name]) => !input.parameters.some((each) => each.name === name && each.in === 'path'),
  )
  if (missing) throw new Error(`the path parameter ${missing[1]} is not declared`)
  const bodyType = operation.requestBody === undefined ? undefined : input.body(follow(document, operation.requestBody), document)
  const inputSchema = {
    type: 'object',
    properties: input.properties,
    ...(input.required.length > 0 && { required: input.required }),
    additionalProperties: false,
    ...(schemas.defs && { $defs: schemas.defs }),
  }
  const [problem] = checkSchema(inputSchema, '')
  if (problem)
    throw new Error(`its input schema is wrong at ${problem.place.slice(0, 200) || 'the root'}: ${problem.message.slice(0, 300)}`)
  const texts = [operation.summary, operation.description].filter((text) => typeof text === 'string' && text.trim() !== '')
  return {
    description: (texts.length > 0 ? [...new Set(texts)].join('\n') : `${method} ${path}`).slice(0, maxDescription).toWellFormed(),
    inputSchema,
    request: { parameters: input.parameters, ...(bodyType && { bodyType }) },
    isCut: schemas.isCut,
  }
}

/** Those of the operation replace those of the path. */
function parametersOf(
  document: OpenApiDocument,
  ...owners: readonly { readonly [key: string]: unknown }[]
): readonly { readonly [key: string]: unknown }[] {
  const found = owners.flatMap(({ parameters }) => (Array.isArray(parameters) ? parameters : [])).map((each) => follow(document, each))
  return [...new Map(found.map((each) => [`${String(each.in)} ${String(each.name)}`, each])).values()]
}

const separators: { readonly [style: string]: HttpParameter['separator'] } = { spaceDelimited: ' ', pipeDelimited: '|' }
/** Requests set these themselves. */
const ownHeaders = ['accept', 'content-type', 'authorization', 'host', 'content-length']

class InputBuilder {
  readonly properties: Record<string, JsonSchema> = {}
  readonly required: string[] = []
  readonly parameters: HttpParameter[] = []
  readonly #schemas: SchemaConverter

  constructor(schemas: SchemaConverter) {
    this.#schemas = schemas
  }

  parameter({ name, in: where, schema, content, description, required, style, explode }: { readonly [key: string]: unknown }): void {
    if (typeof name !== 'string' || name === '' || (where !== 'path' && where !== 'query' && where !== 'header' && where !== 'cookie'))
      throw new Error('a parameter has no name or no valid place')
    if (where === 'header' && ownHeaders.includes(name.toLowerCase())) return
    const stated = schema ?? (isRecord(content) ? Object.values(content).find(isRecord)?.schema : undefined)
    const converted = this.#schemas.convert(stated)
    const documented = typeof description === 'string' ? { description: description.slice(0, 500), ...converted } : converted
    const isOne = where === 'query' ? explode === false || (typeof style === 'string' && style in separators) : where !== 'cookie'
    this.#add(
      { name, in: where, ...(isOne && { separator: separators[String(style)] ?? ',' }), ...(style === 'deepObject' && { isDeep: true }) },
      documented,
      required === true || where === 'path',
    )
  }

  /** Returns the media type. The fields of an object become properties; any other body is the property `body`. */
  body({ content, required, description }: { readonly [key: string]: unknown }, document: OpenApiDocument): BodyType | undefined {
    if (!isRecord(content) || Object.keys(content).length === 0) return undefined
    const types = Object.keys(content)
    const stated = types.find((type) => /^application\/(?:[^;]*\+)?json(?:;|$)/i.test(type) || type === '*/*')
    const type = stated ?? types.find((each) => /^(?:application\/x-www-form-urlencoded|text\/plain)/i.test(each))
    if (type === undefined) throw new Error(`its body must be ${types.join(' or ').slice(0, 100)}, which is not supported`)
    const { schema } = follow(document, content[type])
    const isRequired = required === true
    const fields = isRecord(schema) ? follow(document, schema) : {}
    if (isFlat(fields)) {
      const { properties = {}, required: needed = [] } = this.#schemas.convert(fields) as {
        properties?: Record<string, JsonSchema>
        required?: string[]
      }
      for (const [name, inner] of Object.entries(properties)) this.#add({ name, in: 'body' }, inner, isRequired && needed.includes(name))
    } else {
      const whole = this.#schemas.convert(schema)
      this.#add(
        { name: 'body', in: 'whole body' },
        typeof description === 'string' ? { description: description.slice(0, 500), ...whole } : whole,
        isRequired,
      )
    }
    if (stated !== undefined) return 'application/json'
    return type.toLowerCase().startsWith('text') ? 'text/plain' : 'application/x-www-form-urlencoded'
  }

  /** A name that another parameter has gets its place as a suffix. */
  #add(parameter: Omit<HttpParameter, 'property'>, schema: JsonSchema, isRequired: boolean): void {
    const { name, in: where } = parameter
    const isFree = (property: string): boolean => !Object.hasOwn(this.properties, property)
    const wanted = name === '__proto__' ? '_proto' : name
    let property = isFree(wanted) ? wanted : `${wanted}_${where.split(' ', 1)[0]}`
    for (let n = 2; !isFree(property); n++) property = `${wanted}_${n}`
    this.properties[property] = schema
    if (isRequired) this.required.push(property)
    this.parameters.push({ property, ...parameter })
  }
}

const combining = ['oneOf', 'anyOf', 'allOf', 'not', 'if', 'patternProperties', 'discriminator']

/** Whether the properties say all about an object. */
const isFlat = (schema: { readonly [key: string]: unknown }): boolean =>
  isRecord(schema.properties) &&
  (schema.type === undefined || schema.type === 'object') &&
  (schema.additionalProperties === undefined || schema.additionalProperties === false) &&
  !combining.some((key) => schema[key] !== undefined)
