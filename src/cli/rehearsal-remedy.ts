import { TroupeError } from '../contracts/index.ts'
import { shellWord } from '../util/shell-word.ts'
import { exitCodeOfError, exitCodes } from './exit-codes.ts'

/** Where there is no model, one whole command that goes on without any. */
export function withRehearsal(error: TroupeError, file: string): TroupeError {
  if (exitCodeOfError(error) !== exitCodes.model.code) return error
  const { code, message, remedy, problems, cause } = error
  const command = `troupe run ${shellWord(file)} "…" --model rehearsal`
  const whole = `Without an LLM it can be tried at once: ${command}`
  // What already ends in the flag gets the rest of the command; it is not said twice.
  const more = /--model rehearsal$/.test(remedy ?? '')
    ? remedy?.replace(/--model rehearsal$/, () => command)
    : `${remedy ?? ''} ${whole}`.trim()
  return new TroupeError(code, message, { problems, ...(more !== undefined && { remedy: more }), cause })
}
