// Builders of JSON Schemas that are checked against TypeScript types: a field that is added, removed or made optional in a
// type does not compile until its schema matches.

export interface Schema {
  readonly [keyword: string]: unknown
}
export interface Optional {
  readonly optional: Schema
}
/** A schema for each field of a type, `optional` for optional fields. */
export type Fields<T> = { readonly [K in keyof T]-?: undefined extends T[K] ? Optional : Schema }

/** The members of a union that have this value. */
export type Is<Union, Key extends keyof Union, Value> = Extract<Union, { readonly [K in Key]: Value }>

export const optional = (schema: Schema): Optional => ({ optional: schema })

/** An object with these fields and no others. */
export function closed<T>(fields: Fields<T>, more: Schema = {}): Schema {
  const entries = Object.entries<Schema | Optional>(fields)
  const isOptional = (field: Schema | Optional): field is Optional => 'optional' in field
  const required = entries.flatMap(([name, field]) => (isOptional(field) ? [] : [name]))
  return {
    ...more,
    type: 'object',
    properties: Object.fromEntries(entries.map(([name, field]) => [name, isOptional(field) ? field.optional : field])),
    ...(required.length > 0 && { required }),
    additionalProperties: false,
  }
}

export const text: Schema = { type: 'string' }
export const name: Schema = { type: 'string', minLength: 1 }
export const truth: Schema = { type: 'boolean' }
/** For tokens, steps and bytes. */
export const count: Schema = { type: 'integer', minimum: 0 }
export const ordinal: Schema = { type: 'integer', minimum: 1 }
/** For times, which may have fractions, and cost. */
export const amount: Schema = { type: 'number', minimum: 0 }
export const anyJson: Schema = {}
export const anyObject: Schema = { type: 'object' }
export const listOf = (items: Schema): Schema => ({ type: 'array', items })
export const constant = (value: string | boolean | number): Schema => ({ const: value })
export const anyOf = (...schemas: readonly Schema[]): Schema => ({ anyOf: schemas })

/** An enumeration: `oneOf<Severity>({ info: true, … })` must list every member of the union. */
export function oneOf<Words extends string>(words: { readonly [W in Words]: true }): Schema {
  return { enum: Object.keys(words) }
}

/** An enumeration of a list that the sources have. */
export const memberOf = (words: readonly string[]): Schema => ({ enum: [...words] })

export function reference(definition: string): Schema {
  return { $ref: `#/$defs/${definition}` }
}

/** The definitions that a schema uses, directly or indirectly. */
export function reachable(root: unknown, all: { readonly [name: string]: Schema }): { readonly [name: string]: Schema } {
  const needed = new Set<string>()
  const visit = (value: unknown): void => {
    if (typeof value !== 'object' || value === null) return
    const target = '$ref' in value && typeof value.$ref === 'string' ? value.$ref.slice('#/$defs/'.length) : undefined
    if (target !== undefined && !needed.has(target)) {
      const schema = all[target]
      if (!schema) throw new Error(`unknown definition ${target}`)
      needed.add(target)
      visit(schema)
    }
    for (const inner of Object.values(value)) visit(inner)
  }
  visit(root)
  return Object.fromEntries(Object.entries(all).filter(([definition]) => needed.has(definition)))
}
