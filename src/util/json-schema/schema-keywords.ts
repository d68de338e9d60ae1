import { editDistance } from '../nearest-names.ts'

/** The keywords of JSON Schema 2020-12, and those older ones that still work, by the shape of their value. */
const keywordsByShape = {
  type: 'type',
  enum: 'enum',
  any: 'const default',
  schema: 'additionalProperties unevaluatedProperties propertyNames items unevaluatedItems contains contentSchema not if then else',
  schemas: 'prefixItems anyOf oneOf allOf',
  'schema map': 'properties $defs definitions dependentSchemas',
  'pattern map': 'patternProperties',
  names: 'required',
  'names map': 'dependentRequired',
  dependencies: 'dependencies',
  number: 'minimum maximum exclusiveMinimum exclusiveMaximum',
  positive: 'multipleOf',
  count: 'minLength maxLength minItems maxItems minContains maxContains minProperties maxProperties',
  boolean: 'uniqueItems nullable deprecated readOnly writeOnly',
  pattern: 'pattern',
  text: 'format title description contentEncoding contentMediaType $ref $dynamicRef $id $schema $anchor $dynamicAnchor $comment',
  list: 'examples',
  map: '$vocabulary',
}

export type KeywordShape = keyof typeof keywordsByShape

const shapes = new Map(
  (Object.keys(keywordsByShape) as KeywordShape[]).flatMap((shape) => keywordsByShape[shape].split(' ').map((keyword) => [keyword, shape])),
)
const keywords = [...shapes.keys()]

export const keywordShape = (keyword: string): KeywordShape | undefined => shapes.get(keyword)

export const typeNames: readonly string[] = ['array', 'boolean', 'integer', 'null', 'number', 'object', 'string']

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

/** The keyword that an unknown one misspells. Stricter than `nearestNames`: schemas may have annotations of their own. */
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
