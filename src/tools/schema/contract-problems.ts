import type { InputContract, JsonObject, OutputContract, Problem } from '../../contracts/index.ts'
import { schemaProblem } from './schema-validator.ts'

export interface StatedContracts {
  readonly place: string
  readonly agent: { readonly input: InputContract; readonly output: OutputContract }
}

/** Schemas that look right and cannot be compiled all the same. One that many agents share is compiled once. */
export async function contractProblems(stated: readonly StatedContracts[]): Promise<readonly Problem[]> {
  const compiled = new Map<string, string | undefined>()
  const faultOf = async (schema: JsonObject): Promise<string | undefined> => {
    const key = JSON.stringify(schema)
    if (!compiled.has(key)) compiled.set(key, await schemaProblem(schema))
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
