import { readlink } from 'node:fs/promises'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { errorCode } from '../../../util/error-code.ts'
import { runBounded } from '../../schema/run-bounded.ts'
import {
  type EntryKind,
  FileError,
  type FolderEntry,
  type OpenFolder,
  placeBelow,
  type Workspace,
  type WorkspacePath,
} from '../../workspace/index.ts'
import { IgnoreRules } from './ignore-rules.ts'
import { throwIfAborted } from './tool-output.ts'

export interface WalkEntry {
  readonly place: WorkspacePath
  readonly kind: EntryKind
  readonly target?: string
}

interface WalkOptions {
  readonly includesIgnored: boolean
  /** Levels below the folder; 1 is its own entries. */
  readonly depth: number
  readonly signal: AbortSignal
  /** False: the entry is omitted, with its content. */
  mayShow(place: WorkspacePath): boolean
}

const mostInFolder = 20_000
const mostEntries = 200_000
const largestIgnoreFile = 256 * 1024
/** Matching with ignore patterns: for one entry where they can be slow, and for all. */
const entryMs = 250
const totalMs = 5_000
/** Other work runs after this. */
const turnMs = 20

interface Pending extends WalkEntry {
  readonly depth: number
  readonly rules: IgnoreRules
}

/**
 * All entries below a folder, sorted by name. Links are listed, not followed. Folders are opened without following links,
 * and closed before their entries are returned.
 */
export class Walk {
  readonly #workspace: Workspace
  readonly #options: WalkOptions
  /**
   * `isCut`: there were more entries than a walk visits. `isTooSlow`: ignore patterns took too long, so some entries that they
   * may name are not left out.
   */
  readonly leftOut = { ignored: 0, forbidden: 0, unreadable: 0, isCut: false, isTooSlow: false }
  #matchingMs = 0
  #turnStart = performance.now()

  constructor(workspace: Workspace, options: WalkOptions) {
    this.#workspace = workspace
    this.#options = options
  }

  async *below(path: string): AsyncGenerator<WalkEntry> {
    const start = await this.#workspace.openFolder(path)
    const { rules, includesIgnored } = await this.#startRules(start.place)
    const pending: Pending[] = []
    const read = async (folder: OpenFolder, above: IgnoreRules, depth: number): Promise<void> => {
      for (const entry of (await this.#read(folder, { above, depth, includesIgnored })).reverse()) pending.push(entry)
    }
    await read(start, rules, 1)
    let count = 0
    for (let entry = pending.pop(); entry !== undefined; entry = pending.pop()) {
      throwIfAborted(this.#options.signal)
      if (++count > mostEntries) {
        this.leftOut.isCut = true
        return
      }
      yield entry
      await this.#letOthersRun()
      if (entry.kind !== 'folder' || entry.depth >= this.#options.depth) continue
      const folder = await this.#open(entry.place)
      if (folder) await read(folder, entry.rules, entry.depth + 1)
    }
  }

  async #open(place: WorkspacePath): Promise<OpenFolder | undefined> {
    try {
      const folder = await this.#workspace.folderAt(place)
      if (folder) return folder
    } catch (error) {
      if (!(error instanceof FileError)) throw error
    }
    this.leftOut.unreadable++
    return undefined
  }

  /** The sorted entries of a folder. Closes it. */
  async #read(
    folder: OpenFolder,
    { above, depth, includesIgnored }: { above: IgnoreRules; depth: number; includesIgnored: boolean },
  ): Promise<Pending[]> {
    const entries: FolderEntry[] = []
    try {
      for await (const entry of folder.entries(mostInFolder + 1)) entries.push(entry)
      if (entries.length > mostInFolder) {
        entries.pop()
        this.leftOut.isCut = true
      }
      const rules = entries.some(({ name }) => name === '.gitignore') ? await this.#rulesOf(folder, above) : above
      entries.sort((one, other) => (one.name < other.name ? -1 : 1))
      const places = entries.map(({ name, kind }) => ({ name, kind, place: placeBelow(folder.place, name) }))
      const shown = places.filter(({ place }) => !this.#workspace.isHidden(place))
      const ignored = includesIgnored ? new Set() : await this.#ignoredAmong(shown, rules)
      this.leftOut.ignored += ignored.size
      const kept: Pending[] = []
      for (const { name, kind, place } of shown) {
        if (ignored.has(place)) continue
        if (!this.#options.mayShow(place)) this.leftOut.forbidden++
        else if (kind === 'link') kept.push({ place, kind, depth, rules, target: await readlink(folder.entry(name)).catch(() => '?') })
        else kept.push({ place, kind, depth, rules })
      }
      return kept
    } catch (error) {
      if (error instanceof FileError || errorCode(error) === undefined) throw error
      this.leftOut.unreadable++
      return []
    } finally {
      await folder.close()
    }
  }

  async #ignoredAmong(entries: readonly WalkEntry[], rules: IgnoreRules): Promise<ReadonlySet<WorkspacePath>> {
    const ignored = new Set<WorkspacePath>()
    const run = rules.canBeSlow ? (match: () => void) => runBounded(match, entryMs + turnMs) : (match: () => void) => match()
    let index = 0
    const matchForOneTurn = (): void => {
      for (const start = performance.now(); index < entries.length && performance.now() - start < turnMs; index++) {
        const { place, kind } = entries[index] as WalkEntry
        if (rules.ignores(place.relative, kind === 'folder')) ignored.add(place)
      }
    }
    while (index < entries.length && this.#matchingMs < totalMs) {
      const start = performance.now()
      try {
        run(matchForOneTurn)
      } catch {
        // The entry that took too long, or that a pattern cannot be compiled for, is not ignored.
        this.leftOut.isTooSlow = true
        index++
      }
      this.#matchingMs += performance.now() - start
      await this.#letOthersRun()
    }
    if (index < entries.length) this.leftOut.isTooSlow = true
    return ignored
  }

  async #letOthersRun(): Promise<void> {
    if (performance.now() - this.#turnStart < turnMs) return
    await nextTurn()
    this.#turnStart = performance.now()
    throwIfAborted(this.#options.signal)
  }

  /** The rules of the parent folders. Where they ignore the start itself, the call names an ignored folder, so nothing is ignored. */
  async #startRules(start: WorkspacePath): Promise<{ readonly rules: IgnoreRules; readonly includesIgnored: boolean }> {
    let rules = new IgnoreRules()
    let { includesIgnored } = this.#options
    const parts = start.relative === '.' ? [] : start.relative.split('/')
    for (let count = 0; count < parts.length; count++) {
      const folder = await this.#workspace.folderAt(this.#workspace.place(parts.slice(0, count).join('/') || '.'))
      if (folder === undefined) break
      try {
        rules = await this.#rulesOf(folder, rules)
      } finally {
        await folder.close()
      }
      const place = this.#workspace.place(parts.slice(0, count + 1).join('/'))
      includesIgnored ||= (await this.#ignoredAmong([{ place, kind: 'folder' }], rules)).size > 0
    }
    return { rules, includesIgnored }
  }

  /** An ignore file that cannot be read ignores nothing. */
  async #rulesOf(folder: OpenFolder, above: IgnoreRules): Promise<IgnoreRules> {
    try {
      const { handle, stat } = await folder.file(this.#workspace.root, '.gitignore')
      try {
        if (stat.size > largestIgnoreFile) return above
        return await IgnoreRules.parse(await handle.readFile('utf8'), folder.place.relative, above)
      } finally {
        await handle.close()
      }
    } catch {
      return above
    }
  }
}
