import type { SaidByFile } from '../agents/index.ts'
import { type JsonObject, type Problem, TroupeError } from '../contracts/index.ts'
import { schemaProblem } from '../tools/index.ts'

export interface ContractsOfFile {
  readonly place: string
  readonly agent: Pick<SaidByFile['agent'], 'input' | 'output'>
}

/** Schemas that look right and cannot be compiled all the same. One that many agents share is compiled once. */
export async function uncompiledSchemas(files: readonly ContractsOfFile[]): Promise<readonly TroupeError[]> {
  const compiled = new Map<string, string | undefined>()
  const faultOf = async (schema: JsonObject): Promise<string | undefined> => {
    const key = JSON.stringify(schema)
    if (!compiled.has(key)) compiled.set(key, await schemaProblem(schema))
    return compiled.get(key)
  }
  const problems: Problem[] = []
  for (const { agent, place } of files) {
    for (const [key, contract] of Object.entries({ input: agent.input, output: agent.output })) {
      const fault = contract.format === 'json' && contract.schema ? await faultOf(contract.schema) : undefined
      if (fault === undefined) continue
      const remedy = 'JSON Schema 2020-12 is meant.'
      problems.push({ place: `${place} ${key}.schema`, message: `it is not a JSON Schema: ${fault}`, remedy })
    }
  }
  return problems.length === 0 ? [] : [new TroupeError('agent_file_invalid', 'Some schemas cannot be used.', { problems })]
}
