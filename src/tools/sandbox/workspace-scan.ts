// Finds repositories and files with provider keys anywhere below a folder.
//
// 1. Near folders come first, folders with installed packages last. The scan ends after `mostFolders`, and says so.
// 2. Links are not followed, and `.git` is not entered.
// 3. A folder is read again only where its identity or its change time differs. The kernel sets that time; commands cannot.
// 4. A key file that was found once is found again while it exists, however many folders come before it.
// 5. A folder that cannot be searched may hold anything: it is listed.
import { lstatSync, opendirSync } from 'node:fs'
import { join } from 'node:path'
import { secretNames } from '../../policy/protected-paths.ts'
import { identityOf, isDenied, isLocked, kindOf } from './file-identity.ts'

export interface ScanResult {
  /** Every `.git`, and every bare repository; the nearest first. */
  readonly repositories: readonly string[]
  readonly secrets: readonly string[]
  readonly locked: readonly string[]
  readonly isComplete: boolean
}

const mostFolders = 2_000
const mostEntries = 5_000
/** The kernel's times are that coarse: a folder that changed just now may change again without a new time. */
const settledNs = 100_000_000n
/** Nothing can be mounted at a longer path. */
const longestPath = 4_000

const packageFolders = new Set(['node_modules', '.venv', 'venv', 'target', 'vendor', '.cache', 'objects', 'refs'])

interface ScannedFolder {
  /** Identity and change time; absent where the folder has to be read again. */
  readonly stamp: string | undefined
  readonly isComplete: boolean
  readonly folders: readonly string[]
  readonly repositories: readonly string[]
  readonly secrets: readonly string[]
  readonly isLocked?: boolean
}

const unreadable: ScannedFolder = { stamp: undefined, isComplete: false, folders: [], repositories: [], secrets: [] }
const locked: ScannedFolder = { ...unreadable, isComplete: true, isLocked: true }

export class WorkspaceScan {
  readonly #root: string
  #known = new Map<string, ScannedFolder>()
  #secrets: readonly string[] = []

  constructor(root: string) {
    this.#root = root
  }

  scan(): ScanResult {
    const scanned = new Map<string, ScannedFolder>()
    const queue = [this.#root]
    const later: string[] = []
    let path = queue.shift()
    while (path !== undefined && scanned.size < mostFolders) {
      const folder = this.#folder(path)
      if (folder) scanned.set(path, folder)
      for (const name of folder?.folders ?? []) (packageFolders.has(name) ? later : queue).push(join(path, name))
      path = queue.shift() ?? later.shift()
    }
    this.#known = scanned
    const all = [...scanned.values()]
    this.#secrets = [...new Set([...this.#secrets.filter(mayExist), ...all.flatMap((folder) => folder.secrets)])]
    return {
      repositories: all.flatMap(({ repositories }) => repositories),
      secrets: this.#secrets,
      locked: [...scanned].flatMap(([folder, found]) => (found.isLocked ? [folder] : [])),
      isComplete: path === undefined && all.every((folder) => folder.isComplete),
    }
  }

  /** Nothing where the folder is gone. */
  #folder(path: string): ScannedFolder | undefined {
    try {
      const stat = lstatSync(path, { bigint: true })
      const stamp = `${identityOf(stat)}:${stat.ctimeNs}`
      const known = this.#known.get(path)
      if (known?.stamp === stamp) return known
      if (isLocked(path)) return locked
      const isSettled = BigInt(Date.now()) * 1_000_000n - stat.ctimeNs > settledNs
      return readFolder(path, isSettled ? stamp : undefined)
    } catch (error) {
      const { code = '' } = error as NodeJS.ErrnoException
      // A name that is not UTF-8 is not found by what Node makes of it.
      return ['ENOENT', 'ENOTDIR'].includes(code) && !path.includes('\ufffd') ? undefined : unreadable
    }
  }
}

function readFolder(path: string, stamp: string | undefined): ScannedFolder {
  const { names, folders, isComplete } = entriesOf(path)
  const isShort = Buffer.byteLength(path) < longestPath
  const isBare = names.has('HEAD') && names.has('objects') && names.has('refs')
  return {
    stamp,
    isComplete: isComplete && isShort,
    folders,
    // Asked for by name: a folder may have more entries than are read.
    repositories: [...(exists(join(path, '.git')) ? [join(path, '.git')] : []), ...(isBare ? [path] : [])],
    secrets: isShort ? secretNames.map((name) => join(path, name)).filter(exists) : [],
  }
}

function entriesOf(path: string): Pick<ScannedFolder, 'folders' | 'isComplete'> & { readonly names: ReadonlySet<string> } {
  const names = new Set<string>()
  const folders: string[] = []
  const folder = opendirSync(path, { bufferSize: 256 })
  try {
    for (let entry = folder.readSync(); entry && names.size < mostEntries; entry = folder.readSync()) {
      names.add(entry.name)
      if (entry.isDirectory() && entry.name !== '.git') folders.push(entry.name)
    }
  } finally {
    folder.closeSync()
  }
  return { names, folders, isComplete: names.size < mostEntries }
}

const exists = (path: string): boolean => kindOf(path) !== 'absent'

function mayExist(path: string): boolean {
  try {
    return lstatSync(path, { throwIfNoEntry: false }) !== undefined
  } catch (error) {
    return isDenied(error)
  }
}
