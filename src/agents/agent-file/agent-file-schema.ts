import { type JsonObject, ruleVerdicts } from '../../contracts/index.ts'
import { rulePattern } from '../../policy/rule-pattern.ts'
import { capitalize } from '../../yaml/messages.ts'
import { type ListEntry, listEntries } from '../values/read-list.ts'
import { maxRules } from '../values/read-rules.ts'
import type { ValueType } from '../values/read-value.ts'
import { type AgentOption, agentOption, keysInGroup, topLevelKeys } from './agent-options.ts'

/** The settings of an agent file as a JSON Schema, for editors. Reading checks more. */
export function agentFileSchema(): JsonObject {
  return {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    $id: 'https://troupe.dev/schemas/agent-file.schema.json',
    title: 'The settings of an agent file',
    type: 'object',
    properties: Object.fromEntries(topLevelKeys.map((key) => [key, propertyOf(key)])),
    required: ['description'],
    additionalProperties: false,
    not: { allOf: [requiring('parameters', 'timeout'), requiring('limits', 'llmTimeout')] },
  }
}

const requiring = (group: string, key: string): JsonObject => ({
  required: [group],
  properties: { [group]: { type: 'object', required: [key] } },
})

function propertyOf(key: string): JsonObject {
  const option = agentOption(key)?.option
  if (option) return described(option)
  return {
    type: 'object',
    properties: Object.fromEntries(keysInGroup(key).map((each) => [each, propertyOf(`${key}.${each}`)])),
    additionalProperties: false,
    ...groupRules[key],
  }
}

const schemaRules: JsonObject = {
  not: { required: ['schema', 'schemaRef'] },
  if: { anyOf: [{ required: ['schema'] }, { required: ['schemaRef'] }] },
  // biome-ignore lint/suspicious/noThenProperty: the keyword of JSON Schema
  then: { properties: { format: { const: 'json' } } },
}
const groupRules: { readonly [group: string]: JsonObject } = { input: schemaRules, output: schemaRules }

function described({ type, summary, default: fallback, example }: AgentOption): JsonObject {
  const more = fallback === 'required' ? 'Required.' : `Default: ${fallback}.`
  return { description: `${capitalize(summary)}. ${more} Example: ${example}`, ...typeSchema(type) }
}

const nonEmpty: JsonObject = { type: 'string', pattern: '\\S' }
const integerFrom = (minimum: number): JsonObject => ({ type: 'integer', minimum, maximum: Number.MAX_SAFE_INTEGER })

/** A value type as a JSON Schema. */
export function typeSchema(type: ValueType): JsonObject {
  switch (type.kind) {
    case 'text':
    case 'file':
      return nonEmpty
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
      return { type: 'number', minimum: type.min, ...(type.max !== undefined && { maximum: type.max }) }
    case 'integer':
      return integerFrom(type.min ?? Number.MIN_SAFE_INTEGER)
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
