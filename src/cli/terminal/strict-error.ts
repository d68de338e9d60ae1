import { type Problem, TroupeError } from '../../contracts/index.ts'

/** The error of `--strict` about warnings from before a start. */
export const strictError = (warnings: readonly Problem[]): TroupeError =>
  new TroupeError('config_invalid', 'There are warnings, and --strict allows none.', {
    problems: warnings.map(({ place, message, remedy }) => ({ place, message, ...(remedy !== undefined && { remedy }) })),
  })
