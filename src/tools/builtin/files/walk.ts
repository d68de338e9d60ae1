import { readlink } from 'node:fs/promises'
import { setImmediate as nextTurn } from 'node:timers/promises'
import {
  codeOf,
  type EntryKind,
  FileFault,
  type FolderEntry,
  type OpenFolder,
  type Place,
  placeBelow,
  type Workspace,
} from '../../workspace/index.ts'
import { Effort } from './glob.ts'
import { IgnoreRules } from './ignore-rules.ts'
import { heed } from './returned.ts'

export interface WalkEntry {
  readonly place: Place
  readonly kind: EntryKind
  /** Where a link points to. */
  readonly target?: string
}

export interface WalkOptions {
  readonly includesIgnored: boolean
  /** How many levels below the folder; 1 is its own entries. */
  readonly depth: number
  readonly signal: AbortSignal
  /** What it is not true of is left out, with all that is in it. */
  mayShow(place: Place): boolean
}

const mostInFolder = 20_000
const mostEntries = 200_000
const largestIgnoreFile = 256 * 1024
/** Comparisons with patterns, of which a processor does some hundreds in a microsecond: for one entry, for all, and until others have their turn. */
const mostForEntry = 1_000_000
const mostForAll = 1_000_000_000
const mostInOneTurn = 500_000

interface LeftOut {
  readonly ignored: number
  readonly forbidden: number
  readonly unreadable: number
  /** There was more than can be looked at. */
  readonly isCut: boolean
  /** Patterns were too hard: something was not left out that perhaps should have been, or not found. */
  readonly isHard: boolean
}

interface Pending extends WalkEntry {
  readonly depth: number
  readonly rules: IgnoreRules
}

/**
 * All that is below a folder, by name. Links are told, not followed; each folder is opened where it was found or not at
 * all, and no folder stays open while what it holds is used.
 */
export class Walk {
  readonly #workspace: Workspace
  readonly #options: WalkOptions
  #ignored = 0
  #forbidden = 0
  #unreadable = 0
  #isCut = false
  #isEasy = true
  #lastTurn = 0
  /** What is spent on patterns, by whoever looks at the entries, too. */
  readonly effort = new Effort()

  constructor(workspace: Workspace, options: WalkOptions) {
    this.#workspace = workspace
    this.#options = options
  }

  /** What there is to say about the entries that were not given. */
  get leftOut(): LeftOut {
    return { ignored: this.#ignored, forbidden: this.#forbidden, unreadable: this.#unreadable, isCut: this.#isCut, isHard: !this.#isEasy }
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
      heed(this.#options.signal)
      if (++count > mostEntries) {
        this.#isCut = true
        return
      }
      this.#begin()
      yield entry
      await this.#rest()
      if (entry.kind !== 'folder' || entry.depth >= this.#options.depth) continue
      const folder = await this.#open(entry.place)
      if (folder) await read(folder, entry.rules, entry.depth + 1)
    }
  }

  async #open(place: Place): Promise<OpenFolder | undefined> {
    try {
      const folder = await this.#workspace.folderAt(place)
      if (folder) return folder
    } catch (error) {
      if (!(error instanceof FileFault)) throw error
    }
    this.#unreadable++
    return undefined
  }

  /** The entries of a folder in order. Closes it. */
  async #read(
    folder: OpenFolder,
    { above, depth, includesIgnored }: { above: IgnoreRules; depth: number; includesIgnored: boolean },
  ): Promise<Pending[]> {
    const entries: FolderEntry[] = []
    try {
      for await (const entry of folder.entries(mostInFolder + 1)) entries.push(entry)
      if (entries.length > mostInFolder) {
        entries.pop()
        this.#isCut = true
      }
      const rules = entries.some(({ name }) => name === '.gitignore') ? await this.#rulesOf(folder, above) : above
      entries.sort((one, other) => (one.name < other.name ? -1 : 1))
      const kept: Pending[] = []
      for (const { name, kind } of entries) {
        const place = placeBelow(folder.place, name)
        if (this.#workspace.isHidden(place)) continue
        if (!includesIgnored && (await this.#isIgnored(rules, place, kind === 'folder'))) this.#ignored++
        else if (!this.#options.mayShow(place)) this.#forbidden++
        else if (kind === 'link') kept.push({ place, kind, depth, rules, target: await readlink(folder.entry(name)).catch(() => '?') })
        else kept.push({ place, kind, depth, rules })
      }
      return kept
    } catch (error) {
      if (error instanceof FileFault || codeOf(error) === undefined) throw error
      this.#unreadable++
      return []
    } finally {
      await folder.close()
    }
  }

  async #isIgnored(rules: IgnoreRules, { relative }: Place, isFolder: boolean): Promise<boolean> {
    this.#begin()
    const isIgnored = rules.ignores(relative, isFolder, this.effort)
    await this.#rest()
    return isIgnored
  }

  #begin(): void {
    this.effort.allow(Math.min(mostForEntry, Math.max(0, mostForAll - this.effort.done)))
  }

  /** Others have their turn, and an interrupt is noticed, however hard the patterns are. */
  async #rest(): Promise<void> {
    if (this.effort.isSpent) this.#isEasy = false
    if (this.effort.done - this.#lastTurn < mostInOneTurn) return
    this.#lastTurn = this.effort.done
    await nextTurn()
    heed(this.#options.signal)
  }

  /** The rules of the folders above; where those would hide the start itself, it was asked for, so nothing is hidden. */
  async #startRules(start: Place): Promise<{ readonly rules: IgnoreRules; readonly includesIgnored: boolean }> {
    let rules = new IgnoreRules('', '.')
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
      includesIgnored ||= await this.#isIgnored(rules, this.#workspace.place(parts.slice(0, count + 1).join('/')), true)
    }
    return { rules, includesIgnored }
  }

  /** An ignore file that cannot be read ignores nothing. */
  async #rulesOf(folder: OpenFolder, above: IgnoreRules): Promise<IgnoreRules> {
    try {
      const { handle, stat } = await folder.file(this.#workspace.root, '.gitignore')
      try {
        return stat.size > largestIgnoreFile ? above : new IgnoreRules(await handle.readFile('utf8'), folder.place.relative, above)
      } finally {
        await handle.close()
      }
    } catch {
      return above
    }
  }
}
