import type { JsonObject } from '../../contracts/index.ts'
import { capitalize } from '../../util/capitalize.ts'
import { schemaOf } from '../config/config-schema.ts'
import { serversShape } from '../config/sections.ts'
import { type AgentOption, agentOption, keysInGroup, topLevelKeys } from '../options/agent-options.ts'
import { typeSchema } from '../values/type-schema.ts'

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
  return {
    description: `${capitalize(summary)}. ${more} Example: ${example}`,
    ...(type.kind === 'servers' ? schemaOf(serversShape) : typeSchema(type)),
  }
}
