import type { JsonObject } from '../../contracts/index.ts'
import { typeSchema } from '../agent-file/agent-file-schema.ts'
import { configShape, type SectionName, sectionNames, sectionWords } from './sections.ts'
import type { Shape } from './shape.ts'

/** A `.ai-agent.json` as a JSON Schema, for editors. What only reading can tell is left to reading. */
export function configSchema(): JsonObject {
  const { properties = {}, ...whole } = schemaOf(configShape)
  return {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    $id: 'https://troupe.dev/schemas/ai-agent.schema.json',
    title: 'The configuration of a project, a person or a machine',
    ...whole,
    properties: Object.fromEntries(
      Object.entries(properties as { readonly [name: string]: JsonObject }).map(([name, schema]) => [name, described(name, schema)]),
    ),
  }
}

function described(name: string, schema: JsonObject): JsonObject {
  if (!sectionNames.includes(name as SectionName)) return schema
  const { summary } = sectionWords[name as SectionName]
  return { description: `${summary[0]?.toUpperCase()}${summary.slice(1)}.`, ...schema }
}

function schemaOf(shape: Shape): JsonObject {
  switch (shape.kind) {
    case 'text':
      return { type: 'string', pattern: '\\S' }
    case 'choice':
      return { enum: [...shape.of] }
    case 'whole':
      return { type: 'integer', minimum: shape.least, maximum: Number.MAX_SAFE_INTEGER }
    case 'amount':
      return { type: 'number', minimum: 0 }
    case 'flag':
      return { type: 'boolean' }
    case 'list':
      return { type: 'array', items: schemaOf(shape.of), ...(shape.least !== undefined && { minItems: shape.least }) }
    case 'names':
      return {
        type: 'object',
        ...(shape.name
          ? { patternProperties: { [shape.name.source]: schemaOf(shape.of) }, additionalProperties: false }
          : { additionalProperties: schemaOf(shape.of) }),
      }
    case 'fields':
      return {
        type: 'object',
        properties: Object.fromEntries(Object.entries(shape.of).map(([key, inner]) => [key, schemaOf(inner)])),
        ...(shape.required && { required: [...shape.required] }),
        additionalProperties: false,
      }
    case 'option':
      return { description: `${shape.option.summary[0]?.toUpperCase()}${shape.option.summary.slice(1)}.`, ...typeSchema(shape.option.type) }
    case 'any':
      return {}
    default:
      return shape satisfies never
  }
}
