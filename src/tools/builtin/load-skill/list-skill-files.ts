import { opendir } from 'node:fs/promises'
import { join, relative } from 'node:path'

const mostListed = 50
const mostLooked = 2_000
const mostDepth = 6
const skipped = new Set(['node_modules', '.git'])

export interface ListedFiles {
  /** Relative to the folder, sorted. */
  readonly files: readonly string[]
  readonly isCut: boolean
}

/** The files of a skill without SKILL.md and SKILL.toml. Links are listed, not followed. */
export async function listSkillFiles(folder: string): Promise<ListedFiles> {
  const files: string[] = []
  const waiting = [{ path: folder, depth: 1 }]
  let looked = 0
  let isCut = false
  for (let next = waiting.shift(); next && !isCut; next = waiting.shift()) {
    const { path, depth } = next
    for (const entry of await entriesOf(path, mostLooked - looked)) {
      if (++looked >= mostLooked) isCut = true
      const inner = join(path, entry.name)
      if (!entry.isDirectory) files.push(relative(folder, inner))
      else if (depth >= mostDepth) isCut = true
      else if (!skipped.has(entry.name)) waiting.push({ path: inner, depth: depth + 1 })
    }
  }
  const others = files.filter((file) => file !== 'SKILL.md' && file !== 'SKILL.toml').sort()
  return { files: others.slice(0, mostListed), isCut: isCut || others.length > mostListed }
}

interface Entry {
  readonly name: string
  readonly isDirectory: boolean
}

async function entriesOf(path: string, most: number): Promise<readonly Entry[]> {
  const entries: Entry[] = []
  try {
    for await (const entry of await opendir(path)) {
      if (entries.length >= most) break
      entries.push({ name: entry.name, isDirectory: entry.isDirectory() })
    }
  } catch {
    // Loading a file of this folder reports the error.
  }
  return entries.sort((a, b) => (a.name < b.name ? -1 : 1))
}
