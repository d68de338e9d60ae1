import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { type Store, TroupeError } from '../../contracts/index.ts'
import { dataFolder, whyNoFolder, whyUnwritable } from './data-folder.ts'
import { withStore } from './open-place.ts'
import type { ProjectPlace } from './project-place.ts'
import { type ConfigOptions, loadSetup, setupWithoutConfig } from './read-setup.ts'
import { type StorePlace, storePlaceOf } from './store-place.ts'

/** Where the sessions of the current folder are stored. An invalid configuration is ignored. */
export async function sessionPlace({ dataDir, ...files }: SessionSources, place: ProjectPlace): Promise<StorePlace> {
  if (dataDir !== undefined) return { folder: dataFolder({ flag: dataDir, cwd: place.cwd, env: place.env }) }
  const { config, environment } = await loadSetup(place, files).catch(() => setupWithoutConfig(place))
  return storePlaceOf({ config, environment, cwd: place.cwd })
}

interface SessionSources extends Pick<ConfigOptions, 'configFile' | 'file'> {
  readonly dataDir?: string | undefined
}

/** Whether something may be stored there. A folder without a database has nothing. */
export const hasStore = ({ folder, database }: StorePlace): boolean => database !== undefined || existsSync(join(folder, 'troupe.db'))

/**
 * Does something with the sessions of a place. In a folder without any, no database is created. A folder that cannot be written can
 * still be read.
 *
 * @throws TroupeError `config_invalid` where there can be none: a file has that name, say.
 */
export async function withSessions<Result>(place: StorePlace, none: Result, use: (store: Store) => Promise<Result>): Promise<Result> {
  if (place.database) return withStore(place, use)
  const { folder } = place
  const why = whyNoFolder(folder)
  if (why !== undefined)
    throw new TroupeError('config_invalid', 'The data folder cannot be used.', {
      problems: [{ place: folder, message: `Sessions cannot be stored there: ${why}.`, remedy: 'Name their folder with --data-dir.' }],
    })
  if (!hasStore(place)) return none
  const { openStore } = await import('../../stores/index.ts')
  const store = await openStore(`sqlite:${folder}`, { access: whyUnwritable(folder) === undefined ? 'write' : 'read' })
  try {
    return await use(store)
  } finally {
    await store.close()
  }
}
