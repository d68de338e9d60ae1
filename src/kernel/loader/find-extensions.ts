import { readdirSync, readFileSync, realpathSync, statSync } from 'node:fs'
import { join, relative } from 'node:path'
import type { ExtensionProblem } from '../../contracts/index.ts'
import { decodeText, type ExtensionConfig, type TrustRecords } from '../../project/index.ts'
import { errorCode } from '../../util/error-code.ts'
import { isInside } from '../../util/is-inside.ts'
import { messageOf } from '../../util/message-of.ts'
import { readManifest } from '../manifest/read-manifest.ts'
import type { FoundExtension } from '../shared/kernel-types.ts'
import { isPermittedExtension, isTrustedExtension, withheldProblem, workPermissions } from './extension-trust.ts'
import { hashFolder } from './hash-folder.ts'

interface ExtensionPlace {
  /** Absolute. It may be missing. */
  readonly folder: string
  readonly source: FoundExtension['source']
}

export interface FindOptions {
  /** Nearest first. */
  readonly places: readonly ExtensionPlace[]
  /** The folder of the project, absolute. */
  readonly workspace: string
  /** For extensions of the project. The others are trusted. */
  readonly trusted: TrustRecords | 'everything'
  /** `extensions` of the configuration, by id. */
  readonly configs?: ReadonlyMap<string, ExtensionConfig>
}

/**
 * All extensions by id. The nearest place wins an id, but one that nobody has trusted takes it from none that is: agents, rules and data
 * are for the other. A broken extension has problems and no manifest. */
export async function findExtensions(options: FindOptions): Promise<readonly FoundExtension[]> {
  const workspace = realpathSync(options.workspace)
  const winners = new Map<string, FoundExtension>()
  for (const { folder: place, source } of options.places)
    for (const { id, folder, isLink } of foldersIn(place)) {
      const nearer = winners.get(id)
      const read = () => readExtension({ id, folder, source, isLink }, { ...options, workspace })
      if (!nearer) winners.set(id, await read())
      else if (nearer.trusted || source === 'project') winners.set(id, withShadowed(nearer, folder))
      else winners.set(id, withRefused(await read(), nearer))
    }
  const all = [...winners.values()].sort((a, b) => (a.id < b.id ? -1 : 1))
  const agents = new Set(all.flatMap(({ id, manifest }) => (manifest?.agent ? [id] : [])))
  return all.map((found) => (found.permitted ? found : withoutPermissions(found, agents, workspace)))
}

/** A variable of its configuration is missing. */
export const isUnreadable = ({ configured }: FoundExtension): boolean => configured !== undefined && configured.values === undefined

/** Real paths: modules are known by them. Packages and hidden folders are not extensions. Links are listed to be refused. */
function foldersIn(place: string): readonly { readonly id: string; readonly folder: string; readonly isLink: boolean }[] {
  try {
    const real = realpathSync(place)
    return readdirSync(real, { withFileTypes: true }).flatMap((entry) => {
      const folder = join(real, entry.name)
      const isLink = entry.isSymbolicLink() && (statSync(folder, { throwIfNoEntry: false })?.isDirectory() ?? false)
      const isWanted = (entry.isDirectory() || isLink) && !/^\.|^node_modules$/.test(entry.name)
      return isWanted ? [{ id: entry.name, folder, isLink }] : []
    })
  } catch {
    return []
  }
}

function withShadowed(found: FoundExtension, shadowed: string): FoundExtension {
  const problem = { place: shadowed, message: `not loaded: ${found.folder} has the same id`, remedy: 'Rename or remove one of them.' }
  return { ...found, problems: [...found.problems, problem] }
}

function withRefused(found: FoundExtension, { id, folder }: FoundExtension): FoundExtension {
  const whose = found.source === 'bundled' ? 'an extension of Troupe' : 'one of your own extensions'
  const message = `not loaded: it is not trusted, and ${whose} has the same id`
  const remedy = `Rename it, or review it and trust it: troupe extensions trust ${id}`
  return { ...found, problems: [...found.problems, { place: folder, message, remedy }] }
}

