import type { Json, JsonSchema } from './json.ts'

/** A schema of zod, valibot, arktype or another library that implements standardschema.dev. */
export interface StandardSchema<Input = unknown, Output = Input> {
  readonly '~standard': {
    readonly version: 1
    readonly vendor: string
    /** For types only; no value has it. */
    readonly types?: { readonly input: Input; readonly output: Output } | undefined
    validate(value: unknown): StandardResult<Output> | Promise<StandardResult<Output>>
    /** Newer libraries describe their schemas as JSON Schema. */
    readonly jsonSchema?: { input(options: { readonly target: 'draft-2020-12' }): Record<string, unknown> }
  }
}

export type StandardResult<Output> = { readonly value: Output; readonly issues?: undefined } | { readonly issues: readonly StandardIssue[] }

export interface StandardIssue {
  readonly message: string
  readonly path?: readonly (PropertyKey | { readonly key: PropertyKey })[] | undefined
}

/** A JSON Schema of draft 2020-12, or a schema of a library. */
export type AnySchema = JsonSchema | StandardSchema

/** The type of the values that a schema accepts. For a JSON Schema: `Plain`. */
export type SchemaInput<S, Plain = Json> = S extends StandardSchema ? NonNullable<S['~standard']['types']>['input'] : Plain

/** The type of the values that a schema returns, with its transforms and defaults. For a JSON Schema: `Plain`. */
export type SchemaOutput<S, Plain = Json> = S extends StandardSchema ? NonNullable<S['~standard']['types']>['output'] : Plain
