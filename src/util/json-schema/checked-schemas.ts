import { isPlainObject, type SchemaObject } from './schema-values.ts'

/** Keywords whose schemas look at the same value as the one that they stand in: one, a list or a map of them. */
const single = ['not', 'if', 'then', 'else']
const listed = ['allOf', 'anyOf', 'oneOf']
const mapped = ['dependentSchemas', 'dependencies']
/** All of them. */
export const ofSameValue: readonly string[] = [...single, ...listed, ...mapped]

/** Deeper than this nobody means it, and it need not be counted. */
const mostDepth = 500

/**
 * How often one value is looked at by a schema, all that it is made of and refers to: a few lines that each refer to the next ones
 * twice make millions. `targets`: what the references of each schema lead to.
 */
export class SchemaLooks {
  readonly #targets: ReadonlyMap<SchemaObject, readonly SchemaObject[]>
  readonly #counted = new Map<SchemaObject, number>()

  constructor(targets: ReadonlyMap<SchemaObject, readonly SchemaObject[]>) {
    this.#targets = targets
  }

  /** A schema that leads back to itself for the same value does not end, and neither does what leads to it. */
  of(schema: unknown, depth = 0): number {
    if (!isPlainObject(schema)) return 1
    const known = this.#counted.get(schema)
    if (known !== undefined) return known
    if (depth > mostDepth) return Number.POSITIVE_INFINITY
    this.#counted.set(schema, Number.POSITIVE_INFINITY)
    const parts = [
      ...single.map((keyword) => schema[keyword]).filter(isPlainObject),
      ...listed.flatMap((keyword) => (Array.isArray(schema[keyword]) ? schema[keyword] : [])),
      ...mapped.flatMap((keyword) => (isPlainObject(schema[keyword]) ? Object.values(schema[keyword]) : [])),
      ...(this.#targets.get(schema) ?? []),
    ]
    const looks = parts.reduce((sum: number, part) => sum + this.of(part, depth + 1), 1)
    this.#counted.set(schema, looks)
    return looks
  }
}
