import type { ErrorObject, ValidateFunction } from 'ajv/dist/2020.js'
import type { JsonSchema, Validate, Validation } from '../../contracts/index.ts'
import { boundedPattern } from './bounded-pattern.ts'
import { CountingAjv, TooManyLooks } from './counting-ajv.ts'
import { explainErrors } from './explain-errors.ts'
import { groupErrors } from './group-errors.ts'
import { mendValue } from './mend-value.ts'

const options = {
  strict: false,
  allErrors: true,
  validateFormats: false,
  // Errors carry the value and the schema that they are about.
  verbose: true,
  // What every object inherits (`constructor`) is not in the input.
  ownProperties: true,
  // `checkSchema` has looked at the schema, and loading the schema of schemas takes longer than compiling ours.
  meta: false,
  validateSchema: false,
  logger: false,
  code: { regExp: boundedPattern },
} as const

type Compiled =
  | { readonly ok: true; readonly check: ValidateFunction; readonly library: CountingAjv }
  | { readonly ok: false; readonly problem: string }

/** An instance for each schema: one for all would keep every schema alive and let ids of strangers collide. */
function compiled(schema: JsonSchema): Compiled {
  try {
    const library = new CountingAjv(options)
    const check = library.compile(schema)
    return '$async' in check ? { ok: false, problem: '"$async" is not supported' } : { ok: true, check, library }
  } catch (error) {
    return { ok: false, problem: error instanceof Error ? error.message : String(error) }
  }
}

/** Why a schema cannot be used, if it cannot. */
export function problemOf(schema: JsonSchema): string | undefined {
  const result = compiled(schema)
  return result.ok ? undefined : result.problem
}

export function compileSchema(schema: JsonSchema): Validate {
  const result = compiled(schema)
  if (!result.ok) return refusing(result.problem)
  const { check, library } = result
  return (value) => {
    library.startAt(value)
    try {
      return check(value) ? { ok: true, value } : rejected(check, schema, value)
    } catch (error) {
      if (error instanceof TooManyLooks) return tooManyLooks
      if (!(error instanceof RangeError)) throw error
      return { ok: false, problems: ['the input is nested too deeply'] }
    } finally {
      library.end()
    }
  }
}

const tooManyLooks: Validation = {
  ok: false,
  problems: [
    'the input is nested too deeply for its schema, which looks at the same places again and again by way of "$ref": nest it less, or leave out what may be left out',
  ],
}

function refusing(cause: string): Validate {
  const refusal: Validation = { ok: false, problems: [`this tool cannot be used: its input schema is wrong: ${cause}`] }
  return () => refusal
}

function rejected(check: ValidateFunction, schema: JsonSchema, value: unknown): Validation {
  const errorsOf = (candidate: unknown) => (check(candidate) ? undefined : groupErrors(check.errors as ErrorObject[], schema))
  const complaints = groupErrors(check.errors as ErrorObject[], schema)
  const mended = mendValue(value, complaints, errorsOf)
  return mended === undefined ? { ok: false, problems: explainErrors(complaints, { value, schema }) } : { ok: true, value: mended.value }
}
