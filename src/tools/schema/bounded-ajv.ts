import { _, Ajv2020, type KeywordCxt, type Options } from 'ajv/dist/2020.js'
import { resolveReference } from './reachable-schemas.ts'

/** Validation of a value follows too many references. */
export class ValidationLimitError extends Error {}

// Done within about a second. Large values may need more, but no more for each of their places than for those of others.
const mostReferences = 5_000_000
const mostReferencesPerValue = 20
/** A schema with more characters counts as several references. */
const textPerReference = 2_000

/** The generated code of each reference decreases `left`, and calls `more` below zero. */
class ReferenceBudget {
  left = mostReferences
  #value: unknown
  #isExtended = false

  startAt(value: unknown): void {
    this.left = mostReferences
    this.#value = value
    this.#isExtended = false
  }

  more(): void {
    if (!this.#isExtended) this.left += mostReferencesPerValue * countValues(this.#value)
    this.#isExtended = true
    if (this.left < 0) throw new ValidationLimitError()
  }
}

/**
 * AJV with bounded time. A schema that refers to itself twice for the same value doubles its work with each level of nesting:
 * forty levels would never end, and would block the process.
 *
 * 1. Each reference that is followed counts. The work between two references is bounded by the schema text.
 * 2. `startAt` resets the count.
 */
export class BoundedAjv extends Ajv2020 {
  readonly #looks = new ReferenceBudget()
  readonly #weights = new Map<unknown, number>()

  constructor(options: Options) {
    // Inlining compiles a schema for each reference to it: a page of schema can become gigabytes of code.
    super({ ...options, inlineRefs: false })
    for (const keyword of ['$ref', '$dynamicRef']) this.#count(this.getKeyword(keyword))
  }

  /** Call it with `undefined` after the validation, to let go of the value. */
  startAt(value: unknown): void {
    this.#looks.startAt(value)
  }

  /** The definition of a keyword is a copy that this instance has for itself. */
  #count(definition: ReturnType<Ajv2020['getKeyword']>): void {
    if (typeof definition !== 'object' || !('code' in definition) || definition.code === undefined)
      throw new Error('the library is not what it was: its looks cannot be counted')
    const { code } = definition
    definition.code = (context, ruleType) => {
      const looks = context.gen.scopeValue('obj', { ref: this.#looks })
      context.gen.code(_`if((${looks}.left -= ${this.#weightOf(context)}) < 0)${looks}.more()`)
      code(context, ruleType)
    }
  }

  #weightOf({ schema: reference, it }: KeywordCxt): number {
    const root = it.schemaEnv.root.schema
    const target = typeof root === 'object' ? (resolveReference(reference, root) ?? root) : root
    const known = this.#weights.get(target)
    if (known !== undefined) return known
    const text = JSON.stringify(target, (key, value) => (key === '$defs' || key === 'definitions' ? undefined : value)) ?? ''
    const weight = 1 + Math.floor(text.length / textPerReference)
    this.#weights.set(target, weight)
    return weight
  }
}

function countValues(value: unknown): number {
  let places = 0
  const waiting = [value]
  while (waiting.length > 0 && places < mostReferences) {
    const next = waiting.pop()
    places += 1
    if (typeof next === 'object' && next !== null) for (const each of Object.values(next)) waiting.push(each)
  }
  return places
}
