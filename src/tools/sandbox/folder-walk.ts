/*
 * Looks for what needs care anywhere below a folder: repositories, and keys of providers.
 *
 * 1. The nearest folders come first, those with other people's packages last; after so many it ends, and says so.
 * 2. Links are not followed, and what is called `.git` is not entered. What only looks like a repository is: its objects last.
 * 3. A folder is read again only where it is another one, or has changed since: the kernel keeps that time, and nobody can set it.
 * 4. A key that was found once is found again where it is still there, however many folders were made before it.
 */
import { type BigIntStats, type Dirent, lstatSync, opendirSync } from 'node:fs'
import { join } from 'node:path'
import { secretNames } from '../../policy/protected-paths.ts'
import { changeMode, identityIn, inItsFolder } from './in-its-folder.ts'
import { looksBare } from './repository.ts'

export interface Seen {
  /** Every `.git`, and every folder that Git would take for one, the nearest first. */
  readonly repositories: readonly string[]
  readonly secrets: readonly string[]
  readonly isWhole: boolean
}

const mostFolders = 2_000
const mostEntries = 5_000
/** The kernel's times are that coarse: what changed just now may change again without showing it. */
const settledNs = 100_000_000n

interface Folder {
  /** Which one it is, and as of when; none where that may not be relied on. */
  readonly stamp: string | undefined
  /** Everything in it was seen. */
  readonly isWhole: boolean
  readonly below: readonly string[]
  readonly belowLast: readonly string[]
  readonly repositories: readonly string[]
  readonly secrets: readonly string[]
}

const last = new Set(['node_modules', '.venv', 'venv', 'target', 'vendor', '.cache'])
/** Of a repository. */
const lastOfBare = new Set([...last, 'objects', 'refs', 'hooks', 'logs'])
/** Nothing can be covered or bound at the end of a longer path. */
const longest = 4_000

export class FolderWalk {
  readonly #root: string
  #known = new Map<string, Folder>()
  #secrets: readonly string[] = []

  constructor(root: string) {
    this.#root = root
  }

  /** `isAfter`: a command may have locked folders against us, which are opened again. */
  look({ isAfter }: { readonly isAfter: boolean }): Seen {
    const seen = new Map<string, Folder>()
    const queue = [this.#root]
    const later: string[] = []
    while (queue.length > 0 && seen.size < mostFolders) {
      const path = queue.shift() ?? this.#root
      const folder = this.#folder(path, isAfter)
      if (folder) seen.set(path, folder)
      for (const name of folder?.below ?? []) queue.push(join(path, name))
      for (const name of folder?.belowLast ?? []) later.push(join(path, name))
      if (queue.length === 0) queue.push(...later.splice(0))
    }
    this.#known = seen
    const all = [...seen.values()]
    const secrets = new Set([...this.#secrets.filter(isThere), ...all.flatMap((folder) => folder.secrets)])
    this.#secrets = [...secrets]
    return {
      repositories: all.flatMap(({ repositories }) => repositories),
      secrets: this.#secrets,
      isWhole: queue.length === 0 && all.every((folder) => folder.isWhole),
    }
  }

  /** Nothing where it is gone, or was none. */
  #folder(path: string, isAfter: boolean): Folder | undefined {
    try {
      const stat = lstatSync(path, { bigint: true })
      if (isAfter) openAgain(path, stat)
      const stamp = `${identityIn(stat)}:${stat.ctimeNs}`
      const known = this.#known.get(path)
      if (known?.stamp === stamp) return known
      const isSettled = BigInt(Date.now()) * 1_000_000n - stat.ctimeNs > settledNs
      return read(path, isSettled ? stamp : undefined)
    } catch (error) {
      const { code = '' } = error as NodeJS.ErrnoException
      return goneCodes.includes(code) && !path.includes(notUtf8) ? undefined : unseen
    }
  }
}

const goneCodes: readonly string[] = ['ENOENT', 'ENOTDIR']
/** What stands for letters of a name that are none: by such a name nothing is found. */
const notUtf8 = '\ufffd'
const unseen: Folder = { stamp: undefined, isWhole: false, below: [], belowLast: [], repositories: [], secrets: [] }

function openAgain(path: string, { mode, uid }: BigIntStats): void {
  if ((mode & 0o500n) !== 0o500n && Number(uid) === process.getuid?.()) inItsFolder(path, ({ at }) => changeMode(at, (now) => now | 0o700))
}

function read(path: string, stamp: string | undefined): Folder {
  const entries = entriesOf(path)
  const folders = entries.filter((entry) => entry.isDirectory() && entry.name !== '.git').map(({ name }) => name)
  const isBare = looksBare(path)
  const isLast = (name: string): boolean => (isBare ? lastOfBare : last).has(name)
  return {
    stamp,
    isWhole: entries.length < mostEntries && Buffer.byteLength(path) < longest,
    below: folders.filter((name) => !isLast(name)),
    belowLast: folders.filter(isLast),
    // Asked for by name: a folder may have more entries than are read.
    repositories: [...[join(path, '.git')].filter(isThere), ...(isBare ? [path] : [])],
    secrets: Buffer.byteLength(path) < longest ? secretNames.map((name) => join(path, name)).filter(isThere) : [],
  }
}

function isThere(path: string): boolean {
  try {
    return lstatSync(path, { throwIfNoEntry: false }) !== undefined
  } catch {
    return false
  }
}

function entriesOf(path: string): readonly Dirent[] {
  const folder = opendirSync(path, { bufferSize: 256 })
  try {
    const entries: Dirent[] = []
    for (let entry = folder.readSync(); entry && entries.length < mostEntries; entry = folder.readSync()) entries.push(entry)
    return entries
  } finally {
    folder.closeSync()
  }
}
