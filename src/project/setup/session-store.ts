import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { type Store, TroupeError } from '../../contracts/index.ts'
import { storePathOf } from '../config/section-values.ts'
import { dataFolder, whyNoFolder, whyUnwritable } from './data-folder.ts'
import type { ProjectPlace } from './project-place.ts'
import { type ConfigOptions, loadSetup, setupWithoutConfig } from './read-setup.ts'

/** The data folder for the current folder. An invalid configuration is ignored. */
export async function sessionFolder({ dataDir, ...files }: SessionPlace, place: ProjectPlace): Promise<string> {
  return dataFolder({ flag: dataDir ?? (await configuredFolder(place, files)), cwd: place.cwd, env: place.env })
}

interface SessionPlace extends Pick<ConfigOptions, 'configFile' | 'file'> {
  readonly dataDir?: string | undefined
}

async function configuredFolder(place: ProjectPlace, files: Pick<ConfigOptions, 'configFile' | 'file'>): Promise<string | undefined> {
  const { config, environment } = await loadSetup(place, files).catch(() => setupWithoutConfig(place))
  return storePathOf({ config, environment })
}

/**
 * Does something with the sessions that are stored in a folder. Where there are none, no database is created. A folder that
 * cannot be written can still be read.
 *
 * @throws TroupeError `config_invalid` where there can be none: a file has that name, say.
 */
export async function withSessions<Result>(folder: string, none: Result, use: (store: Store) => Promise<Result>): Promise<Result> {
  const why = whyNoFolder(folder)
  if (why !== undefined)
    throw new TroupeError('config_invalid', 'The data folder cannot be used.', {
      problems: [{ place: folder, message: `Sessions cannot be stored there: ${why}.`, remedy: 'Name their folder with --data-dir.' }],
    })
  if (!existsSync(join(folder, 'troupe.db'))) return none
  const { openStore } = await import('../../stores/index.ts')
  const store = await openStore(`sqlite:${folder}`, { access: whyUnwritable(folder) === undefined ? 'write' : 'read' })
  try {
    return await use(store)
  } finally {
    await store.close()
  }
}
