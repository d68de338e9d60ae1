import { basename, dirname, resolve } from 'node:path'
import type { ToolFailure } from '../../contracts/index.ts'
import { isInside } from '../../util/is-inside.ts'
import { showValue } from '../../util/show-value.ts'

/** A path of the workspace, not checked against the file system. */
export interface WorkspacePath {
  readonly absolute: string
  /** From the root; `.` is the root itself. */
  readonly relative: string
}

export type Located =
  | { readonly kind: 'inside'; readonly place: WorkspacePath }
  | { readonly kind: 'refused'; readonly failure: ToolFailure }

interface Roots {
  /** Without links. */
  readonly real: string
  /** As given: absolute paths may begin with it, too. */
  readonly given: string
}

const longestPath = 4_096

/** `..` is resolved before links: `a/link/../b` is `a/b`. */
export function locate({ real, given }: Roots, path: string): Located {
  if (path.trim() === '') return invalid('The path is empty.', 'Name a file or folder; "." is the root of the workspace.')
  if (path.includes('\0')) return invalid(`${showValue(path)} contains a zero byte.`, 'Remove it.')
  if (path.length > longestPath)
    return invalid(`The path ${showValue(path)} is too long.`, `At most ${longestPath} characters are allowed.`)
  const wanted = resolve(real, path)
  const absolute = isInside(real, wanted) || !isInside(given, wanted) ? wanted : resolve(real, relativeTo(given, wanted))
  if (!isInside(real, absolute)) return { kind: 'refused', failure: outside(path, real) }
  return { kind: 'inside', place: { absolute, relative: relativeTo(real, absolute) } }
}

export const placeBelow = (place: WorkspacePath, name: string): WorkspacePath => ({
  absolute: place.absolute === '/' ? `/${name}` : `${place.absolute}/${name}`,
  relative: place.relative === '.' ? name : `${place.relative}/${name}`,
})

export const parentOf = ({ absolute, relative }: WorkspacePath): WorkspacePath => ({
  absolute: dirname(absolute),
  relative: dirname(relative),
})

export const nameOf = ({ absolute }: WorkspacePath): string => basename(absolute)

export const relativeTo = (folder: string, path: string): string =>
  path === folder ? '.' : path.slice(folder.endsWith('/') ? folder.length : folder.length + 1)

export const outside = (path: string, root: string): ToolFailure => ({
  class: 'denied',
  message: `${showValue(path, 200)} is outside the workspace ${root}.`,
  remedy: 'Use a path in the workspace. Paths are relative to its root.',
})

const invalid = (message: string, remedy: string): Located => ({
  kind: 'refused',
  failure: { class: 'invalid_input', message, remedy },
})
