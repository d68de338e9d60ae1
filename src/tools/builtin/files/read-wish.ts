import type { ApprovalWish } from '../../../contracts/index.ts'
import type { Workspace } from '../../workspace/index.ts'

/**
 * Nobody is asked about reading; rules may want to. They see the file that a path leads to, however it is written, by
 * its absolute path; whoever asks or denies may also name it from the root of the workspace, or as the link to it.
 */
export async function readWish(workspace: Workspace, verb: string, path: string): Promise<ApprovalWish | undefined> {
  const located = workspace.locate(path)
  // Refused when it runs.
  if (located.kind === 'refused') return undefined
  const { place } = located
  const real = await workspace.realPlace(place)
  const others = real.absolute === place.absolute ? [] : [place.absolute, ...workspace.aliasesOf(place)]
  const aliases = [...new Set([...workspace.aliasesOf(real), ...others])]
  return { summary: `${verb} ${place.relative}`, keys: [{ key: `read:${real.absolute}`, label: real.relative, aliases }], asks: false }
}
