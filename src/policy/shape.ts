import type { JsonObject } from '../contracts/index.ts'

// Tables of the keys that definitions have. Configuration files are read by them, definitions of programs are checked by them, and
// the schema for editors is generated from them.

/** What a value must look like. `Value`: its typed values. */
export type Shape<Value = SimpleSpec> =
  | TextShape
  /** A typed value without placeholders. `summary` is set if it is an option of agents. */
  | ({ readonly kind: 'value'; readonly summary?: string } & Value)
  | { readonly kind: 'list'; readonly of: Shape<Value>; readonly example: string; readonly isRequired?: true; readonly uniqueBy?: string }
  /** A map with keys that people choose; `naming` describes the keys that match `name`. */
  | { readonly kind: 'names'; readonly of: Shape<Value>; readonly example: string; readonly name?: RegExp; readonly naming?: string }
  | FieldsShape<Value>
  /** One word, or something else. */
  | { readonly kind: 'or'; readonly word: string; readonly of: Shape<Value> }
  /** Any JSON. */
  | { readonly kind: 'any' }

export interface TextShape {
  readonly kind: 'text'
  readonly example: string
  /** It cannot have placeholders. */
  readonly isLiteral?: true
  readonly mayBeEmpty?: true
  /** Why the text is invalid. Not called for text with placeholders. */
  check?(text: string): string | undefined
}

export interface FieldsShape<Value = SimpleSpec> {
  readonly kind: 'fields'
  readonly of: { readonly [key: string]: Shape<Value> }
  readonly required?: readonly string[]
  /** Unknown keys are reported and have no effect, because other programs use the file, too. */
  readonly isLenient?: true
  /** It hides the value of weaker layers instead of being merged with it. */
  readonly isWhole?: true
  /** Finds fields that exclude each other. Each is valid alone. */
  findConflicts?(values: JsonObject): readonly FieldConflict[]
}

export interface FieldConflict {
  /** A key or a path from it: `parameters.city`. Empty for the object itself. */
  readonly key: string
  /** Continues the name of the object: `has both …`. */
  readonly message: string
  readonly remedy: string
}

export type SimpleType =
  | { readonly kind: 'choice'; readonly of: readonly string[] }
  | { readonly kind: 'boolean' }
  | { readonly kind: 'integer'; readonly min?: number; readonly max?: number }
  | { readonly kind: 'duration'; readonly max?: number }
  | { readonly kind: 'size'; readonly min: number; readonly max?: number }

export interface SimpleSpec {
  readonly type: SimpleType
  readonly example: string
}

type Check = TextShape['check']
export const text = (example: string, check?: Check): TextShape => ({ kind: 'text', example, ...(check && { check }) })
export const anyText = (example: string): TextShape => ({ kind: 'text', example, mayBeEmpty: true })
export const literal = (example: string, check?: Check): TextShape => ({ ...text(example, check), isLiteral: true })
export const literals = (example: string): Shape => ({ kind: 'list', of: literal(example), example: JSON.stringify([example]) })
export const choice = (of: readonly string[]): Shape => ({ kind: 'value', type: { kind: 'choice', of }, example: JSON.stringify(of[0]) })
export const boolean: Shape = { kind: 'value', type: { kind: 'boolean' }, example: 'true' }
export const integer = (min: number, example: string): Shape => ({ kind: 'value', type: { kind: 'integer', min }, example })
