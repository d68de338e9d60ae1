import type { JsonSchema } from '../../contracts/index.ts'
import { showValue } from '../../util/show-value.ts'
import { cutText } from '../../util/well-formed.ts'
import { resolveReference } from './reachable-schemas.ts'

/** A schema in a few words: `integer`, `array of string`, `object with kind "a", name`. */
export function describeSchema(schema: unknown, root: JsonSchema, depth = 0): string {
  if (typeof schema !== 'object' || schema === null) return schema === false ? 'nothing' : 'anything'
  const { $ref, const: only, enum: values, type, anyOf, oneOf } = schema as JsonSchema
  if (depth > 3) return 'a value'
  if ($ref !== undefined) return describeSchema(resolveReference($ref, root) ?? {}, root, depth + 1)
  if ('const' in schema) return showValue(only)
  if (Array.isArray(values)) return listed(values.map((value) => showValue(value, 40)))
  const choice = anyOf ?? oneOf
  if (Array.isArray(choice) && type === undefined) return listed(choice.map((branch) => describeSchema(branch, root, depth + 1)))
  if (Array.isArray(type)) return listed(type.map(String))
  return describeTyped(schema as JsonSchema, root, depth)
}

function describeTyped(schema: JsonSchema, root: JsonSchema, depth: number): string {
  const { type, items, pattern } = schema
  if (type === 'array' && items !== undefined) return `array of ${describeSchema(items, root, depth + 1)}`
  if (type === 'object' || (type === undefined && (schema.properties ?? schema.required) !== undefined)) return describeObject(schema)
  if (type === 'string' && typeof pattern === 'string') return `string matching ${shortened(pattern, 40)}`
  return typeof type === 'string' ? type : 'a value'
}

function describeObject({ properties, required }: JsonSchema): string {
  const declared = (properties ?? {}) as { readonly [name: string]: unknown }
  const names = (Array.isArray(required) ? required.map(String) : []).map((name) => {
    const property = Object.hasOwn(declared, name) ? declared[name] : undefined
    const isFixed = typeof property === 'object' && property !== null && 'const' in property
    return isFixed ? `${name} ${showValue(property.const, 40)}` : name
  })
  return names.length === 0 ? 'object' : `object with ${names.slice(0, mostListed).join(', ')}${names.length > mostListed ? ', …' : ''}`
}

const mostListed = 8

function listed(texts: readonly string[]): string {
  const different = [...new Set(texts)]
  const more = different.length - mostListed
  return more > 0 ? `${different.slice(0, mostListed).join(' or ')} or ${more} more` : different.join(' or ')
}

export const shortened = (text: string, most: number): string => (text.length <= most ? text : `${cutText(text, most)}…`)
