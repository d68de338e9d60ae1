import { readdirSync, readFileSync, realpathSync, statSync } from 'node:fs'
import { relative } from 'node:path'
import { isInside } from '../../util/is-inside.ts'
import { messageOf } from '../../util/message-of.ts'
import { largestAgentFile } from '../decode-text.ts'

/** A file's content, or why there is none, in words. */
export type Content =
  | { readonly ok: true; readonly bytes: Uint8Array }
  | { readonly ok: false; readonly why: string; readonly isMissing: boolean; readonly isFolder?: true }

export function readContent(path: string): Content {
  try {
    const found = statSync(path)
    // A device or a pipe may never end.
    if (found.isDirectory()) return { ok: false, why: 'it is a folder', isMissing: false, isFolder: true }
    if (!found.isFile()) return refused('it is not a regular file')
    if (found.size > largestAgentFile) return refused(`it has ${found.size} bytes, and ${largestAgentFile} is the most`)
    return { ok: true, bytes: readFileSync(path) }
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code === 'ENOENT' || code === 'ENOTDIR') return { ok: false, why: 'there is no such file', isMissing: true }
    return refused(`it cannot be read (${code ?? messageOf(error)})`)
  }
}

const refused = (why: string): Content => ({ ok: false, why, isMissing: false })

/** One path for each file, whatever way leads there. */
export function realPath(path: string): string {
  try {
    return realpathSync(path)
  } catch {
    return path
  }
}

/** How a path is told to people: from where they stand, if it lies below. */
export function shownPath(path: string, from: string): string {
  return path !== from && isInside(from, path) ? relative(from, path) : path
}

export const isOwnFile = (path: string): boolean => /\.ai$/i.test(path)
export const mayBeAgent = (name: string): boolean => /\.(?:ai|md|toml)$/i.test(name)

/** Agent files beside a path that is not there, for whoever misspelt it. */
export function neighbours(folder: string): readonly string[] {
  try {
    return readdirSync(folder).filter(mayBeAgent).toSorted()
  } catch {
    return []
  }
}
