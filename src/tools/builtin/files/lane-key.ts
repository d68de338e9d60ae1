import type { Json } from '../../../contracts/index.ts'
import type { Workspace } from '../../workspace/index.ts'

/** Two changes of one file do not overlap. A change follows no link, so the path is the real one. */
export function laneKey(workspace: Workspace, path: Json | undefined): string {
  const located = workspace.locate(String(path))
  return located.kind === 'inside' ? `path:${located.place.absolute}` : 'path:'
}
