import type { ApprovalWish } from '../../../contracts/index.ts'
import { type Snapshot, snapshotOf, type Workspace, type WorkspacePath } from '../../workspace/index.ts'
import type { FileChange } from './change-report.ts'
import { unifiedDiff } from './unified-diff.ts'

/** A question is kept with its call: what is longer is cut, and says so. */
const largestPreview = 16 * 1024

interface Previewed {
  readonly path: string
  /** Larger files are not looked into. */
  readonly mostBytes: number
  /** What the file would become; nothing where that cannot be told. */
  change(before: Snapshot, place: WorkspacePath): Omit<FileChange, 'path'> | undefined
}

/** A file that a call is about to change, as it is now. Nothing where nobody can tell: the call will say why. */
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

/** What is in a protected file is not put into the question about it. */
export async function diffOf(workspace: Workspace, change: FileChange): Promise<Pick<ApprovalWish, 'diff'>> {
  const located = workspace.locate(change.path)
  if (located.kind === 'refused' || workspace.isProtected(located.place)) return {}
  if (change.note !== undefined) return { diff: `${change.note}\n` }
  const { diff, added, removed } = await unifiedDiff(change, largestPreview)
  return added + removed > 0 ? { diff } : {}
}
