import { suggestion } from '../../util/nearest-names.ts'
import { FileError } from './file-error.ts'
import type { FolderEntry } from './open-folder.ts'
import type { Workspace } from './workspace.ts'
import { nameOf, parentOf, placeBelow, type WorkspacePath } from './workspace-path.ts'

const mostNames = 2_000
/** Entries that are searched for a file of the same name. */
const mostLookedAt = 4_000
const skipped = new Set(['.git', 'node_modules'])

/** Suggests a similar name in the same folder, or the same name elsewhere. */
export async function missing(workspace: Workspace, place: WorkspacePath): Promise<FileError> {
  let [wanted, folder] = [place, parentOf(place)]
  let entries = await entriesIn(workspace, folder)
  while (entries === undefined && folder.relative !== '.') {
    ;[wanted, folder] = [folder, parentOf(folder)]
    entries = await entriesIn(workspace, folder)
  }
  const what =
    wanted === place ? `${place.relative} does not exist.` : `${place.relative} does not exist: the folder ${wanted.relative} is missing.`
  const elsewhere = await sameName(workspace, nameOf(place))
  if (elsewhere.length > 0) return new FileError('invalid_input', what, `Did you mean ${elsewhere.join(', ')}?`)
  const near = suggestion(nameOf(wanted), (entries ?? []).map(({ name }) => name).sort())
  const where = folder.relative === '.' ? 'in the root of the workspace' : `in ${folder.relative}`
  const remedy = near === undefined ? 'list_files shows existing files.' : `${near.slice(0, -1)} (${where})${near.slice(-1)}`
  return new FileError('invalid_input', what, remedy)
}

async function entriesIn(workspace: Workspace, folder: WorkspacePath): Promise<readonly FolderEntry[] | undefined> {
  const open = await workspace.folderAt(folder).catch(() => undefined)
  if (open === undefined) return undefined
  try {
    const entries: FolderEntry[] = []
    for await (const entry of open.entries(mostNames)) if (!workspace.isHidden(placeBelow(folder, entry.name))) entries.push(entry)
    return entries
  } finally {
    await open.close()
  }
}

async function sameName(workspace: Workspace, name: string): Promise<readonly string[]> {
  const found: string[] = []
  const waiting: WorkspacePath[] = [workspace.place('.')]
  let lookedAt = 0
  for (let place = waiting.shift(); place !== undefined && lookedAt < mostLookedAt && found.length < 3; place = waiting.shift()) {
    for (const entry of (await entriesIn(workspace, place)) ?? []) {
      lookedAt++
      const below = placeBelow(place, entry.name)
      if (entry.kind === 'folder' && !skipped.has(entry.name)) waiting.push(below)
      else if (entry.kind === 'file' && entry.name === name) found.push(below.relative)
    }
  }
  return found.sort()
}
