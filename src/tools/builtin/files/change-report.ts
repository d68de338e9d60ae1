import type { ApprovalKey, ApprovalWish, ItemView, Json, JsonObject, ToolOutput } from '../../../contracts/index.ts'
import { joinNames } from '../../../util/join-names.ts'
import { parentOf, protectedPrefix, type Snapshot, snapshotOf, type Workspace, type WorkspacePath } from '../../workspace/index.ts'
import { countOf } from './tool-output.ts'
import { unifiedDiff } from './unified-diff.ts'

type ChangeKind = 'add' | 'update' | 'delete' | 'move'

export interface PlannedChange {
  readonly path: string
  readonly kind: ChangeKind
  readonly to?: string
}

/** A change that was made. Texts are absent for missing files and files too large to compare. */
export interface FileChange extends PlannedChange {
  readonly before: string | undefined
  readonly after: string | undefined
  readonly note?: string
}

const largestDiff = 64 * 1024
/** Share of the output limit: a value beyond the limit is not stored at all. */
const diffShare = 0.85
const frameLetters = 300

/** Keys are the paths as written: changes follow no links. */
export function changeApproval(workspace: Workspace, verb: string, paths: readonly string[]): ApprovalWish | undefined {
  const places: WorkspacePath[] = []
  for (const path of paths) {
    const located = workspace.locate(path)
    // Execution refuses the whole call, so it needs no approval.
    if (located.kind === 'refused') return undefined
    if (!places.some(({ absolute }) => absolute === located.place.absolute)) places.push(located.place)
  }
  const names = places.map(({ relative }) => relative)
  const keys = places.flatMap((place) => keysOf(workspace, place))
  const wider = places.some((place) => workspace.isProtected(place)) ? [] : widerKeys(workspace, places)
  return { summary: `${verb} ${joinNames(names)}`, keys, ...(wider.length > 0 && { wider }) }
}

/**
 * A protected file needs a second key, which neither a grant for a folder or tool nor a rule for paths or for the
 * tool covers: it takes a rule like `write_file(protected /srv/app/.env)`. Rules that deny the path still apply.
 */
function keysOf(workspace: Workspace, place: WorkspacePath): readonly ApprovalKey[] {
  const { absolute, relative } = place
  const use = workspace.namesOf(place)
  const aliases = workspace.aliasesOf(place)
  const path = { key: `path:${absolute}`, label: relative, use, ...(aliases.length > 0 && { aliases }) }
  if (!workspace.isProtected(place)) return [path]
  const named = use.map((name) => `${protectedPrefix}${name}`)
  return [path, { key: `path:${protectedPrefix}${absolute}`, label: `the protected file ${relative}`, use: named, mustBeNamed: true }]
}

function widerKeys({ root }: Workspace, places: readonly WorkspacePath[]): readonly ApprovalKey[] {
  const [first] = places
  if (first === undefined) return []
  const wider: ApprovalKey[] = []
  for (let folder = parentOf(first); ; folder = parentOf(folder)) {
    const prefix = folder.absolute.endsWith('/') ? folder.absolute : `${folder.absolute}/`
    if (places.every(({ absolute }) => absolute.startsWith(prefix))) {
      const label = folder.absolute === root ? 'any file in the workspace' : `any file in ${folder.relative}/`
      wider.push({ key: `path:${prefix}`, label, isPrefix: true })
    }
    if (folder.absolute === root || folder.relative === '.') return wider
  }
}

export const changeView = (changes: readonly PlannedChange[]): ItemView => ({
  type: 'file_change',
  details: { changes: changes.map(({ path, kind, to }) => ({ path, kind, ...(to !== undefined && { to }) })) },
})

export async function reportChanges(changes: readonly FileChange[], maxOutputBytes: number): Promise<ToolOutput> {
  let room = Math.min(largestDiff, Math.floor(maxOutputBytes * diffShare) - frameLetters)
  const rows: string[] = []
  const values: JsonObject[] = []
  for (const [index, change] of changes.entries()) {
    const { path, kind, to, note } = change
    const { diff, added, removed } = await unifiedDiff(change, Math.max(0, Math.floor(room / (changes.length - index))))
    rows.push(
      `${said[kind]} ${path}${to === undefined ? '' : ` to ${to}`}${note === undefined ? lineCounts(added, removed) : ` (${note})`}`,
    )
    const value = { path, kind, ...(to !== undefined && { to }), diff: note === undefined ? diff : `${note}\n`, added, removed }
    values.push(value)
    room -= JSON.stringify(value).length
  }
  return { ok: true, content: rows.join('\n'), value: { changes: values } }
}

const said: { readonly [Kind in ChangeKind]: string } = { add: 'Added', update: 'Updated', delete: 'Deleted', move: 'Moved' }

function lineCounts(added: number, removed: number): string {
  if (added === 0 && removed === 0) return ''
  return `: ${[...(added > 0 ? [`+${added}`] : []), ...(removed > 0 ? [`-${removed}`] : [])].join(' ')}`
}

export const sizeNote = (what: string, bytes: number): string => `no diff: ${what}, ${countOf(bytes, 'byte')}`

/** Calls that read or change one file keep their order. Changes follow no links, so the path identifies the file. */
export function laneKey(workspace: Workspace, path: Json | undefined): string {
  const located = workspace.locate(String(path))
  return located.kind === 'inside' ? `path:${located.place.absolute}` : 'path:'
}

/** Requests are stored with the call, so a longer diff is cut. */
const largestPreview = 16 * 1024

/** The change that a call will make. Undefined if it cannot be computed: the call reports why. */
export async function previewOf(
  { workspace, mostBytes }: { readonly workspace: Workspace; readonly mostBytes: number },
  path: string,
  change: (before: Snapshot, place: WorkspacePath) => Omit<FileChange, 'path'> | undefined,
): Promise<FileChange | undefined> {
  const located = workspace.locate(path)
  if (located.kind === 'refused') return undefined
  const { place } = located
  try {
    const changed = change(await snapshotOf(workspace, place, mostBytes), place)
    return changed && { path: place.relative, ...changed }
  } catch {
    return undefined
  }
}

/** The request does not show the content of a protected file. */
export async function diffOf(workspace: Workspace, change: FileChange): Promise<Pick<ApprovalWish, 'diff'>> {
  const located = workspace.locate(change.path)
  if (located.kind === 'refused' || workspace.isProtected(located.place)) return {}
  if (change.note !== undefined) return { diff: `${change.note}\n` }
  const { diff, added, removed } = await unifiedDiff(change, largestPreview)
  return added + removed > 0 ? { diff } : {}
}
