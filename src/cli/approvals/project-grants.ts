import { homedir } from 'node:os'
import type { ProjectGrants, Records, Store } from '../../contracts/index.ts'
import { dataFolder, whyUnwritable } from '../host/data-folder.ts'
import type { Host } from '../host/process-host.ts'
import { type GrantRecord, type GrantScope, readGrants, removeGrants, storeGrants } from './grant-records.ts'
import { readGrantsFile, takeOverGrants } from './grants-file.ts'
import { withSessions } from './session-store.ts'

/** The grants of a user. */
export interface UserGrants {
  /** Of one project, or of all. */
  list(project?: string): Promise<readonly GrantRecord[]>
  /** Replaces grants with the same key and folder. */
  add(grants: readonly GrantRecord[]): Promise<void>
  remove(grants: readonly GrantRecord[]): Promise<void>
}

interface SessionStore {
  readonly folder: string
  readonly store: Pick<Store, 'records'>
}

/**
 * In the store of the user's data folder, like trust: sessions may be stored elsewhere, even inside a project, but a project cannot ship
 * its own approvals. `sessions` is used if it is that store. Otherwise the store is opened for each use.
 */
export function userGrants({ env }: Pick<Host, 'env'>, sessions?: SessionStore): UserGrants {
  const folder = dataFolder({ flag: undefined, env, home: homedir() })
  const shared = sessions?.folder === folder ? sessions.store : undefined
  const write = async (use: (records: Records) => Promise<void>): Promise<void> => {
    const change = async ({ records }: Pick<Store, 'records'>): Promise<void> => {
      await takeOverGrants(records, folder)
      await use(records)
    }
    await (shared ? change(shared) : withNewStore(folder, change))
  }
  return {
    async list(project) {
      const inFile = readGrantsFile(folder)
      const isWritable = whyUnwritable(folder) === undefined
      if (inFile && isWritable) await write(async () => undefined)
      const read = ({ records }: Pick<Store, 'records'>): Promise<readonly GrantRecord[]> => readGrants(records, project)
      const stored = await (shared ? read(shared) : withSessions<readonly GrantRecord[]>(folder, [], read))
      if (!inFile || isWritable) return stored
      return [...stored, ...inFile.filter((grant) => project === undefined || grant.project === project)]
    },
    add: (grants) => write((records) => storeGrants(records, grants, { replace: true })),
    remove: (grants) => write((records) => removeGrants(records, grants)),
  }
}

/** Creates the store if there is none. */
async function withNewStore(folder: string, use: (store: Store) => Promise<void>): Promise<void> {
  const { openStore } = await import('../../stores/index.ts')
  const store = await openStore(`sqlite:${folder}`)
  try {
    await use(store)
  } finally {
    await store.close()
  }
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
