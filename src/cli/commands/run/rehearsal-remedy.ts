import { TroupeError } from '../../../contracts/index.ts'
import { shellWord } from '../../../util/shell-word.ts'
import { exitCodeOfError, exitCodes } from '../../terminal/exit-codes.ts'

interface Start {
  readonly file: string
  /** Whether a child names its own models, to which --model does not apply. */
  readonly isTeam: boolean
  /** Where keys were searched. */
  readonly places: readonly string[]
}

/** Adds to an error about missing models where keys were searched, and a command that works without an LLM. */
export function withRehearsal(error: TroupeError, { file, isTeam, places }: Start): TroupeError {
  if (exitCodeOfError(error) !== exitCodes.model.code) return error
  const { code, message, remedy, problems, cause } = error
  const run = `troupe run ${shellWord(file)} "…"`
  const command = isTeam ? `TROUPE_MODELS=rehearsal ${run}, for every agent of the team` : `${run} --model rehearsal`
  const more = `${remedy ?? ''} To try the agent without an LLM: ${command}`.trim()
  // An unknown model name has nothing to do with keys.
  const missing = code === 'model_unknown' ? undefined : missingKeys(error)
  const searched = missing === undefined ? [] : [{ place: missing, message: searchedText(places) }]
  return new TroupeError(code, message, { problems: [...problems, ...searched], remedy: more, cause })
}

/** Nothing if a key was found, but is empty or unusable. */
function missingKeys({ code, message, problems }: TroupeError): string | undefined {
  const texts = [message, ...problems.map((problem) => problem.message)]
  const names = texts.flatMap((text) => /, and ([A-Z0-9_, ]+) is not set\.$/.exec(text)?.[1] ?? [])
  if (names.length > 0) return [...new Set(names)].join(', ')
  return code === 'model_key_missing' ? undefined : 'keys'
}

function searchedText(places: readonly string[]): string {
  const files = places.filter((place) => place !== 'the environment')
  return `Not found in the environment${files.length > 0 ? ` or in these files: ${files.join(', ')}` : ''}.`
}
