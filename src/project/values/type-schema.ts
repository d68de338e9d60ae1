import { type JsonObject, type NumberBounds, ruleVerdicts } from '../../contracts/index.ts'
import { rulePattern } from '../../policy/rule-pattern.ts'
import { type ListEntry, listEntries } from './read-list.ts'
import { maxRules } from './read-rules.ts'
import type { ValueType } from './read-value.ts'

const nonEmpty: JsonObject = { type: 'string', pattern: '\\S' }
const integerFrom = (min: number): JsonObject => boundsSchema({ kind: 'integer', min })

/** Integers are those that JavaScript can represent exactly. */
function boundsSchema({ kind, min, max }: NumberBounds): JsonObject {
  if (kind === 'integer') return { type: kind, minimum: min ?? Number.MIN_SAFE_INTEGER, maximum: max ?? Number.MAX_SAFE_INTEGER }
  return { type: kind, ...(min !== undefined && { minimum: min }), ...(max !== undefined && { maximum: max }) }
}

/** A value type as a JSON Schema. */
export function typeSchema(type: ValueType): JsonObject {
  switch (type.kind) {
    case 'text':
    case 'file':
      return nonEmpty
    case 'texts':
      return { type: 'array', items: { ...nonEmpty, maxLength: type.maxChars }, minItems: 1, maxItems: type.max, uniqueItems: true }
    case 'identifier':
      return { type: 'string', pattern: '^\\s*[a-zA-Z0-9_][\\w.-]{0,63}\\s*$' }
    case 'names':
    case 'patterns':
      return oneOrMore(type.of)
    case 'references':
      return oneOrMore('agent')
    case 'rules':
      return { type: 'array', items: ruleSchema, maxItems: maxRules }
    case 'number':
    case 'integer':
      return boundsSchema(type)
    case 'duration':
      return { anyOf: [integerFrom(1), { type: 'string', pattern: '^\\s*\\d+(?:\\.\\d+)?\\s?(?:ms|s|m|h)\\s*$' }] }
    case 'size':
      return { anyOf: [integerFrom(type.min), { type: 'string', pattern: '^\\s*\\d+(?:\\.\\d+)?\\s?(?:[Bb]|[KkMmGg][Bb])\\s*$' }] }
    case 'choice':
      return { enum: [...type.of] }
    case 'boolean':
      return { type: 'boolean' }
    case 'parallel':
      return { anyOf: [{ type: 'boolean' }, integerFrom(1)] }
    case 'schema':
    case 'servers':
    case 'map':
      return { type: 'object' }
    default:
      return type satisfies never
  }
}

function oneOrMore(of: ListEntry): JsonObject {
  const { isRequired, pattern } = listEntries[of]
  const item = trimmed(pattern)
  return { anyOf: [item, { type: 'array', items: item, minItems: isRequired ? 1 : 0, uniqueItems: true }] }
}

/** Ignores spaces around the text. */
const trimmed = (pattern: string): JsonObject => ({ type: 'string', allOf: [nonEmpty, { pattern: `^\\s*(?:${pattern})\\s*$` }] })

const patterns: JsonObject = { anyOf: [trimmed(rulePattern), { type: 'array', items: trimmed(rulePattern), minItems: 1 }] }
const ruleSchema: JsonObject = {
  type: 'object',
  properties: { ...Object.fromEntries(ruleVerdicts.map((verdict) => [verdict, patterns])), reason: nonEmpty },
  oneOf: ruleVerdicts.map((verdict) => ({ required: [verdict] })),
  additionalProperties: false,
}
