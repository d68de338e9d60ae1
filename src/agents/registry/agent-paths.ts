import { globSync, readdirSync, readFileSync, realpathSync, statSync } from 'node:fs'
import { isAbsolute, join, relative } from 'node:path'
import { messageOf } from '../../util/message-of.ts'
import { largestAgentFile } from '../decode-text.ts'

/** Bounds of a search through folders: a project may stand beside anything. */
const mostDepth = 6
const mostFound = 10_000
const skipped = new Set(['node_modules', '.git'])

/** A file's content, or why there is none, in words. */
export type Content =
  | { readonly ok: true; readonly bytes: Uint8Array }
  | { readonly ok: false; readonly why: string; readonly isMissing: boolean }

export function readContent(path: string): Content {
  try {
    const found = statSync(path)
    // A device or a pipe may never end.
    if (found.isDirectory()) return refused('it is a folder')
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
  const inside = relative(from, path)
  return inside === '' || inside.startsWith('..') || isAbsolute(inside) ? path : inside
}

export interface FoundPaths {
  readonly paths: readonly string[]
  /** Whether every one was named, so that one which is no agent is a problem. */
  readonly isNamed: boolean
}

/** The files that an entry of the configuration leads to: a file, everything below a folder, or a glob. */
export function findAgentPaths(written: string): FoundPaths {
  if (/[*?[\]{}]/.test(written)) {
    const found = globSync(written, { exclude: (name) => skipped.has(name.split(/[/\\]/).at(-1) ?? '') })
    return { paths: found.toSorted().slice(0, mostFound), isNamed: false }
  }
  const found = statSync(written, { throwIfNoEntry: false })
  return found?.isDirectory() ? { paths: below(written, 0), isNamed: false } : { paths: [written], isNamed: true }
}

function below(folder: string, depth: number): readonly string[] {
  const entries = readdirSync(folder, { withFileTypes: true }).toSorted((a, b) => (a.name < b.name ? -1 : 1))
  const found: string[] = []
  for (const entry of entries) {
    if (found.length >= mostFound) break
    const path = join(folder, entry.name)
    if (entry.isDirectory()) {
      if (depth < mostDepth && !skipped.has(entry.name)) found.push(...below(path, depth + 1))
    } else if (mayBeAgent(entry.name)) found.push(path)
  }
  return found.slice(0, mostFound)
}

export const isOwnFile = (path: string): boolean => /\.ai$/i.test(path)
const mayBeAgent = (name: string): boolean => /\.(?:ai|md|toml)$/i.test(name)

/** Agent files beside a path that is not there, for whoever misspelt it. */
export function neighbours(folder: string): readonly string[] {
  try {
    return readdirSync(folder).filter(mayBeAgent).toSorted()
  } catch {
    return []
  }
}
