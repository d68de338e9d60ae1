import type { ApprovalKey, ApprovalWish, ToolContext } from '../../../contracts/index.ts'
import type { Workspace, WorkspacePath } from '../../workspace/index.ts'

/** How files are accessed. An approval for listing does not cover reading. */
interface Look {
  readonly verb: string
  readonly kind: 'read' | 'list'
  readonly tools?: readonly string[]
}

const reading: Look = { verb: 'Read', kind: 'read' }
export const listing: Look = { verb: 'List', kind: 'list' }
/** It shows content, so rules for reading files apply. */
export const searching: Look = { verb: 'Search', kind: 'read', tools: ['read_file'] }

/**
 * Reading needs no approval unless a rule asks. Rules see the target of a path, absolute or relative to the
 * workspace; rules that ask or deny can also name the link.
 */
export async function readApproval(workspace: Workspace, path: string): Promise<ApprovalWish | undefined> {
  const places = await placesAt(workspace, path)
  return places && wishOf(reading, places, keyOf(workspace, reading, places))
}

/** Rules for the entries of a folder apply to listing and searching it. */
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

/** Which entries of a folder rules allow for listing or searching. */
export async function entryFilter(
  workspace: Workspace,
  path: string,
  { look, mayUse }: Pick<ToolContext, 'mayUse'> & { readonly look: Look },
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

/** Whether a failure of a change may show the content of the file: only if rules allow reading without asking. */
export async function mayShowContent(workspace: Workspace, place: WorkspacePath, mayUse: ToolContext['mayUse']): Promise<boolean> {
  return mayUse(keyOf(workspace, searching, { named: place, real: await workspace.realPlace(place) }), 'without asking')
}

interface Places {
  readonly named: WorkspacePath
  /** The target of links. */
  readonly real: WorkspacePath
}

/** Undefined if execution will refuse the path. */
async function placesAt(workspace: Workspace, path: string): Promise<Places | undefined> {
  const located = workspace.locate(path)
  return located.kind === 'refused' ? undefined : { named: located.place, real: await workspace.realPlace(located.place) }
}

const wishOf = ({ verb }: Look, { named }: Places, key: ApprovalKey): ApprovalWish => ({
  summary: `${verb} ${named.relative}`,
  keys: [key],
  asks: false,
})

function keyOf(workspace: Workspace, { kind, tools }: Look, { named, real }: Places): ApprovalKey & { readonly use: readonly string[] } {
  const use = workspace.namesOf(real)
  const others = real.absolute === named.absolute ? [] : [...workspace.namesOf(named), ...workspace.aliasesOf(named)]
  const aliases = [...new Set([...workspace.aliasesOf(real), ...others])]
  return { key: `${kind}:${real.absolute}`, label: real.relative, use, ...(aliases.length > 0 && { aliases }), ...(tools && { tools }) }
}

/** Prefix of the names in a folder; for the root empty or `./`. */
function startBelow(folder: string): string {
  if (folder === '.') return ''
  if (folder === './.') return './'
  return folder.endsWith('/') ? folder : `${folder}/`
}
