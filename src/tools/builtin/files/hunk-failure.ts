import { nearestLines, numbered } from './nearest-lines.ts'
import type { AppliedHunks } from './patch/apply-hunks.ts'
import type { Hunk } from './patch/patch-types.ts'
import { fitLine, hiddenContentNote } from './text-helpers.ts'

type Failed = Extract<AppliedHunks, { readonly ok: false }>

const mostShown = 8

interface Patched {
  readonly path: string
  readonly text: string
  readonly isReadable: boolean
}

/** Which hunk does not apply, its expected lines, and the actual lines. */
export function hunkFailure(
  { path, text, isReadable }: Patched,
  { hunks, index, why }: Pick<Failed, 'index' | 'why'> & { readonly hunks: readonly Hunk[] },
): string {
  const hunk = hunks[index]
  const which = `Hunk ${index + 1} of ${hunks.length} for ${path} (line ${hunk?.patchLine ?? 1} of the patch)`
  if (why === 'overlap' || hunk === undefined) return `${which} overlaps an earlier hunk.`
  const old = hunk.lines.filter(({ mark }) => mark !== '+').map((line) => line.text)
  const wanted = old.length > 0 ? old : hunk.anchors
  const sought = wanted.slice(0, mostShown).map((line) => `  ${fitLine(line)}`)
  const looked = `${which} does not apply. It expects:\n${sought.join('\n')}`
  if (!isReadable) return `${looked}\n${hiddenContentNote}`
  const lines = text.split('\n')
  const near = nearestLines(lines, wanted)
  const start = near?.line ?? (hunk.position === undefined ? undefined : hunk.position + 1)
  const there = start === undefined ? [] : numbered(lines, start, Math.min(mostShown, wanted.length + 1))
  const found = there.length === 0 ? 'Nothing similar is in the file.' : `Line ${start} has:\n${there.join('\n')}`
  return `${looked}\n${found}`
}
