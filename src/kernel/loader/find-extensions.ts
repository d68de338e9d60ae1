import { readdirSync, readFileSync, realpathSync, statSync } from 'node:fs'
import { join, relative } from 'node:path'
import { decodeText, type TrustRecords } from '../../agents/index.ts'
import type { ExtensionProblem } from '../../contracts/index.ts'
import { isInside } from '../../util/is-inside.ts'
import { messageOf } from '../../util/message-of.ts'
import type { FoundExtension } from '../kernel-types.ts'
import { readManifest } from '../manifest/read-manifest.ts'
import { isTrustedExtension } from './extension-trust.ts'
import { hashFolder } from './hash-folder.ts'

export interface ExtensionPlace {
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
}

/** All extensions by id. The nearest place wins an id. A broken extension has problems and no manifest. */
export async function findExtensions(options: FindOptions): Promise<readonly FoundExtension[]> {
  const winners = new Map<string, FoundExtension>()
  for (const place of options.places)
    for (const id of folderNames(place.folder)) {
      const nearer = winners.get(id)
      const found = nearer ? withShadowed(nearer, join(place.folder, id)) : await readExtension(id, place, options)
      winners.set(id, found)
    }
  return [...winners.values()].sort((a, b) => (a.id < b.id ? -1 : 1))
}

/** Packages and hidden folders are not extensions. Links to folders are listed, so that they can be refused. */
function folderNames(place: string): readonly string[] {
  try {
    const entries = readdirSync(place, { withFileTypes: true })
    return entries.flatMap((entry) => (!/^\.|^node_modules$/.test(entry.name) && isFolder(entry, place) ? [entry.name] : []))
  } catch {
    return []
  }
}

const isFolder = (entry: { name: string; isDirectory(): boolean; isSymbolicLink(): boolean }, place: string): boolean =>
  entry.isDirectory() || (entry.isSymbolicLink() && (statSync(join(place, entry.name), { throwIfNoEntry: false })?.isDirectory() ?? false))

function withShadowed(found: FoundExtension, shadowed: string): FoundExtension {
  const problem = { place: shadowed, message: `not loaded: ${found.folder} has the same id`, remedy: 'Rename or remove one of them.' }
  return { ...found, problems: [...found.problems, problem] }
}

async function readExtension(id: string, { folder: place, source }: ExtensionPlace, options: FindOptions): Promise<FoundExtension> {
  const folder = join(place, id)
  const broken = (problem: Omit<ExtensionProblem, 'place'>, hash = ''): FoundExtension => ({
    id,
    folder,
    source,
    hash,
    trusted: false,
    problems: [{ place: folder, ...problem }],
  })
  let hash = ''
  try {
    if (!isInside(realpathSync(place), realpathSync(folder)))
      return broken({ message: `\`${id}\` is a link to another place`, remedy: `Copy the folder into ${place}.` })
    hash = hashFolder(folder).hash
    const content = readFileSync(join(folder, 'manifest.yaml'))
    const path = displayPath(join(folder, 'manifest.yaml'), options.workspace)
    const decoded = decodeText(content, path)
    if (!decoded.ok) return broken(decoded, hash)
    const read = await readManifest(decoded.text, { path, folder, workspace: options.workspace })
    const trusted = source !== 'project' || isTrustedExtension({ folder, hash }, options.trusted)
    const base = { id, folder, source, hash, trusted }
    return read.ok ? { ...base, manifest: read.manifest, problems: [] } : { ...base, problems: read.problems }
  } catch (error) {
    if ((error as { code?: unknown }).code === 'ENOENT')
      return broken(
        { message: 'there is no `manifest.yaml`', remedy: 'Add one, or remove the folder. To create an extension: troupe extensions new' },
        hash,
      )
    return broken({ message: `it cannot be read: ${messageOf(error)}`, remedy: 'An extension is a folder of regular files.' }, hash)
  }
}

/** From the folder of the project, if it is inside. */
const displayPath = (path: string, workspace: string): string => (isInside(workspace, path) ? relative(workspace, path) : path)
