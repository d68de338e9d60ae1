import type { JsonObject } from '../../contracts/index.ts'
import { capitalize } from '../../util/capitalize.ts'
import { typeSchema } from '../values/type-schema.ts'
import { configShape, sectionNames, sections } from './sections.ts'
import type { Shape } from './shape.ts'

/** A `.ai-agent.json` as a JSON Schema, for editors. Reading checks more. */
export function configSchema(): JsonObject {
  const { properties, ...whole } = schemaOf(configShape)
  const described = Object.fromEntries(
    sectionNames.map((name) => [name, { description: `${capitalize(sections[name].summary)}.`, ...schemaOf(sections[name].shape) }]),
  )
  return {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    $id: 'https://troupe.dev/schemas/ai-agent.schema.json',
    title: 'The configuration of a project, a person or a machine',
    ...whole,
    properties: { ...(properties as JsonObject), ...described },
  }
}

export function schemaOf(shape: Shape): JsonObject {
  switch (shape.kind) {
    case 'text':
      return { type: 'string', ...(!shape.mayBeEmpty && { pattern: '\\S' }) }
    case 'value':
      return { ...(shape.summary !== undefined && { description: `${capitalize(shape.summary)}.` }), ...typeSchema(shape.type) }
    case 'list':
      return { type: 'array', items: schemaOf(shape.of), ...(shape.isRequired && { minItems: 1 }) }
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
        ...(!shape.isLenient && { additionalProperties: false }),
      }
    case 'or':
      return { anyOf: [{ const: shape.word }, schemaOf(shape.of)] }
    case 'any':
      return {}
    default:
      return shape satisfies never
  }
}
