/*
 * Local sockets and named pipes outside of the workspace. A read-only file system keeps nobody from calling or writing
 * there, so those that can be found are covered.
 *
 * 1. The kernel tells where sockets are, except of those that were bound by a relative name: these are looked for in the
 *    folders of processes.
 * 2. Folders where services usually keep theirs are searched, so many of them, and again every minute, or when there is one
 *    more whose folder is not known.
 */
import { accessSync, constants, type Dirent, lstatSync, readdirSync, readFileSync, readlinkSync, realpathSync } from 'node:fs'
import { join, resolve } from 'node:path'
import type { Clock } from '../../contracts/index.ts'

/** `/run`, `/tmp` and homes are empty inside anyway. */
const serviceFolders = ['/var', '/srv', '/opt', '/usr/local', '/etc', '/mnt', '/data']
const mostFolders = 1_000
const deepest = 4
const mostCovered = 100
const freshMs = 60_000

export interface SpecialFilesOptions {
  readonly clock: Clock
  /** The workspace: what is in there is the command's own. */
  readonly root: string
  /** Where to search. Default: where services usually keep theirs. */
  readonly folders?: readonly string[]
}

export class SpecialFiles {
  readonly #options: SpecialFilesOptions
  #searched: readonly string[] = []
  #at: number | undefined
  /** Names that say nothing about where they are. */
  #nameless = ''

  constructor(options: SpecialFilesOptions) {
    this.#options = options
  }

  /** Only what we could reach ourselves: a command has no more rights than we have. */
  paths(): readonly string[] {
    const { clock, root, folders: services = serviceFolders } = this.#options
    const now = clock.monotonic()
    const { paths, relative } = socketsOfKernel()
    const nameless = relative.join('\n')
    if (this.#at === undefined || now - this.#at > freshMs || nameless !== this.#nameless) {
      this.#searched = searched(services, root)
      this.#at = now
      this.#nameless = nameless
    }
    const folders = relative.length === 0 ? [] : workingFolders()
    const guessed = relative.flatMap((name) => folders.map((folder) => resolve(folder, name)))
    return [...new Set([...paths, ...guessed, ...this.#searched].flatMap(reachable))].slice(0, mostCovered)
  }
}

function socketsOfKernel(): { readonly paths: readonly string[]; readonly relative: readonly string[] } {
  const names = textOf('/proc/net/unix')
    .split('\n')
    .slice(1)
    .map((line) => /^(?:\S+\s+){7}(.+)$/.exec(line)?.[1] ?? '')
    .filter((name) => name !== '' && !name.startsWith('@'))
  const distinct = [...new Set(names)]
  return { paths: distinct.filter((name) => name.startsWith('/')), relative: distinct.filter((name) => !name.startsWith('/')) }
}

function workingFolders(): readonly string[] {
  const processes = names('/proc').filter((name) => /^\d+$/.test(name))
  return [...new Set(processes.flatMap((pid) => linkOf(`/proc/${pid}/cwd`)))]
}

function searched(folders: readonly string[], root: string): readonly string[] {
  const found: string[] = []
  let level = folders
  let left = mostFolders
  for (let depth = 0; depth < deepest && level.length > 0 && left > 0; depth++) {
    const read = level.slice(0, left)
    left -= read.length
    level = read.flatMap((folder) =>
      entries(folder).flatMap((entry) => {
        const path = join(folder, entry.name)
        if (entry.isSocket() || entry.isFIFO()) found.push(path)
        return entry.isDirectory() && path !== root ? [path] : []
      }),
    )
  }
  return found
}

/** As it is: nothing can be bound where a link leads. */
function reachable(path: string): readonly string[] {
  try {
    const stat = lstatSync(path, { throwIfNoEntry: false })
    if (!stat?.isSocket() && !stat?.isFIFO()) return []
    accessSync(path, constants.W_OK)
    return [realpathSync(path)]
  } catch {
    return []
  }
}

function entries(folder: string): readonly Dirent[] {
  try {
    return readdirSync(folder, { withFileTypes: true })
  } catch {
    return []
  }
}

function names(folder: string): readonly string[] {
  return entries(folder).map(({ name }) => name)
}

function linkOf(path: string): readonly string[] {
  try {
    return [readlinkSync(path)]
  } catch {
    return []
  }
}

function textOf(file: string): string {
  try {
    return readFileSync(file, 'utf8')
  } catch {
    return ''
  }
}
