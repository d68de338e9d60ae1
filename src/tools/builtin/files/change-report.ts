import type { ApprovalKey, ApprovalWish, ItemView, Json, JsonObject, ToolOutput } from '../../../contracts/index.ts'
import { parentOf, protectedPrefix, type Workspace, type WorkspacePath } from '../../workspace/index.ts'
import { countOf, joinNames } from './text-helpers.ts'
import { unifiedDiff } from './unified-diff.ts'

export type ChangeKind = 'add' | 'update' | 'delete' | 'move'

/** What a call means to do to a file. */
export interface PlannedChange {
  readonly path: string
  readonly kind: ChangeKind
  readonly to?: string
}

/** What a call has done to a file. A text that is not there was none, or was too large to compare. */
export interface FileChange extends PlannedChange {
  readonly before: string | undefined
  readonly after: string | undefined
  /** Said instead of a diff. */
  readonly note?: string
}

const largestDiff = 64 * 1024
/** Of what an output may take: a value that does not fit is not kept at all. */
const diffShare = 0.85
const frameLetters = 300

/** What is asked about is the letters of the paths alone: a change never goes through a link, so they are the files. */
export function changeApproval(workspace: Workspace, verb: string, paths: readonly string[]): ApprovalWish | undefined {
  const places: WorkspacePath[] = []
  for (const path of paths) {
    const located = workspace.locate(path)
    // Refused when it runs, all of it: there is nothing to ask.
    if (located.kind === 'refused') return undefined
    if (!places.some(({ absolute }) => absolute === located.place.absolute)) places.push(located.place)
  }
  const names = places.map(({ relative }) => relative)
  const keys = places.flatMap((place) => keysOf(workspace, place))
  const wider = places.some((place) => workspace.isProtected(place)) ? [] : widerKeys(workspace, places)
  return { summary: `${verb} ${joinNames(names)}`, keys, ...(wider.length > 0 && { wider }) }
}

/**
 * A protected file needs a second key, which neither a folder or tool that was granted nor a rule for paths or for the
 * tool covers: a rule has to say `write_file(protected /srv/app/.env)`. What is refused by its path stays refused.
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

/** The folders that hold all of them, up to the root. */
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

/** Two changes of one file do not overlap. A change follows no link, so the path is the real one. */
export function laneKey(workspace: Workspace, path: Json | undefined): string {
  const located = workspace.locate(String(path))
  return located.kind === 'inside' ? `path:${located.place.absolute}` : 'path:'
}
