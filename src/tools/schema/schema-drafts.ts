import type { SchemaObject } from '../../util/json-schema/schema-values.ts'

/** Draft-03 and draft-05 are read as 4, draft-06 as 7. 2020: also schemas that do not name their draft. */
export type SchemaDraft = 4 | 7 | 2019 | 2020

const drafts: { readonly [name: string]: SchemaDraft } = {
  'draft-03': 4,
  'draft-04': 4,
  'draft-05': 4,
  'draft-06': 7,
  'draft-07': 7,
  'draft/2019-09': 2019,
}

export function draftOf({ $schema }: SchemaObject): SchemaDraft {
  const [, name = ''] = /^https?:\/\/json-schema\.org\/(draft.*)\/schema#?$/.exec(String($schema)) ?? []
  return drafts[name] ?? 2020
}

export const isAnnotation = (keyword: string): boolean =>
  ['title', 'description', 'default', 'examples', 'deprecated', 'readOnly', 'writeOnly'].includes(keyword)

/** The keywords of one schema with their names in 2020-12. What older drafts ignore is left out. */
export function readKeywords(schema: SchemaObject, draft: SchemaDraft): SchemaObject {
  const isAlone = draft < 2019 && typeof schema.$ref === 'string'
  const read: Record<string, unknown> = {}
  for (const [keyword, value] of Object.entries(schema)) {
    if (isAlone && keyword !== '$ref' && !isAnnotation(keyword)) continue
    const [name, meaning] = translated(keyword, value, schema)
    if (meaning !== undefined) read[name] = meaning
  }
  return read
}

function translated(keyword: string, value: unknown, schema: SchemaObject): readonly [keyword: string, value: unknown] {
  switch (keyword) {
    case 'items':
      if (!Array.isArray(value)) return [keyword, value]
      return ['prefixItems', value.length === 0 ? undefined : value]
    case 'additionalItems':
      return ['items', Array.isArray(schema.items) ? value : undefined]
    case 'minimum':
    case 'maximum':
      return [schema[exclusive[keyword]] === true ? exclusive[keyword] : keyword, value]
    case 'exclusiveMinimum':
    case 'exclusiveMaximum':
      return [keyword, typeof value === 'boolean' ? undefined : value]
    default:
      return [keyword, value]
  }
}

const exclusive = { minimum: 'exclusiveMinimum', maximum: 'exclusiveMaximum' } as const
