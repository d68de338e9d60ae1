import { type Problem, TroupeError } from '../../contracts/index.ts'

/** The problems of a registry as one error. */
export function registryError(problems: readonly Problem[]): TroupeError {
  const count = problems.length === 1 ? 'a problem' : `${problems.length} problems`
  return new TroupeError('agent_file_invalid', `The agents have ${count}.`, { problems })
}
