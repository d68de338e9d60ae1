// 1. No folder is entered twice: entered folders are known by their real path.
// 2. A folder with a `SKILL.md` is a skill. Folders below it are not searched.
// 3. Folders come before links, so that the path of a skill has no link if possible.
// 4. No link is followed out of a project, or out of a folder that commands can write to. Links in other folders of the
//    user or the machine are followed.
// 5. A skill in a folder that commands can write to belongs to the project.
import { type Dirent, lstatSync, opendirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import type { SkillScope } from '../../contracts/index.ts'
import { isInside } from '../../util/is-inside.ts'
import { messageOf } from '../../util/message-of.ts'
import { realPathOf } from '../project-context/project-files.ts'
import type { SkillProblem } from './skill-problem.ts'
import { type SkillRoot, writableFolderAround } from './skill-roots.ts'

export const skillFile = 'SKILL.md'

export interface SkillBounds {
  /** Levels below a root. */
  readonly depth: number
  /** Folders below a root. */
  readonly folders: number
  /** Files and folders below a root. */
  readonly entries: number
}

const skillBounds: SkillBounds = { depth: 6, folders: 2_000, entries: 20_000 }

export interface SkillFolder {
  readonly path: string
  readonly scope: SkillScope
}

const skipped = new Set(['node_modules', '.git'])

interface Waiting {
  readonly path: string
  readonly depth: number
}

export class SkillSearcher {
  readonly problems: SkillProblem[] = []
  readonly #bounds: SkillBounds
  readonly #entered = new Set<string>()

  constructor(bounds: SkillBounds = skillBounds) {
    this.#bounds = bounds
  }

  /** New skills below a root, sorted by path. */
  below(root: SkillRoot): readonly SkillFolder[] {
    if (this.#leaves(root, root.path, root.real)) return []
    const found = new RootSearch(root, {
      bounds: this.#bounds,
      entered: this.#entered,
      tell: (problem) => this.problems.push(problem),
    }).found()
    return found
      .toSorted((a, b) => (a < b ? -1 : 1))
      .map((path) => ({ path, scope: writableFolderAround(root, path) === undefined ? root.scope : 'repo' }))
  }

  #leaves({ within }: SkillRoot, path: string, real: string): boolean {
    if (within === undefined || isInside(within, real)) return false
    this.problems.push(escapingLink(path, within))
    return true
  }
}

interface SearchContext {
  readonly bounds: SkillBounds
  readonly entered: Set<string>
  tell(problem: SkillProblem): void
}

class RootSearch {
  readonly #root: SkillRoot
  readonly #around: SearchContext
  readonly #found: string[] = []
  readonly #links: Waiting[] = []
  readonly #told = new Set<string>()
  #folders = 0
  #entries = 0

  constructor(root: SkillRoot, around: SearchContext) {
    this.#root = root
    this.#around = around
  }

  found(): readonly string[] {
    const waiting: Waiting[] = [{ path: this.#root.real, depth: 0 }]
    for (;;) {
      const next = waiting.shift() ?? this.#followLink()
      if (next === undefined) return this.#found
      if (next === 'nowhere') continue
      for (const folder of this.#enter(next)) waiting.push(folder)
    }
  }

  /** Returns the folders in it. */
  #enter({ path, depth }: Waiting): readonly Waiting[] {
    const { bounds, entered } = this.#around
    if (entered.has(path)) return []
    entered.add(path)
    if (depth > 0 && ++this.#folders > bounds.folders) return this.#truncated(`${bounds.folders} folders`)
    if (this.#isSkill(path, depth)) return []
    const folders: Waiting[] = []
    for (const entry of this.#entriesOf(path)) {
      const inner = { path: join(path, entry.name), depth: depth + 1 }
      if (skipped.has(entry.name) || !(entry.isDirectory() || entry.isSymbolicLink())) continue
      if (inner.depth > bounds.depth) this.#truncated(`${bounds.depth} levels of folders`)
      else if (entry.isDirectory()) folders.push(inner)
      else this.#links.push(inner)
    }
    return folders
  }

  #isSkill(path: string, depth: number): boolean {
    const file = join(path, skillFile)
    if (!isThere(file)) return false
    if (depth === 0) {
      const remedy = 'Put the skill into its own folder, named after it.'
      this.#around.tell({
        severity: 'error',
        place: file,
        message: `a ${skillFile} needs its own folder`,
        remedy,
        folder: path,
      })
      return false
    }
    this.#found.push(path)
    return true
  }

  #entriesOf(path: string): readonly Dirent[] {
    const entries: Dirent[] = []
    try {
      const folder = opendirSync(path, { bufferSize: 256 })
      try {
        for (let entry = folder.readSync(); entry !== null; entry = folder.readSync()) {
          if (++this.#entries > this.#around.bounds.entries) return this.#truncated(`${this.#around.bounds.entries} files and folders`)
          entries.push(entry)
        }
      } finally {
        folder.closeSync()
      }
    } catch (error) {
      const message = `the folder cannot be searched for skills: ${messageOf(error)}`
      this.#around.tell({ severity: 'warning', place: path, message, remedy: 'Make it readable, or remove it.' })
    }
    return entries.sort((a, b) => (a.name < b.name ? -1 : 1))
  }

  /** `nowhere` if it is not a folder, or must not be followed. */
  #followLink(): Waiting | 'nowhere' | undefined {
    const link = this.#links.shift()
    if (link === undefined) return undefined
    const real = realPathOf(link.path)
    if (real === undefined || this.#around.entered.has(real) || !isFolder(real)) return 'nowhere'
    const within = this.#root.within ?? writableFolderAround(this.#root, link.path)
    if (within === undefined || isInside(within, real)) return { path: real, depth: link.depth }
    this.#around.tell(escapingLink(link.path, within))
    return 'nowhere'
  }

  /** Reports each limit once. */
  #truncated(bound: string): readonly never[] {
    if (this.#told.has(bound)) return []
    this.#told.add(bound)
    const message = `the search for skills stops at ${bound}: some folders were not searched`
    this.#around.tell({ severity: 'warning', place: this.#root.path, message, remedy: 'Keep only skills there.' })
    return []
  }
}

const escapingLink = (path: string, within: string): SkillProblem => ({
  severity: 'warning',
  place: path,
  message: 'the link is ignored: it leads outside the project',
  remedy: `Put a copy of the folder into ${within}, or the link into the skills of your home directory.`,
})

function isThere(path: string): boolean {
  try {
    return lstatSync(path, { throwIfNoEntry: false }) !== undefined
  } catch {
    // Reading the folder reports it.
    return false
  }
}

function isFolder(path: string): boolean {
  try {
    return statSync(path).isDirectory()
  } catch {
    return false
  }
}
