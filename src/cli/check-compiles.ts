import type { JsonSchema } from '../contracts/index.ts'

/** Why a JSON Schema cannot be compiled, where what is seen at a look gives no reason. */
export async function schemaProblem(schema: JsonSchema): Promise<string | undefined> {
  const { Ajv2020 } = await import('ajv/dist/2020.js')
  try {
    new Ajv2020({ strict: false, validateFormats: false, meta: false, validateSchema: false, logger: false }).compile(schema)
    return undefined
  } catch (error) {
    return error instanceof Error ? error.message : String(error)
  }
}
