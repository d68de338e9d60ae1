import type { ErrorObject, ValidateFunction } from 'ajv/dist/2020.js'
import type { JsonSchema, Validation } from '../../contracts/index.ts'
import { BoundedAjv, ValidationLimitError } from './bounded-ajv.ts'
import { boundedPattern } from './bounded-pattern.ts'
import { coerceValue } from './coerce-value.ts'
import { explainErrors } from './explain-errors.ts'
import { groupErrors } from './group-errors.ts'

const options = {
  strict: false,
  allErrors: true,
  validateFormats: false,
  // Errors carry the value and the schema that they are about.
  verbose: true,
  // What every object inherits (`constructor`) is not in the input.
  ownProperties: true,
  // `checkSchema` has checked the schema; loading the meta-schema takes longer than compiling ours.
  meta: false,
  validateSchema: false,
  logger: false,
  code: { regExp: boundedPattern },
} as const

type Compiled =
  | { readonly ok: true; readonly check: ValidateFunction; readonly library: BoundedAjv }
  | { readonly ok: false; readonly problem: string }

/** An instance for each schema: one for all would keep every schema alive and let ids of strangers collide. */
function compiled(schema: JsonSchema): Compiled {
  try {
    const library = new BoundedAjv(options)
    const check = library.compile(schema)
    return '$async' in check ? { ok: false, problem: '"$async" is not supported' } : { ok: true, check, library }
  } catch (error) {
    return { ok: false, problem: error instanceof Error ? error.message : String(error) }
  }
}

export function problemOf(schema: JsonSchema): string | undefined {
  const result = compiled(schema)
  return result.ok ? undefined : result.problem
}

export function compileSchema(schema: JsonSchema): (value: unknown) => Validation {
  const result = compiled(schema)
  if (!result.ok) return refusing(result.problem)
  const { check, library } = result
  return (value) => {
    library.startAt(value)
    try {
      return check(value) ? { ok: true, value } : rejected(check, schema, value)
    } catch (error) {
      if (error instanceof ValidationLimitError) return limitExceeded
      if (!(error instanceof RangeError)) throw error
      return { ok: false, problems: ['the input is nested too deeply'] }
    } finally {
      library.startAt(undefined)
    }
  }
}

const limitExceeded: Validation = {
  ok: false,
  problems: [
    'validation takes too long: the input is nested too deeply for a recursive schema. Reduce the nesting, or omit optional parts',
  ],
}

function refusing(cause: string): () => Validation {
  const refusal: Validation = { ok: false, problems: [`this tool cannot be used: its input schema is invalid: ${cause}`] }
  return () => refusal
}

function rejected(check: ValidateFunction, schema: JsonSchema, value: unknown): Validation {
  const errorsOf = (candidate: unknown) => (check(candidate) ? undefined : groupErrors(check.errors as ErrorObject[], schema))
  const errors = groupErrors(check.errors as ErrorObject[], schema)
  const coerced = coerceValue(value, errors, { schema, check: errorsOf })
  return coerced === undefined ? { ok: false, problems: explainErrors(errors, value, schema) } : { ok: true, value: coerced.value }
}
