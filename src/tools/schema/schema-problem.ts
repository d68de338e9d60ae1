import type { JsonSchema } from '../../contracts/index.ts'

/** Why a JSON Schema cannot be compiled, where what is seen at a look gives no reason. Loads the library at the first use. */
export async function schemaProblem(schema: JsonSchema): Promise<string | undefined> {
  const { problemOf } = await import('./compile-schema.ts')
  return problemOf(schema)
}
