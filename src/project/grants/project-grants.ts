import { existsSync } from 'node:fs'
import { join } from 'node:path'
import type { ProjectGrants, Records, Store } from '../../contracts/index.ts'
import { dataFolder, whyUnwritable } from '../setup/data-folder.ts'
import type { ProjectPlace } from '../setup/project-place.ts'
import { withSessions } from '../setup/session-store.ts'
import { type GrantRecord, type GrantScope, readGrants, removeGrants, storeGrants } from './grant-records.ts'
import { readGrantsFile, takeOverGrants } from './grants-file.ts'

/** The grants of a user. */
export interface UserGrants {
  /** The grants of one project, or of all. */
  list(project?: string): Promise<readonly GrantRecord[]>
  /** Replaces grants with the same key and folder. */
  add(grants: readonly GrantRecord[]): Promise<void>
  remove(grants: readonly GrantRecord[]): Promise<void>
  close(): Promise<void>
}

interface SessionStore {
  readonly folder: string
  readonly store: Pick<Store, 'records'>
}

/**
 * In the store of the user's data folder, like trust: sessions may be stored elsewhere, even inside a project, but a project cannot ship
 * its own approvals. `sessions` is used if it is that store. Otherwise the store is opened when it is needed; reading creates none.
 */
export function userGrants({ env }: Pick<ProjectPlace, 'env'>, sessions?: SessionStore): UserGrants {
  const folder = dataFolder({ flag: undefined, env })
  const shared = sessions?.folder === folder ? sessions.store : undefined
  let opened: Promise<Store> | undefined
  const open = (): Promise<Store> => {
    opened ??= openUserStore(folder)
    return opened
  }
  /** The records, with those of the file of earlier versions. */
  const records = async (): Promise<Records> => {
    const store = shared ?? (await open())
    await takeOverGrants(store.records, folder)
    return store.records
  }
  return {
    async list(project) {
      if (whyUnwritable(folder) !== undefined) return readOnlyGrants(folder, project)
      const isEmpty = !shared && !existsSync(join(folder, 'troupe.db')) && readGrantsFile(folder) === undefined
      return isEmpty ? [] : readGrants(await records(), project)
    },
    add: async (grants) => storeGrants(await records(), grants, { replace: true }),
    remove: async (grants) => removeGrants(await records(), grants),
    close: async () => (await opened?.catch(() => undefined))?.close(),
  }
}

async function openUserStore(folder: string): Promise<Store> {
  const { openStore } = await import('../../stores/index.ts')
  return openStore(`sqlite:${folder}`)
}

/** Opened for each use, because a store that cannot be written is read as it was when it was opened. */
async function readOnlyGrants(folder: string, project: string | undefined): Promise<readonly GrantRecord[]> {
  const stored = await withSessions<readonly GrantRecord[]>({ folder }, [], ({ records }) => readGrants(records, project))
  const inFile = readGrantsFile(folder) ?? []
  return [...stored, ...inFile.filter((grant) => project === undefined || grant.project === project)]
}

/** Reads the grants each time, so that a revocation in another process takes effect. */
export function projectGrants(grants: UserGrants, { project, folder }: GrantScope, now: () => number): ProjectGrants {
  return {
    list: async () => (await grants.list(project)).filter((grant) => grant.folder === folder),
    add: (keys, by) =>
      grants.add(
        keys.map(({ key, label, isPrefix }) => ({ project, folder, key, label, ...(isPrefix === true && { isPrefix }), by, at: now() })),
      ),
  }
}
