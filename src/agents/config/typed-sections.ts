import { join, resolve } from 'node:path'
import { TroupeError } from '../../contracts/index.ts'
import { type Config, settingsOf } from './config.ts'
import type { FileOrigin } from './origin.ts'
import { linkOut } from './over-link.ts'
import { folderOf, isOwnLayer } from './places.ts'
import { type Part, resolveParts, type VariableSources } from './resolve.ts'
import type { SectionName } from './sections.ts'
import { sourcedAt } from './sourced.ts'

/** How much of something may happen at once, and in a minute. */
export interface QueueLimits {
  readonly concurrent?: number
  readonly perMinute?: number
}

/** US dollars for a million tokens. */
export interface ModelPrice {
  readonly input: number
  readonly output: number
  readonly cacheRead?: number
  readonly cacheWrite?: number
}

interface Named<Value> {
  readonly [name: string]: Value
}

export const queuesOf = (config: Config): Named<QueueLimits> => plainSection(config, 'queues') ?? {}
/** By `provider/model`. */
export const pricesOf = (config: Config): Named<ModelPrice> => plainSection(config, 'pricing') ?? {}
/** Models that may be asked under a limit of costs though they have no price. */
export const unpricedOf = (config: Config): readonly string[] => plainSection(config, 'unpriced') ?? []
/** How agents see those that they may call, if the configuration says so. */
export const childrenOfferedOf = (config: Config): 'each' | 'directory' | undefined => plainSection(config, 'childrenOffered')
export const featuresOf = (config: Config): Named<boolean> => plainSection(config, 'features') ?? {}

/** Files, folders and globs of agents as absolute paths, each relative to the file that names it. */
export function agentPathsOf(sources: VariableSources): readonly string[] {
  const tree = settingsOf(sources.config, 'agents')
  if (!tree) return []
  const [paths] = resolveParts([{ path: ['agents'], tree }], sources).values
  return (paths as readonly string[]).map((path) => resolve(folderOf(tree.origin), path))
}

/** Where journals are kept, if the configuration says so. Throws `config_invalid` where a project's word for it leads over a link. */
export function storePathOf(sources: VariableSources): string | undefined {
  const path = ['store', 'path']
  const tree = sourcedAt(settingsOf(sources.config, 'store'), path.slice(1))
  if (!tree) return undefined
  const part: Part = { path, tree }
  const { origin } = tree
  const folder = folderOf(origin)
  const found = resolve(folder, String(resolveParts([part], sources).values[0]))
  const link = isOwnLayer(origin.layer) ? undefined : linkAmong(folder, [found, ...keptFiles.map((name) => join(found, name))])
  if (link !== undefined) throw leavingOver(link, origin)
  return found
}

/** What is written in the folder of journals, by names that anybody may have taken before. */
const keptFiles = ['troupe.db', 'troupe.db-wal', 'troupe.db-shm', 'troupe.db-journal', 'blobs']

function linkAmong(folder: string, paths: readonly string[]): string | undefined {
  for (const path of paths) {
    const link = linkOut(folder, path)
    if (link !== undefined) return link
  }
  return undefined
}

const leavingOver = (link: string, { file, line, column }: FileOrigin): TroupeError =>
  new TroupeError('config_invalid', 'Journals would be written outside of the project, over a link.', {
    problems: [{ place: `${file}:${line}:${column}`, message: `\`store.path\` leads out of the folder by ${link}` }],
    remedy: 'If it is meant, let `store.path` name the folder that the link leads to, and trust that; or take the link away.',
  })

/** A section without placeholders. */
function plainSection<Plain>(config: Config, section: SectionName): Plain | undefined {
  const tree = settingsOf(config, section)
  return tree && (resolveParts([{ path: [section], tree }], { config, environment: {} }).values[0] as Plain)
}
