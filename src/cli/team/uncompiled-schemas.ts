import { TroupeError } from '../../contracts/index.ts'
import { contractProblems, type StatedContracts } from '../../tools/index.ts'

/** Schemas that look right and cannot be compiled all the same, as an error. */
export async function schemaErrors(files: readonly StatedContracts[]): Promise<readonly TroupeError[]> {
  const problems = await contractProblems(files)
  return problems.length === 0 ? [] : [new TroupeError('agent_file_invalid', 'Some schemas cannot be used.', { problems })]
}
