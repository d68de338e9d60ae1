import { type Problem, TroupeError } from '../contracts/index.ts'

/** Several errors as one, with the code of the first and the problems of all. */
export function joinErrors(errors: readonly TroupeError[]): TroupeError {
  const [first, ...more] = errors
  if (!first) throw new TroupeError('internal', 'No error was given.')
  if (more.length === 0) return first
  const problems = errors.flatMap((error): readonly Problem[] => {
    if (error.problems.length > 0) return error.problems
    return [{ place: error.code, message: error.message, ...(error.remedy !== undefined && { remedy: error.remedy }) }]
  })
  return new TroupeError(first.code, `There are ${problems.length} problems.`, { problems })
}
