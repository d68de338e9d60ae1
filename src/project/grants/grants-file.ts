import { readFileSync } from 'node:fs'
import { rename } from 'node:fs/promises'
import { join } from 'node:path'
import { type Records, TroupeError } from '../../contracts/index.ts'
import { isPlainObject } from '../../util/json-schema/schema-values.ts'
import { type GrantRecord, isGrant, storeGrants } from './grant-records.ts'

// Earlier versions kept grants in a file. It is taken over once; a newer grant with the same key stays.

const pathIn = (folder: string): string => join(folder, 'grants.json')

export async function takeOverGrants(records: Records, folder: string): Promise<void> {
  const grants = readGrantsFile(folder)
  if (grants === undefined) return
  await storeGrants(records, grants, { replace: false })
  const path = pathIn(folder)
  // Another process may have renamed it.
  await rename(path, `${path}.imported`).catch((error: unknown) => {
    if (!isMissing(error)) throw unreadable(path, error)
  })
}

/** `undefined` if there is no file. @throws TroupeError `config_invalid` where it is damaged. */
export function readGrantsFile(folder: string): readonly GrantRecord[] | undefined {
  const path = pathIn(folder)
  try {
    return parseGrants(readFileSync(path, 'utf8'), path)
  } catch (error) {
    if (isMissing(error)) return undefined
    throw error instanceof TroupeError ? error : unreadable(path, error)
  }
}

/** Anything but the expected format throws: a damaged list grants nothing. */
function parseGrants(text: string, path: string): readonly GrantRecord[] {
  let content: unknown
  try {
    content = JSON.parse(text)
  } catch {
    content = undefined
  }
  if (isPlainObject(content) && content.version === 1 && Array.isArray(content.grants)) {
    const { grants } = content
    // The oldest grants have no folder: they are ignored, so the user is asked again.
    if (grants.every((grant) => isGrant(isPlainObject(grant) ? { folder: grant.project, ...grant } : grant))) return grants.filter(isGrant)
  }
  throw new TroupeError('config_invalid', `The list of approvals ${path} is damaged.`, {
    problems: [{ place: path, message: 'expected { "version": 1, "grants": [ … ] }' }],
    remedy: 'Fix or remove the file. Without it, no approval of earlier versions applies.',
  })
}

const isMissing = (error: unknown): boolean => error instanceof Error && 'code' in error && error.code === 'ENOENT'

const unreadable = (path: string, cause: unknown): TroupeError =>
  new TroupeError('config_invalid', `The list of approvals ${path} cannot be read or renamed.`, { cause })
