import type { ApprovalKey, ApprovalWish, ToolContext } from '../../../contracts/index.ts'
import type { Workspace, WorkspacePath } from '../../workspace/index.ts'

/** How files are looked at. Listing is a kind of its own: a yes to it is none to reading. */
interface Look {
  readonly verb: string
  readonly kind: 'read' | 'list'
  readonly tools?: readonly string[]
}

const reading: Look = { verb: 'Read', kind: 'read' }
export const listing: Look = { verb: 'List', kind: 'list' }
/** It shows what files hold: what rules ask or deny of reading them holds for it, too. */
export const searching: Look = { verb: 'Search', kind: 'read', tools: ['read_file'] }

/**
 * Nobody is asked about reading; rules may want to. They see the file that a path leads to, however it is written, by
 * its absolute path or from the root of the workspace; whoever asks or denies may also name it as the link to it.
 */
export async function readApproval(workspace: Workspace, path: string): Promise<ApprovalWish | undefined> {
  const places = await placesAt(workspace, path)
  return places && wishOf(reading, places, keyOf(workspace, reading, places))
}

/** A folder is looked at with all that is in it: what rules say of that counts, too. */
export async function folderApproval(workspace: Workspace, path: string, look: Look): Promise<ApprovalWish | undefined> {
  const places = await placesAt(workspace, path)
  if (!places) return undefined
  const key = keyOf(workspace, look, places)
  const isFolder = await workspace.kindOf(path).then(
    (kind) => kind === 'folder',
    () => false,
  )
  return wishOf(look, places, isFolder ? { ...key, within: [...key.use, ...(key.aliases ?? [])].map(startBelow) } : key)
}

/** Whether rules leave what is found in a folder to a call that looks through it; they name it as they name the folder. */
export async function entryFilter(
  workspace: Workspace,
  path: string,
  { look, mayUse }: Looking,
): Promise<(entry: WorkspacePath) => boolean> {
  const folder = workspace.place(path)
  const real = await workspace.realPlace(folder)
  const isLinked = real.absolute !== folder.absolute
  return (entry) => {
    const way = entry.absolute.slice(real.absolute.length)
    const named = isLinked ? { absolute: folder.absolute + way, relative: folder.relative + way } : entry
    return mayUse(keyOf(workspace, look, { named, real: entry }))
  }
}

/** Whether a call that changes a file may tell what stands in it. Nobody is asked: where reading is denied or asked about, it is not told. */
export async function mayShowContent(workspace: Workspace, place: WorkspacePath, mayUse: ToolContext['mayUse']): Promise<boolean> {
  return mayUse(keyOf(workspace, searching, { named: place, real: await workspace.realPlace(place) }), 'without asking')
}

interface Looking extends Pick<ToolContext, 'mayUse'> {
  readonly look: Look
}

interface Places {
  /** By the letters of the path. */
  readonly named: WorkspacePath
  /** What it leads to. */
  readonly real: WorkspacePath
}

/** Nothing where it is refused when it runs. */
async function placesAt(workspace: Workspace, path: string): Promise<Places | undefined> {
  const located = workspace.locate(path)
  return located.kind === 'refused' ? undefined : { named: located.place, real: await workspace.realPlace(located.place) }
}

const wishOf = ({ verb }: Look, { named }: Places, key: ApprovalKey): ApprovalWish => ({
  summary: `${verb} ${named.relative}`,
  keys: [key],
  asks: false,
})

interface FileKey extends ApprovalKey {
  readonly use: readonly string[]
}

function keyOf(workspace: Workspace, { kind, tools }: Look, { named, real }: Places): FileKey {
  const use = workspace.namesOf(real)
  const others = real.absolute === named.absolute ? [] : [...workspace.namesOf(named), ...workspace.aliasesOf(named)]
  const aliases = [...new Set([...workspace.aliasesOf(real), ...others])]
  return { key: `${kind}:${real.absolute}`, label: real.relative, use, ...(aliases.length > 0 && { aliases }), ...(tools && { tools }) }
}

/** How the names of what is in a folder begin; in the root that is nothing, or `./`. */
function startBelow(folder: string): string {
  if (folder === '.') return ''
  if (folder === './.') return './'
  return folder.endsWith('/') ? folder : `${folder}/`
}