type Place = Pick<FoundExtension, 'id' | 'folder' | 'source'> & { readonly isLink: boolean }

async function readExtension(
  { id, folder, source, isLink }: Place,
  { workspace, trusted: records, configs }: FindOptions,
): Promise<FoundExtension> {
  const broken = (problem: Omit<ExtensionProblem, 'place'>, hash = ''): FoundExtension => ({
    id,
    folder,
    source,
    hash,
    trusted: false,
    permitted: false,
    problems: [{ place: folder, ...problem }],
  })
  let hash = ''
  try {
    if (isLink) return broken({ message: 'the folder is a link', remedy: 'Copy the folder that it leads to.' })
    hash = hashFolder(folder).hash
    const content = readFileSync(join(folder, 'manifest.yaml'))
    const path = displayPath(join(folder, 'manifest.yaml'), workspace)
    const decoded = decodeText(content, path)
    if (!decoded.ok) return broken(decoded, hash)
    const trusted = source !== 'project' || isTrustedExtension({ folder, hash }, records)
    const permitted = trusted || isPermittedExtension({ folder, hash }, records)
    const { problems, ...configured } = configuredFor({ id, trusted }, configs?.get(id))
    const read = await readManifest(decoded.text, { path, folder, workspace, config: configured.configured?.values })
    const base = { id, folder, source, hash, trusted, permitted, ...configured }
    return read.ok ? { ...base, manifest: read.manifest, problems } : { ...base, problems: [...read.problems, ...problems] }
  } catch (error) {
    if (errorCode(error) === 'ENOENT')
      return broken(
        { message: 'there is no `manifest.yaml`', remedy: 'Add one, or remove the folder. To create an extension: troupe extensions new' },
        hash,
      )
    return broken({ message: `it cannot be read: ${messageOf(error)}`, remedy: 'An extension is a folder of regular files.' }, hash)
  }
}

/** Its values may be secrets, and may allow something. */
function configuredFor(
  { id, trusted }: Pick<FoundExtension, 'id' | 'trusted'>,
  found: ExtensionConfig | undefined,
): Pick<FoundExtension, 'configured' | 'problems'> {
  if (!found) return { problems: [] }
  if (trusted) return { configured: found, problems: found.problems }
  const message = `\`extensions.${id}\` does not apply, because the extension is not trusted`
  return { problems: [{ place: found.place, message, remedy: `Review the extension, then: troupe extensions trust ${id}` }] }
}

/** An extension cannot give permissions to itself. `agents`: the extensions that have one, which `depends_on` lets it ask. */
function withoutPermissions(found: FoundExtension, agents: ReadonlySet<string>, workspace: string): FoundExtension {
  const { folder, manifest, problems } = found
  if (!manifest) return found
  const { permissions, agent, dependsOn, entrypoint, schedules } = manifest
  const asked = [
    ...permissions.hosts.map((host) => `network ${host}`),
    ...permissions.read.map((path) => `read ${path}`),
    ...permissions.write.map((path) => `write ${path}`),
    ...(agent?.usesTools ?? []).map((id) => `tools of ${id}`),
    ...dependsOn.filter((id) => entrypoint && agents.has(id)).map((id) => `agent of ${id}`),
    ...(schedules.length > 0 ? [workPermissions.tasks] : []),
  ]
  if (asked.length === 0) return found
  const withheld = withheldProblem(manifest.id, displayPath(join(folder, 'manifest.yaml'), workspace), asked)
  const none = { permissions: { hosts: [], read: [], write: [] }, schedules: [] }
  return {
    ...found,
    manifest: { ...manifest, ...none, ...(agent && { agent: { ...agent, usesTools: [] } }) },
    problems: [...problems, withheld],
  }
}

/** From the folder of the project, if it is inside. */
export const displayPath = (path: string, workspace: string): string => (isInside(workspace, path) ? relative(workspace, path) : path)
