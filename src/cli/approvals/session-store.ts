import { existsSync } from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { type Store, TroupeError } from '../../contracts/index.ts'
import { storePathOf } from '../../project/index.ts'
import { dataFolder, whyNoFolder, whyUnwritable } from '../host/data-folder.ts'
import type { Host } from '../host/process-host.ts'
import { type ConfigOptions, loadSetup, setupWithoutConfig } from '../team/load-config.ts'

/** The data folder for the current folder. An invalid configuration is ignored. */
export async function sessionFolder({ dataDir, ...display }: RunPlace, host: Host): Promise<string> {
  return dataFolder({ flag: dataDir ?? (await configuredFolder(host, display)), env: host.env, home: homedir() })
}

interface RunPlace extends Pick<ConfigOptions, 'configFile' | 'file'> {
  readonly dataDir?: string | undefined
}

async function configuredFolder(host: Host, { configFile, file }: Pick<ConfigOptions, 'configFile' | 'file'>): Promise<string | undefined> {
  const display = { ...(configFile !== undefined && { configFile }), ...(file !== undefined && { file }) }
  const { config, environment } = await loadSetup(host, display).catch(() => setupWithoutConfig(host))
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
