import { readFileSync } from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { type ConfigFileSystem, nodeConfigFileSystem } from '../../agents/index.ts'
import { type ApprovalKey, type ProjectGrants, TroupeError } from '../../contracts/index.ts'
import { dataFolder } from '../host/data-folder.ts'
import type { Host } from '../host/process-host.ts'
import { type GrantRecord, parseGrants, printGrants, withGrants } from './grant-records.ts'

export interface GrantFile {
  readonly files: ConfigFileSystem
  readonly path: string
}

/** In the data folder of the user, like trust: a project cannot ship its own approvals. */
export function grantFileOf({ env }: Pick<Host, 'env'>): GrantFile {
  return { files: nodeConfigFileSystem, path: join(dataFolder({ flag: undefined, env, home: homedir() }), 'grants.json') }
}

export type GrantScope = Pick<GrantRecord, 'project' | 'folder'>

/** Reads the file each time, so that a revocation in another process takes effect. */
export function projectGrants(place: GrantFile, { project, folder }: GrantScope, now: () => number): ProjectGrants {
  return {
    list: () => readGrants(place).filter((record) => record.project === project && record.folder === folder),
    async add(keys: readonly ApprovalKey[], by: string) {
      const added = keys.map(
        ({ key, label, isPrefix }): GrantRecord => ({ project, folder, key, label, ...(isPrefix === true && { isPrefix }), by, at: now() }),
      )
      await changeGrants(place, (records) => withGrants(records, added))
    },
  }
}

/** @throws TroupeError `config_invalid` where the list is damaged. */
export function readGrants({ path }: GrantFile): readonly GrantRecord[] {
  const text = textOf(path)
  return text === undefined ? [] : parseGrants(text, path)
}

const maxAttempts = 200

/** Retries when another process has changed the file in between. */
export async function changeGrants(
  { files, path }: GrantFile,
  next: (records: readonly GrantRecord[]) => readonly GrantRecord[],
): Promise<void> {
  for (let tries = 0; tries < maxAttempts; tries++) {
    const text = textOf(path)
    const written = printGrants(next(text === undefined ? [] : parseGrants(text, path)))
    if (written === text || (await files.replace(path, text, written))) return
  }
  throw new TroupeError('config_invalid', `The list of approvals ${path} cannot be written: other processes keep changing it.`, {
    remedy: 'Try again.',
  })
}

function textOf(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8')
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined
    throw new TroupeError('config_invalid', `The list of approvals ${path} cannot be read.`, { cause: error })
  }
}
