import type {
  AnySchema,
  JsonSchema,
  MaybePromise,
  Problem,
  StandardIssue,
  StandardResult,
  StandardSchema,
  Validate,
  Validation,
} from '../../contracts/index.ts'
import { isThenable } from '../../util/is-thenable.ts'
import { plainJson } from '../../util/json-values.ts'
import { messageOf } from '../../util/message-of.ts'

// A schema of a library becomes a JSON Schema, which models see, with the library's own check beside it in a hidden property.
// JSON and copies omit that property: a journal keeps the JSON Schema alone.

const key = '~standard'

export function isStandardSchema(schema: unknown): schema is StandardSchema {
  return ((typeof schema === 'object' && schema !== null) || typeof schema === 'function') && key in schema
}

type DescribedSchema = { readonly ok: true; readonly schema: JsonSchema } | { readonly ok: false; readonly problem: Problem }

/** The JSON Schema of a schema of a library; another schema is returned as it is. */
export function jsonSchemaOf(given: AnySchema, place: string): DescribedSchema {
  if (!isStandardSchema(given)) return { ok: true, schema: given }
  const { [key]: standard } = given
  const { vendor, jsonSchema } = standard
  if (!jsonSchema) {
    const remedy = remedies[vendor] ?? 'Use a version of the library that implements Standard JSON Schema, or write a JSON Schema.'
    return { ok: false, problem: { place, message: `this schema of ${vendor} cannot be described as JSON Schema`, remedy } }
  }
  try {
    const { $schema: _, ...schema } = plainJson(jsonSchema.input({ target: 'draft-2020-12' })) ?? {}
    return { ok: true, schema: Object.defineProperty(schema, key, { value: standard }) }
  } catch (error) {
    const message = `${vendor} cannot describe this schema as JSON Schema: ${messageOf(error)}`
    return { ok: false, problem: { place, message, remedy: 'Use types that JSON can express, for example a text for a date.' } }
  }
}

const remedies: { readonly [vendor: string]: string } = {
  valibot: 'Wrap it: toStandardJsonSchema(schema), from @valibot/to-json-schema.',
  zod: 'Update zod to version 4.2 or later.',
  arktype: 'Update arktype to version 2.1.28 or later.',
}

/** Adds the check of the library, if the schema has one. The value stays as it is: journals record what was sent. */
export function withLibraryCheck(schema: JsonSchema, validate: (value: unknown) => Validation): Validate {
  if (!isStandardSchema(schema)) return validate
  return (value) => {
    const found = validate(value)
    if (!found.ok) return found
    const parsed = parseStandard(schema, found.value)
    const judge = (result: Parsed<unknown>): Validation => (result.ok ? found : result)
    return parsed instanceof Promise ? parsed.then(judge) : judge(parsed)
  }
}

export type Parsed<Value> = { readonly ok: true; readonly value: Value } | { readonly ok: false; readonly problems: readonly string[] }

/** The value with the transforms and defaults of the library. Never throws. */
export function parseStandard(schema: StandardSchema, value: unknown): MaybePromise<Parsed<unknown>> {
  try {
    const result = schema[key].validate(value)
    return isThenable(result) ? Promise.resolve(result).then(parsedOf, failed) : parsedOf(result as StandardResult<unknown>)
  } catch (error) {
    return failed(error)
  }
}

const failed = (error: unknown): Parsed<never> => ({ ok: false, problems: [`the check of the schema failed: ${messageOf(error)}`] })

const mostProblems = 10

function parsedOf(result: StandardResult<unknown>): Parsed<unknown> {
  if (!result.issues) return { ok: true, value: result.value }
  const problems = [...new Set(result.issues.map(sentence))]
  const more = problems.length - mostProblems
  return { ok: false, problems: more > 0 ? [...problems.slice(0, mostProblems), `and ${more} more`] : problems }
}

function sentence({ message, path = [] }: StandardIssue): string {
  const at = path.map((part) => String(typeof part === 'object' ? part.key : part)).join('.')
  // Some libraries begin the message with the path.
  return message.startsWith(at) && at !== '' ? message : `${at === '' ? 'input' : at}: ${message}`
}
