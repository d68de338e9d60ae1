import { readFileSync } from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { type ConfigFileSystem, nodeConfigFileSystem } from '../../agents/index.ts'
import { type ApprovalKey, type ProjectGrants, TroupeError } from '../../contracts/index.ts'
import { dataFolder } from '../host/data-folder.ts'
import type { Host } from '../host/process-host.ts'
import { type GrantRecord, parseGrants, printGrants, withGrants } from './grant-records.ts'

/** Where approvals that outlive a session are kept. */
export interface GrantFile {
  readonly files: ConfigFileSystem
  readonly path: string
}

/** In the person's own folder, like trust: a project cannot bring its approvals along. */
export function grantFileOf({ env }: Pick<Host, 'env'>): GrantFile {
  return { files: nodeConfigFileSystem, path: join(dataFolder({ flag: undefined, env, home: homedir() }), 'grants.json') }
}

/** The folder that is worked in, and the project that it belongs to. */
export type GrantScope = Pick<GrantRecord, 'project' | 'folder'>

/** Reads anew each time: what was taken back elsewhere no longer counts here. */
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

/** Another process may write in between; then what it wrote is taken as the beginning. */
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
