import { TroupeError } from '../contracts/index.ts'
import { exitCodeOfError, exitCodes } from './exit-codes.ts'

/** Where there is no model, one whole command that goes on without any. */
export function withRehearsal(error: TroupeError, file: string): TroupeError {
  if (exitCodeOfError(error) !== exitCodes.model.code) return error
  const { code, message, remedy, problems, cause } = error
  const command = `Without an LLM it can be tried at once: troupe run ${quoted(file)} "…" --model rehearsal`
  return new TroupeError(code, message, { problems, remedy: remedy === undefined ? command : `${remedy} ${command}`, cause })
}

/** As a shell takes it for one word. */
const quoted = (word: string): string => (/^[\w./@%+=:,-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`)
