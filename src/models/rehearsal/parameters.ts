import type { Json, JsonObject, JsonSchema, ToolSpec } from '../../contracts/index.ts'
import { stem } from '../../util/stem.ts'
import { asSchema, merged, namesIn, propertiesOf, settled, type TypeName, typeOf } from './schema-view.ts'
import { isStopWord, means } from './vocabulary.ts'
import { clip, nameWords } from './words.ts'

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

const agentPrefix = 'agent__'

/** The name of an agent, if the tool is one. */
export const agentName = (tool: string): string | undefined => (tool.startsWith(agentPrefix) ? tool.slice(agentPrefix.length) : undefined)

/** The name of a tool or an agent in words. */
export const toolTitle = (tool: string): string => nameWords(agentName(tool) ?? tool).join(' ')

const maxParameters = 60

/** The parameters at the top of an input. */
export function parametersOf(inputSchema: JsonSchema, skip?: string): readonly Parameter[] {
  return parametersIn(merged(inputSchema, inputSchema), inputSchema, skip)
}

function parametersIn(schema: JsonSchema, root: JsonSchema, skip?: string): readonly Parameter[] {
  const required = new Set(namesIn(schema.required))
  return propertiesOf(schema)
    .filter(([name]) => name !== skip)
    .slice(0, maxParameters)
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

/** What a text parameter is for, by the words of its name. The first role that matches wins. */
const roles = [
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
] as const

export type Role = (typeof roles)[number][0] | 'other'

const roleOfWord = new Map(roles.flatMap(([role, names]) => names.split(' ').map((name): [string, Role] => [name, role])))

function roleOf(name: string, schema: JsonSchema, described: readonly string[]): Role {
  const byFormat = typeof schema.format === 'string' ? formatRoles.get(schema.format) : undefined
  if (byFormat) return byFormat
  const words = nameWords(name)
  // The last word of a name is its noun: `start_date` is a date, `file_name` a file.
  const found = roles.find(([role]) => words.some((word) => roleOfWord.get(word) === role))?.[0] ?? 'other'
  const last = roleOfWord.get(words.at(-1) ?? '')
  if (last === 'identifier' && words.length > 1) return 'identifier'
  if (found === 'destination' && described.some((word) => means(word, stem('email')) || word === stem('recipient'))) return 'recipient'
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

/** Roles that take free text, up to a whole request. */
const freeRoles = new Set<Role>(['query', 'prompt', 'content', 'topic', 'title', 'command'])
export const isFreeText = ({ type, role, schema }: Parameter): boolean =>
  type === 'string' && freeRoles.has(role) && schema.enum === undefined

type Path = readonly (string | number)[]

/** A parameter that takes one value or a list of values, at any depth of the input. */
export interface Field {
  readonly path: Path
  readonly parameter: Parameter
  /** The items of a list that takes plain values. */
  readonly items?: Parameter
  /** It and everything around it is required. */
  readonly required: boolean
}

const maxDepth = 4

/** The fields of an input, in the order of the schema. Of a list of objects only the first item is filled. */
export function fieldsOf(root: JsonSchema, skip?: string): readonly Field[] {
  return fieldsIn(merged(root, root), { root, path: [], required: true, skip })
}

interface Around {
  readonly root: JsonSchema
  readonly path: Path
  readonly required: boolean
  readonly skip?: string | undefined
}

function fieldsIn(schema: JsonSchema, { root, path, required, skip }: Around): readonly Field[] {
  if (path.length > maxDepth * 2) return []
  return parametersIn(schema, root, skip).flatMap((parameter): readonly Field[] => {
    const here = { path: [...path, parameter.name], parameter, required: required && parameter.required }
    if (parameter.type === 'object' && parameter.schema.properties !== undefined)
      return fieldsIn(parameter.schema, { root, path: here.path, required: here.required })
    if (parameter.type !== 'array') return [here]
    const item = settled(asSchema(parameter.schema.items), root)
    const needsItems = here.required && Number(parameter.schema.minItems ?? 0) > 0
    if (item.properties !== undefined) return fieldsIn(item, { root, path: [...here.path, 0], required: needsItems })
    const [items] = parametersIn({ properties: { [parameter.name]: item } }, root)
    return items ? [{ ...here, items }] : [here]
  })
}

/** A copy of the input with a value at that place. `__proto__` and `constructor` are names like any other. */
export function withValue(input: JsonObject, path: Path, value: Json): JsonObject {
  return setAt(input, path, value) as JsonObject
}

function setAt(at: Json | undefined, [key, ...rest]: Path, value: Json): Json {
  if (key === undefined) return value
  if (typeof key === 'number') {
    const list = Array.isArray(at) ? [...at] : []
    list[key] = setAt(list[key], rest, value)
    return list
  }
  const object = asSchema(at) as JsonObject
  return Object.fromEntries([...Object.entries(object), [key, setAt(ownValue(object, key), rest, value)]])
}

function ownValue(object: JsonObject, key: string): Json | undefined {
  return Object.hasOwn(object, key) ? object[key] : undefined
}

export function valueAtPath(input: JsonObject, path: Path): Json | undefined {
  let at: Json | undefined = input
  for (const key of path) {
    if (typeof at !== 'object' || at === null) return undefined
    at = Array.isArray(at) ? (at as readonly Json[])[Number(key)] : ownValue(at as JsonObject, String(key))
  }
  return at
}
