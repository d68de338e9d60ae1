// Fills the fields of a tool from the words that asked for it. A word fills one field.
//
// 1. From the surest to the vaguest: what is named ("subject Hello"), what has a form (a date, a path, a number), what follows
//    a preposition ("to Oslo"), and for required fields what is left.
// 2. A required field that nothing fills is reported as missing. Only a flag is off and a list is empty without a word.
import type { Json, JsonObject, JsonSchema } from '../../contracts/index.ts'
import type { KnownTool } from './choose-tool.ts'
import { byForm, byLabel, byPreposition, byRest, type Field, type Found, fieldOf, type Source } from './find-value.ts'
import { asSchema, fits, givenValue, namesIn, settled } from './read-schema.ts'
import { readWords } from './read-words.ts'

type Filled = { readonly kind: 'filled'; readonly input: JsonObject } | { readonly kind: 'missing'; readonly fields: readonly string[] }

/** The input for a tool. `spent` has the positions of the words that named it. */
export function fillInput(
  { spec, reasonField }: KnownTool,
  { text, spent, results }: Pick<Source, 'text' | 'results'> & { readonly spent: ReadonlySet<number> },
): Filled {
  const words = readWords(text)
  const source: Source = { text, words, used: new Set(words.filter(({ start }) => spent.has(start))), results }
  const { inputSchema } = spec
  return fillObject(settled(inputSchema, inputSchema), { source, root: inputSchema, skip: reasonField, depth: 0 })
}

interface Filling {
  readonly source: Source
  readonly root: JsonSchema
  readonly skip?: string | undefined
  readonly depth: number
}

const maxDepth = 3

function fillObject(schema: JsonSchema, filling: Filling): Filled {
  const fields = fieldsOf(schema, filling)
  const values = new Map<string, Json>()
  const required = fields.filter(({ isRequired }) => isRequired)
  for (const fill of [byLabel, byForm, byPreposition]) fillEach(fields, { fill, values, source: filling.source })
  fillEach(required, { fill: (field, source) => byRest(field, source, required.length === 1), values, source: filling.source })
  for (const field of required) {
    const value = values.get(field.name) ?? givenValue(field.schema) ?? usualValue(field, filling)
    if (value !== undefined) values.set(field.name, value)
  }
  const missing = required.filter(({ name }) => !values.has(name)).map(({ name }) => name)
  if (missing.length > 0) return { kind: 'missing', fields: missing }
  return { kind: 'filled', input: Object.fromEntries(fields.flatMap(({ name }) => (values.has(name) ? [[name, values.get(name)]] : []))) }
}

function fieldsOf(schema: JsonSchema, { root, skip }: Filling): readonly Field[] {
  const required = new Set(namesIn(schema.required))
  const names = new Set([...Object.keys(asSchema(schema.properties)), ...required])
  return [...names]
    .filter((name) => name !== skip)
    .map((name) => fieldOf(name, { schema: settled(asSchema(schema.properties)[name], root), isRequired: required.has(name) }))
}

type Fill = (field: Field, source: Source) => Found | undefined

interface Round {
  readonly fill: Fill
  readonly values: Map<string, Json>
  readonly source: Source
}

function fillEach(fields: readonly Field[], { fill, values, source }: Round): void {
  for (const field of fields) {
    const found = values.has(field.name) ? undefined : fill(field, source)
    if (!found || !fits(found.value, field.schema)) continue
    values.set(field.name, found.value)
    for (const word of found.words) source.used.add(word)
  }
}

/** For a required field that no word fills. Lists may be empty, and a flag that nobody mentions is off. */
function usualValue({ schema, type }: Field, filling: Filling): Json | undefined {
  if (type === 'boolean') return false
  if (type === 'null') return null
  if (type === 'array') return Number(schema.minItems ?? 0) > 0 ? undefined : []
  if (type !== 'object' || filling.depth >= maxDepth) return undefined
  const inside = fillObject(schema, { source: filling.source, root: filling.root, depth: filling.depth + 1 })
  return inside.kind === 'filled' ? inside.input : undefined
}
