import { type JsonObject, ruleVerdicts } from '../../contracts/index.ts'
import { rulePattern } from '../../policy/rule-pattern.ts'
import { type ListEntry, listEntries } from '../values/read-list.ts'
import { maxRules } from '../values/read-rules.ts'
import { type AgentOption, type AgentOptionType, agentOption, keysInGroup, topLevelKeys } from './agent-options.ts'

/** The settings of an agent file as a JSON Schema, for editors. What only reading can tell is left to reading. */
export function agentFileSchema(): JsonObject {
  return {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    $id: 'https://troupe.dev/schemas/agent-file.schema.json',
    title: 'The settings of an agent file',
    type: 'object',
    properties: Object.fromEntries(topLevelKeys.map((key) => [key, propertyOf(key)])),
    required: ['description'],
    additionalProperties: false,
    not: { allOf: [stated('parameters', 'timeout'), stated('limits', 'llmTimeout')] },
  }
}

const stated = (group: string, key: string): JsonObject => ({
  required: [group],
  properties: { [group]: { type: 'object', required: [key] } },
})

function propertyOf(key: string): JsonObject {
  const below = keysInGroup(key)
  const option = agentOption(key)?.option
  if (option) return described(option)
  return {
    type: 'object',
    properties: Object.fromEntries(
      below.map((each) => {
        const inner = agentOption(`${key}.${each}`)?.option
        return [each, inner ? described(inner) : {}]
      }),
    ),
    additionalProperties: false,
    ...groupRules[key],
  }
}

/** What does not go together inside of a group. */
const schemaRules: JsonObject = {
  not: { required: ['schema', 'schemaRef'] },
  if: { anyOf: [{ required: ['schema'] }, { required: ['schemaRef'] }] },
  // biome-ignore lint/suspicious/noThenProperty: the keyword of JSON Schema
  then: { properties: { format: { const: 'json' } } },
}
const groupRules: { readonly [group: string]: JsonObject } = { input: schemaRules, output: schemaRules }

function described({ type, summary, default: otherwise, example }: AgentOption): JsonObject {
  const more = otherwise === 'required' ? 'Required.' : `Default: ${otherwise}.`
  return { description: `${summary[0]?.toUpperCase()}${summary.slice(1)}. ${more} Example: ${example}`, ...typeSchema(type) }
}

const words: JsonObject = { type: 'string', pattern: '\\S' }

/** What a value of an option must look like, as a JSON Schema. */
export function typeSchema(type: AgentOptionType): JsonObject {
  switch (type.kind) {
    case 'text':
    case 'file':
      return words
    case 'identifier':
      return { type: 'string', pattern: '^\\s*[a-zA-Z0-9_][\\w.-]{0,63}\\s*$' }
    case 'names':
    case 'patterns':
      return entries(type.of)
    case 'references':
      return entries('agent')
    case 'rules':
      return { type: 'array', items: ruleSchema, maxItems: maxRules }
    case 'number':
      return { type: 'number', minimum: type.least, maximum: type.most }
    case 'whole':
      return { type: 'integer', minimum: type.least ?? Number.MIN_SAFE_INTEGER, maximum: Number.MAX_SAFE_INTEGER }
    case 'duration':
      return {
        anyOf: [
          { type: 'integer', minimum: 1, maximum: Number.MAX_SAFE_INTEGER },
          { type: 'string', pattern: '^\\s*\\d+(?:\\.\\d+)?\\s?(?:ms|s|m|h)\\s*$' },
        ],
      }
    case 'size':
      return {
        anyOf: [
          { type: 'integer', minimum: type.least, maximum: Number.MAX_SAFE_INTEGER },
          { type: 'string', pattern: '^\\s*\\d+(?:\\.\\d+)?\\s?(?:[Bb]|[KkMmGg][Bb])\\s*$' },
        ],
      }
    case 'choice':
      return { enum: [...type.of] }
    case 'switch':
      return { type: 'boolean' }
    case 'parallel':
      return { anyOf: [{ type: 'boolean' }, { type: 'integer', minimum: 1, maximum: Number.MAX_SAFE_INTEGER }] }
    case 'schema':
    case 'map':
      return { type: 'object' }
    default:
      return type satisfies never
  }
}

function entries(of: ListEntry): JsonObject {
  const { may, pattern } = listEntries[of]
  return oneOrMore(trimmed(pattern), may === 'be empty' ? 0 : 1)
}

/** Spaces around a name do not count. */
const trimmed = (pattern: string): JsonObject => ({ type: 'string', allOf: [words, { pattern: `^\\s*(?:${pattern})\\s*$` }] })

const patterns: JsonObject = { anyOf: [trimmed(rulePattern), { type: 'array', items: trimmed(rulePattern), minItems: 1 }] }
const ruleSchema: JsonObject = {
  type: 'object',
  properties: { ...Object.fromEntries(ruleVerdicts.map((verdict) => [verdict, patterns])), reason: words },
  oneOf: ruleVerdicts.map((verdict) => ({ required: [verdict] })),
  additionalProperties: false,
}

function oneOrMore(item: JsonObject, minItems: number): JsonObject {
  return { anyOf: [item, { type: 'array', items: item, minItems, uniqueItems: true }] }
}
