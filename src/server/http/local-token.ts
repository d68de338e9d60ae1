import { randomBytes, randomUUID } from 'node:crypto'
import { chmod, link, mkdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { TroupeError } from '../../contracts/index.ts'
import { errorCode } from '../../util/error-code.ts'

// The token of the user of this machine. It is created once in a data folder, in a file that only the user can read.

const name = 'local-token'
const form = /^trp_local_[\w-]{32}$/

export const randomToken = (): string => `trp_local_${randomBytes(24).toString('base64url')}`

/** @throws TroupeError `config_invalid` if the file contains something else. */
export async function localToken(folder: string): Promise<{ readonly token: string; readonly path: string }> {
  const path = join(folder, name)
  return { token: (await readToken(path)) ?? (await createFile(path)), path }
}

/** `undefined`: no server has used this data folder. */
export const readLocalToken = (folder: string): Promise<string | undefined> => readToken(join(folder, name))

async function readToken(path: string): Promise<string | undefined> {
  const token = await readTokenFile(path)
  if (token === undefined || form.test(token)) return token
  throw new TroupeError('config_invalid', `${path} does not contain a token.`, { remedy: 'Remove the file: a new one is created.' })
}

async function readTokenFile(path: string): Promise<string | undefined> {
  try {
    const text = await readFile(path, 'utf8')
    const { mode } = await stat(path)
    if ((mode & 0o077) !== 0) await chmod(path, 0o600)
    return text.trim()
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return undefined
    throw new TroupeError('config_invalid', `${path} cannot be read: ${(error as Error).message}`, {
      remedy: 'Correct its permissions, or remove the file: a new one is created.',
      cause: error,
    })
  }
}

/** Appears complete, or not at all. If another process is faster, its token is used. */
async function createFile(path: string): Promise<string> {
  const token = randomToken()
  const draft = `${path}.${randomUUID()}`
  await mkdir(join(path, '..'), { recursive: true, mode: 0o700 })
  try {
    await writeFile(draft, `${token}\n`, { mode: 0o600, flag: 'wx' })
    await link(draft, path)
    return token
  } catch (error) {
    const other = errorCode(error) === 'EEXIST' ? await readToken(path) : undefined
    if (other !== undefined) return other
    throw new TroupeError('config_invalid', `${path} cannot be written: ${(error as Error).message}`, {
      remedy: 'Use another folder with --data-dir.',
      cause: error,
    })
  } finally {
    await rm(draft, { force: true })
  }
}
