import { chmod, lstat, mkdir, realpath } from 'node:fs/promises'
import { dirname } from 'node:path'
import { TroupeError } from '../../../contracts/index.ts'
import { nodeConfigFileSystem } from './config-file-system.ts'
import { parseEnv } from './env-file.ts'

const maxTries = 5

/**
 * Sets a variable in a `.env` file, and keeps all other lines. Only the user can read the file and its folder afterwards. `value` needs
 * no quotes: it has no blanks.
 *
 * @throws TroupeError `config_invalid` if the file has errors, or other processes keep changing it. Rejects if it cannot be written.
 */
export async function setVariable(path: string, name: string, value: string): Promise<void> {
  // A link to a file elsewhere stays one.
  const target = await realpath(path).catch(() => path)
  await makePrivateFolder(dirname(path))
  for (let tries = 0; tries < maxTries; tries++) {
    const bytes = await nodeConfigFileSystem.read(target)
    const before = bytes === undefined ? undefined : new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes as Uint8Array)
    // Throws for a file that would not be read either.
    const line = parseEnv(bytes ?? '', path).get(name)?.line
    const text = line === undefined ? withLine(before ?? '', `${name}=${value}`) : withValue(before ?? '', line, value)
    if (await nodeConfigFileSystem.replace(target, before, text)) return
  }
  throw new TroupeError('config_invalid', `${path} is changed by other processes.`, { remedy: 'Try again.' })
}

/** Lines are counted as the parser counts them, and keep their ends. */
const withValue = (text: string, line: number, value: string): string =>
  text
    .split(/(\r\n|\r|\n)/)
    .map((part, index) => (index === 2 * (line - 1) ? part.replace(/=.*/s, () => `=${value}`) : part))
    .join('')

function withLine(text: string, line: string): string {
  const ending = text.includes('\r\n') ? '\r\n' : '\n'
  const separator = text === '' || text.endsWith('\n') ? '' : ending
  return `${text}${separator}${line}${ending}`
}

/** Only the user can read the folder afterwards. Where it is a link, it is left as it is: others may use that folder. */
export async function makePrivateFolder(folder: string): Promise<void> {
  await mkdir(folder, { recursive: true, mode: 0o700 })
  const found = await lstat(folder)
  if (found.isDirectory() && (found.mode & 0o077) !== 0) await chmod(folder, 0o700)
}
