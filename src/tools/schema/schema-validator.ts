import type {
  InputContract,
  JsonObject,
  JsonSchema,
  OutputContract,
  Problem,
  SchemaValidator,
  Validate,
  Validation,
} from '../../contracts/index.ts'
import { withLibraryCheck } from './standard-schema.ts'

/**
 * JSON Schema 2020-12 by AJV.
 *
 * 1. The library, and all that explains its errors, is loaded at the first use: it costs more than a whole run without tools.
 * 2. Each schema object is compiled once, and forgotten with its object.
 * 3. Once loaded, `compile` answers without a promise.
 * 4. `validate` never changes its input; a corrected value is a copy.
 * 5. A schema of a library is checked by AJV first, so that values are corrected, then by the library.
 */
export function schemaValidator(): SchemaValidator {
  const known = new WeakMap<JsonSchema, Validate>()
  let compileSchema: CompileSchema | undefined

  const compiled = (schema: JsonSchema, compile: CompileSchema): Validate => {
    const validate = known.get(schema) ?? withLibraryCheck(schema, compile(schema))
    known.set(schema, validate)
    return validate
  }

  return {
    compile(schema) {
      const validate = known.get(schema)
      if (validate !== undefined) return validate
      if (compileSchema !== undefined) return compiled(schema, compileSchema)
      return import('./compile-schema.ts').then((loaded) => {
        compileSchema = loaded.compileSchema
        return compiled(schema, compileSchema)
      })
    },
    async repair(text) {
      const { repairJson } = await import('./repair-json.ts')
      return repairJson(text)
    },
  }
}

type CompileSchema = (schema: JsonSchema) => (value: unknown) => Validation

export interface StatedContracts {
  readonly place: string
  readonly agent: { readonly input: InputContract; readonly output: OutputContract }
}

/** Schemas of agents that cannot be compiled. A shared one is compiled once. */
export async function contractProblems(stated: readonly StatedContracts[]): Promise<readonly Problem[]> {
  const compiled = new Map<string, string | undefined>()
  const faultOf = async (schema: JsonObject): Promise<string | undefined> => {
    const { problemOf } = await import('./compile-schema.ts')
    const key = JSON.stringify(schema)
    if (!compiled.has(key)) compiled.set(key, problemOf(schema))
    return compiled.get(key)
  }
  const problems: Problem[] = []
  for (const { agent, place } of stated) {
    for (const [key, contract] of Object.entries({ input: agent.input, output: agent.output })) {
      const fault = contract.format === 'json' && contract.schema ? await faultOf(contract.schema) : undefined
      if (fault === undefined) continue
      const remedy = 'Use JSON Schema 2020-12.'
      problems.push({ place: `${place} ${key}.schema`, message: `not a valid JSON Schema: ${fault}`, remedy })
    }
  }
  return problems
}
