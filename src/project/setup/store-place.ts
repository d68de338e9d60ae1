import { TroupeError } from '../../contracts/index.ts'
import { withoutCredentials } from '../../util/without-credentials.ts'
import { type DatabaseAddress, databaseOf, storePathOf } from '../config/section-values.ts'
import { storeVariable } from '../config/variables/option-variables.ts'
import type { VariableSources } from '../config/variables/resolve-placeholders.ts'
import { dataFolder } from './data-folder.ts'

/** Where sessions are stored. */
export interface StorePlace {
  /** The data folder. What belongs to this machine is always there: tokens of MCP servers, and grants of the user. */
  readonly folder: string
  /** It has the sessions in place of the database in the folder. */
  readonly database?: DatabaseAddress
}

interface StoreSources extends VariableSources {
  /** `--data-dir`. */
  readonly dataDir?: string | undefined
  readonly cwd: string
}

/** The place that `--data-dir` names, else `TROUPE_STORE`, else the configuration; else the user's state folder. */
export function storePlaceOf({ dataDir, cwd, ...sources }: StoreSources): StorePlace {
  const { environment: env } = sources
  const inFolder = (flag: string | undefined): StorePlace => ({ folder: dataFolder({ flag, cwd, env }) })
  if (dataDir !== undefined) return inFolder(dataDir)
  const named = env[storeVariable]
  if (!named) {
    const database = databaseOf(sources)
    return { ...inFolder(storePathOf(sources)), ...(database && { database }) }
  }
  const [, folder] = /^sqlite:(.+)$/s.exec(named) ?? []
  if (folder !== undefined) return inFolder(folder)
  if (isDatabaseUrl(named)) return { ...inFolder(storePathOf(sources)), database: { url: named } }
  throw new TroupeError('config_invalid', 'The store that --store or TROUPE_STORE names is unknown.', {
    remedy: 'Use sqlite:DIR or postgres://USER@HOST/DATABASE.',
  })
}

/** Of a store that other machines can use. */
export const isDatabaseUrl = (url: string): boolean => /^postgres(?:ql)?:/i.test(url)

/** For people: a folder, or an address without its user and password. */
export const storeName = ({ folder, database }: StorePlace): string => (database ? withoutCredentials(database.url) : folder)
