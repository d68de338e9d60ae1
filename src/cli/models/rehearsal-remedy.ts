import { TroupeError } from '../../contracts/index.ts'
import { shellWord } from '../../util/shell-word.ts'
import { exitCodeOfError, exitCodes } from '../host/exit-codes.ts'

interface Start {
  readonly file: string
  /** Whether a child names its own models, to which --model does not apply. */
  readonly isTeam: boolean
  /** Where keys were searched. */
  readonly places: readonly string[]
}

/** Adds to an error about missing models where keys were searched, and a command that works without a provider. */
export function withRehearsal(error: TroupeError, { file, isTeam, places }: Start): TroupeError {
  if (exitCodeOfError(error) !== exitCodes.model.code) return error
  const { code, message, remedy, problems, cause } = error
  const run = `troupe run ${shellWord(file)} "…"`
  const command = isTeam ? `TROUPE_MODELS=rehearsal ${run}, for every agent of the team` : `${run} --model rehearsal`
  const whole = `To try it without a provider: ${command}`
  // A remedy that already ends with the flag gets the full command instead.
  const more = /--model rehearsal$/.test(remedy ?? '')
    ? remedy?.replace(/--model rehearsal$/, () => command)
    : `${remedy ?? ''} ${whole}`.trim()
  // An unknown model name has nothing to do with keys.
  const searched = code === 'model_unknown' ? [] : [{ place: 'variables', message: `Searched: ${places.join(', ')}.` }]
  return new TroupeError(code, message, { problems: [...problems, ...searched], ...(more !== undefined && { remedy: more }), cause })
}
