import type { JsonSchema, ToolSpec } from '../../contracts/index.ts'
import { stem } from '../../util/stem.ts'
import { namesIn, propertiesOf, settled, type TypeName, typeOf } from './schema-view.ts'
import { isStopWord, means } from './vocabulary.ts'
import { clip, nameWords } from './words.ts'

/** What a text parameter is for, as far as its name tells. */
export type Role =
  | 'origin'
  | 'destination'
  | 'place'
  | 'recipient'
  | 'date'
  | 'time'
  | 'path'
  | 'url'
  | 'topic'
  | 'title'
  | 'content'
  | 'command'
  | 'query'
  | 'prompt'
  | 'person'
  | 'unit'
  | 'language'
  | 'identifier'
  | 'other'

export interface Parameter {
  readonly name: string
  readonly schema: JsonSchema
  readonly type: TypeName
  readonly required: boolean
  readonly role: Role
  /** Stems of its name, and of its description. */
  readonly words: readonly string[]
  readonly described: readonly string[]
}

const reasonNames = new Set(['reason', 'call_reason'])

/** The field in which Troupe asks why a call is made: the last required one under either of its two names. */
export function reasonField({ inputSchema }: ToolSpec): string | undefined {
  const last = namesIn(inputSchema.required).at(-1)
  return last !== undefined && reasonNames.has(last) ? last : undefined
}

const mostParameters = 60

export function parametersOf(schema: JsonSchema, root: JsonSchema, skip?: string): readonly Parameter[] {
  const required = new Set(namesIn(schema.required))
  return propertiesOf(schema)
    .filter(([name]) => name !== skip)
    .slice(0, mostParameters)
    .map(([name, raw]) => parameterOf(name, settled(raw, root), required.has(name)))
}

function parameterOf(name: string, schema: JsonSchema, required: boolean): Parameter {
  const description = typeof schema.description === 'string' ? clip(schema.description, 200) : ''
  const words = nameWords(name).map(stem)
  const described = nameWords(description)
    .map(stem)
    .filter((word) => !isStopWord(word))
  return { name, schema, type: typeOf(schema), required, role: roleOf(name, schema, described), words, described }
}

const roles: readonly (readonly [role: Role, names: string])[] = [
  ['unit', 'unit units currency'],
  ['language', 'language lang locale'],
  ['url', 'url uri link website href'],
  ['path', 'path file filename filepath folder directory dir'],
  ['recipient', 'recipient recipients email mail cc bcc'],
  ['date', 'date day when due deadline'],
  ['time', 'time'],
  ['origin', 'from origin source src departure'],
  ['destination', 'to destination dest target arrival'],
  ['place', 'city place location town country region where station airport'],
  ['command', 'command cmd script'],
  ['query', 'query q search pattern term terms keyword keywords regex expression'],
  ['prompt', 'prompt task question input request instruction instructions goal job'],
  ['topic', 'subject topic about theme'],
  ['title', 'title name label heading summary'],
  ['content', 'content contents text body message note notes comment description document'],
  ['person', 'attendee attendees guest guests participant participants person people assignee user contact with'],
  ['identifier', 'id identifier key number no code sku'],
]
const roleOfWord = new Map(roles.flatMap(([role, names]) => names.split(' ').map((name) => [name, role] as const)))

function roleOf(name: string, schema: JsonSchema, described: readonly string[]): Role {
  const byFormat = typeof schema.format === 'string' ? formatRoles.get(schema.format) : undefined
  if (byFormat) return byFormat
  const words = nameWords(name)
  // The last word of a name is its noun: `start_date` is a date, `file_name` a file.
  const found = roles.find(([role]) => words.some((word) => roleOfWord.get(word) === role))?.[0] ?? 'other'
  const last = roleOfWord.get(words.at(-1) ?? '')
  if (last === 'identifier' && words.length > 1) return 'identifier'
  if (found === 'destination' && described.some((word) => means(word, stem('email')) || word === stem('recipient'))) return 'recipient'
  if ((found === 'origin' || found === 'destination') && last === 'unit') return 'unit'
  return found
}

const formatRoles = new Map<string, Role>([
  ['email', 'recipient'],
  ['uri', 'url'],
  ['url', 'url'],
  ['date', 'date'],
  ['date-time', 'date'],
  ['time', 'time'],
])

/** Roles that take a text as it stands, up to a whole request. */
const freeRoles = new Set<Role>(['query', 'prompt', 'content', 'topic', 'title', 'command'])
export const isFreeText = ({ type, role, schema }: Parameter): boolean =>
  type === 'string' && freeRoles.has(role) && schema.enum === undefined
