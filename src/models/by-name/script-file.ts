import * as fs from 'node:fs'
import { TroupeError } from '../../contracts/index.ts'
import { readBounded } from '../../util/read-bounded.ts'

/** The same limit as for configuration files. */
const maxScriptLength = 4 * 1024 * 1024

interface NeededScript {
  /** The name of the model. */
  readonly name: string
  readonly path: string
  /** The base folder of the path. */
  readonly folder: string
}

/** The text of a script. Throws `model_unknown` if it is missing or too large. */
export async function scriptText(needed: NeededScript, readFile: (path: string) => Promise<string>): Promise<string> {
  const text = await readFile(needed.path).catch((cause: unknown) => {
    throw unreadable(needed, cause)
  })
  if (text.length <= maxScriptLength) return text
  throw unreadable(needed, new NotAScript(`it has more than ${maxScriptLength} characters, which is the maximum`))
}

export async function readScriptFile(path: string): Promise<string> {
  const found = readBounded(fs, path, maxScriptLength)
  if (found.kind === 'read') return new TextDecoder().decode(found.bytes)
  throw 'why' in found ? new NotAScript(found.why) : found.error
}

/** The path exists, but is no script. */
class NotAScript extends Error {}

function unreadable({ name, path, folder }: NeededScript, cause: unknown): TroupeError {
  const isThere = cause instanceof NotAScript
  return new TroupeError(
    'model_unknown',
    `The model ${name} needs the script ${path}, which cannot be read${isThere ? `: ${cause.message}` : ''}.`,
    {
      remedy: isThere ? 'Name a file with steps, of a page or two.' : `Create it, or give its path relative to ${folder}.`,
      cause,
    },
  )
}
