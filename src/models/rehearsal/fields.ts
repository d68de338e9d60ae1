import type { Json, JsonObject, JsonSchema } from '../../contracts/index.ts'
import { type Parameter, parametersOf } from './parameters.ts'
import { asSchema, merged, settled } from './schema-view.ts'

type Path = readonly (string | number)[]

/** A parameter that takes one value or a list of such, wherever in the input it stands. */
export interface Field {
  readonly path: Path
  readonly parameter: Parameter
  /** The items of a list that takes plain values. */
  readonly items?: Parameter
  /** It and everything around it is required. */
  readonly required: boolean
}

const deepest = 4

/** The places of an input, in the order of the schema. Of a list of objects only the first one is ever filled. */
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
  if (path.length > deepest * 2) return []
  return parametersOf(schema, root, skip).flatMap((parameter): readonly Field[] => {
    const here = { path: [...path, parameter.name], parameter, required: required && parameter.required }
    if (parameter.type === 'object' && parameter.schema.properties !== undefined)
      return fieldsIn(parameter.schema, { root, path: here.path, required: here.required })
    if (parameter.type !== 'array') return [here]
    const item = settled(asSchema(parameter.schema.items), root)
    const needsItems = here.required && Number(parameter.schema.minItems ?? 0) > 0
    if (item.properties !== undefined) return fieldsIn(item, { root, path: [...here.path, 0], required: needsItems })
    const [items] = parametersOf({ properties: { [parameter.name]: item } }, root)
    return items ? [{ ...here, items }] : [here]
  })
}

/** A copy of the input with a value at that place. */
export function withValue(input: JsonObject, path: Path, value: Json): JsonObject {
  return placed(input, path, value) as JsonObject
}

function placed(at: Json | undefined, [key, ...rest]: Path, value: Json): Json {
  if (key === undefined) return value
  if (typeof key === 'number') {
    const list = Array.isArray(at) ? [...at] : []
    list[key] = placed(list[key], rest, value)
    return list
  }
  const object = typeof at === 'object' && at !== null && !Array.isArray(at) ? (at as JsonObject) : {}
  return Object.defineProperty({ ...object }, key, {
    value: placed(ownValue(object, key), rest, value),
    enumerable: true,
    writable: true,
    configurable: true,
  })
}

/** What an object has of its own under that key: `constructor` is a name like any other. */
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
