import type { ApprovalWish } from '../../../contracts/index.ts'
import { type Snapshot, snapshotOf, type Workspace, type WorkspacePath } from '../../workspace/index.ts'
import type { FileChange } from './change-report.ts'
import { unifiedDiff } from './unified-diff.ts'

/** Requests are stored with the call, so a longer diff is cut. */
const largestPreview = 16 * 1024

interface Previewed {
  readonly path: string
  readonly mostBytes: number
  change(before: Snapshot, place: WorkspacePath): Omit<FileChange, 'path'> | undefined
}

/** The change that a call will make. Undefined if it cannot be computed: the call reports why. */
export async function previewOf(workspace: Workspace, { path, mostBytes, change }: Previewed): Promise<FileChange | undefined> {
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
