import type { Ajv2020, ErrorObject, ValidateFunction } from 'ajv/dist/2020.js'
import type { JsonSchema, SchemaValidator, Validate, Validation } from '../../contracts/index.ts'
import { explainErrors } from './explain-errors.ts'
import { groupErrors } from './group-errors.ts'
import { mendValue } from './mend-value.ts'
import { repairJson } from './repair-json.ts'

/**
 * JSON Schema 2020-12 by AJV.
 *
 * 1. The library is loaded at the first use, not before: it costs more than a whole run without tools.
 * 2. Each schema object is compiled once, and forgotten with its object.
 * 3. Once loaded, `validator` answers without a promise.
 * 4. `validate` never changes what it is given; a mended value is a copy.
 */
export function schemaValidator(): SchemaValidator {
  const known = new WeakMap<JsonSchema, Validate>()
  let library: typeof Ajv2020 | undefined

  const compiled = (Library: typeof Ajv2020, schema: JsonSchema): Validate => {
    const validate = known.get(schema) ?? compile(Library, schema)
    known.set(schema, validate)
    return validate
  }

  return {
    compile(schema) {
      const validate = known.get(schema)
      if (validate !== undefined) return validate
      if (library !== undefined) return compiled(library, schema)
      return import('ajv/dist/2020.js').then((loaded) => {
        library = loaded.Ajv2020
        return compiled(library, schema)
      })
    },
    repair: repairJson,
  }
}

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
} as const

/** An instance for each schema: one for all would keep every schema alive and let ids of strangers collide. */
function compile(Library: typeof Ajv2020, schema: JsonSchema): Validate {
  let check: ValidateFunction
  try {
    check = new Library(options).compile(schema)
  } catch (error) {
    return refusing(error instanceof Error ? error.message : String(error))
  }
  if ('$async' in check) return refusing('"$async" is not supported')
  return (value) => {
    try {
      return check(value) ? { ok: true, value } : rejected(check, schema, value)
    } catch (error) {
      if (!(error instanceof RangeError)) throw error
      return { ok: false, problems: ['the input is nested too deeply'] }
    }
  }
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
