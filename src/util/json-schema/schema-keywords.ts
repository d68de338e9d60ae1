import { editDistance } from '../nearest-names.ts'

export type KeywordShape =
  | 'type'
  | 'schema'
  | 'schemas'
  | 'schema map'
  | 'pattern map'
  | 'names'
  | 'names map'
  | 'dependencies'
  | 'enum'
  | 'count'
  | 'number'
  | 'positive'
  | 'boolean'
  | 'text'
  | 'pattern'
  | 'reference'
  | 'list'
  | 'map'
  | 'any'

/** The keywords of JSON Schema 2020-12, and those older ones that still work. */
const shapes: { readonly [keyword: string]: KeywordShape } = {
  type: 'type',
  enum: 'enum',
  const: 'any',
  default: 'any',
  properties: 'schema map',
  $defs: 'schema map',
  definitions: 'schema map',
  dependentSchemas: 'schema map',
  patternProperties: 'pattern map',
  required: 'names',
  dependentRequired: 'names map',
  dependencies: 'dependencies',
  additionalProperties: 'schema',
  unevaluatedProperties: 'schema',
  propertyNames: 'schema',
  items: 'schema',
  prefixItems: 'schemas',
  unevaluatedItems: 'schema',
  contains: 'schema',
  contentSchema: 'schema',
  anyOf: 'schemas',
  oneOf: 'schemas',
  allOf: 'schemas',
  not: 'schema',
  if: 'schema',
  // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
  then: 'schema',
  else: 'schema',
  minimum: 'number',
  maximum: 'number',
  exclusiveMinimum: 'number',
  exclusiveMaximum: 'number',
  multipleOf: 'positive',
  minLength: 'count',
  maxLength: 'count',
  minItems: 'count',
  maxItems: 'count',
  minContains: 'count',
  maxContains: 'count',
  minProperties: 'count',
  maxProperties: 'count',
  uniqueItems: 'boolean',
  nullable: 'boolean',
  deprecated: 'boolean',
  readOnly: 'boolean',
  writeOnly: 'boolean',
  pattern: 'pattern',
  format: 'text',
  title: 'text',
  description: 'text',
  examples: 'list',
  contentEncoding: 'text',
  contentMediaType: 'text',
  $ref: 'reference',
  $dynamicRef: 'reference',
  $id: 'text',
  $schema: 'text',
  $anchor: 'text',
  $dynamicAnchor: 'text',
  $comment: 'text',
  $vocabulary: 'map',
}

const keywords = Object.keys(shapes)

export const typeNames: readonly string[] = ['array', 'boolean', 'integer', 'null', 'number', 'object', 'string']

export function keywordShape(keyword: string): KeywordShape | undefined {
  return Object.hasOwn(shapes, keyword) ? shapes[keyword] : undefined
}

// Common annotations that resemble a keyword.
const innocentWords = new Set([
  'example',
  'note',
  'cost',
  'form',
  'them',
  'theme',
  'than',
  'tile',
  'tiles',
  'typo',
  'forma',
  'comment',
  'schema',
  'anchor',
])

/**
 * The keyword that an unknown one misspells. Stricter than `nearestNames`: schemas may have annotations of their own.
 */
export function misspeltKeyword(word: string): string | undefined {
  if (word.length > 30 || word.startsWith('x-') || innocentWords.has(word)) return undefined
  const plain = withoutStyle(word)
  const restyled = keywords.find((keyword) => withoutStyle(keyword) === plain)
  if (restyled !== undefined || word.length < 3) return restyled
  return nearest(word, 1) ?? (word.length >= 8 ? nearest(word, 2) : undefined)
}

const nearest = (word: string, most: number): string | undefined =>
  keywords.find((keyword) => keyword.length >= 4 && editDistance(word, keyword, most) <= most)

/** `min_length`, `minlength` and `ref` are keywords in another style. */
const withoutStyle = (word: string): string => word.replaceAll(/[$_\- ]/g, '').toLowerCase()
