import { TroupeError } from '../../contracts/index.ts'
import { shellWord } from '../../util/shell-word.ts'
import { exitCodeOfError, exitCodes } from '../host/exit-codes.ts'

interface Start {
  readonly file: string
  /** Whether others of the team name models of their own, which the flag is not about. */
  readonly isTeam: boolean
  /** Where keys were looked for. */
  readonly places: readonly string[]
}

/** Where there is no model: what was looked into, and one whole command that goes on without any. */
export function withRehearsal(error: TroupeError, { file, isTeam, places }: Start): TroupeError {
  if (exitCodeOfError(error) !== exitCodes.model.code) return error
  const { code, message, remedy, problems, cause } = error
  const run = `troupe run ${shellWord(file)} "…"`
  const command = isTeam ? `TROUPE_MODELS=rehearsal ${run}, for every agent of the team` : `${run} --model rehearsal`
  const whole = `To try it without a provider: ${command}`
  // What already ends in the flag gets the rest of the command; it is not said twice.
  const more = /--model rehearsal$/.test(remedy ?? '')
    ? remedy?.replace(/--model rehearsal$/, () => command)
    : `${remedy ?? ''} ${whole}`.trim()
  // A name that there is not has nothing to do with keys.
  const looked = code === 'model_unknown' ? [] : [{ place: 'variables', message: `Looked into: ${places.join(', ')}.` }]
  return new TroupeError(code, message, { problems: [...problems, ...looked], ...(more !== undefined && { remedy: more }), cause })
}
