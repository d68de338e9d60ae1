import { realpathSync, statSync } from 'node:fs'
import { lstat, realpath } from 'node:fs/promises'
import { isAbsolute, resolve } from 'node:path'
import { TroupeError } from '../../contracts/index.ts'
import { isInside } from '../../util/is-inside.ts'
import { messageOf } from '../../util/message-of.ts'
import { codeOf, FileError, toFileError } from './file-error.ts'
import { HiddenPaths, hiddenPathFailure, isProtected, type PathRestrictions } from './hidden-paths.ts'
import { type HostFiles, hostFiles } from './host-files.ts'
import { missing } from './missing-file.ts'
import { escaped, type OpenFile, OpenFolder, openFileAt } from './open-folder.ts'
import { type Located, locate, nameOf, parentOf, relativeTo, type WorkspacePath } from './workspace-path.ts'

/** Before the path of a protected file, in rules and keys. */
export const protectedPrefix = 'protected '

/**
 * The folder that tools may work in.
 *
 * 1. What is opened is checked after opening, by its real path: `..`, links and folders that are swapped meanwhile lead nowhere else.
 * 2. Links are followed for reading, as long as they stay in the workspace; for changes never, so that what was
 *    approved by its path is what is changed.
 * 3. A hard link cannot be told from the file itself: one to a file elsewhere is read. It is not written through,
 *    because a change puts a new file in place of the old entry.
 * 4. It holds nothing open between two calls.
 * 5. What is hidden is neither read nor written, by whatever path; nothing in it is told.
 */
export class Workspace {
  /** The real path. */
  readonly root: string
  readonly #given: string
  readonly #host: HostFiles
  readonly #limits: HiddenPaths

  constructor(given: string, { host = hostFiles(), ...limits }: WorkspaceOptions) {
    this.#given = given
    this.#host = host
    this.#limits = new HiddenPaths(limits)
    this.root = realpathSync.native(given)
  }

  /** By the letters of a path alone, without a look at the disk. */
  locate(path: string): Located {
    const located = locate({ real: this.root, given: this.#given }, path)
    return located.kind === 'inside' && this.isHidden(located.place)
      ? { kind: 'refused', failure: hiddenPathFailure(located.place) }
      : located
  }

  isHidden({ absolute }: WorkspacePath): boolean {
    return this.#limits.isHidden(absolute)
  }

  /** Changing it is never part of a broader permission. */
  isProtected({ absolute, relative }: WorkspacePath): boolean {
    return isProtected(relative) || this.#limits.isGuarded(absolute)
  }

  /** How rules name a place that is no link: by its absolute path, or from the root on. */
  namesOf({ absolute, relative }: WorkspacePath): readonly [string, ...string[]] {
    if (!isInside(this.root, absolute)) return [absolute]
    // What begins like this stands for something else in rules.
    const plain = relative.startsWith(protectedPrefix) ? [] : [relative]
    return [absolute, ...plain, `./${relative}`]
  }

  /** How else rules that ask or deny may name it: with the root as it was given. */
  aliasesOf({ relative }: WorkspacePath): readonly string[] {
    return this.#given === this.root ? [] : [resolve(this.#given, relative)]
  }

  /** What a path leads to for somebody who reads; by its letters where nothing is there. */
  async realPlace(place: WorkspacePath): Promise<WorkspacePath> {
    const absolute = await realpath(place.absolute).catch(() => place.absolute)
    return { absolute, relative: isInside(this.root, absolute) ? relativeTo(this.root, absolute) : absolute }
  }

  place(path: string): WorkspacePath {
    const located = this.locate(path)
    if (located.kind === 'inside') return located.place
    throw new FileError(located.failure.class, located.failure.message, located.failure.remedy)
  }

  /** Opens a regular file to read it. Whoever asked closes it. */
  async openFile(path: string): Promise<OpenFile> {
    const place = this.place(path)
    const real = await this.#real(place)
    if (real.absolute === this.root)
      throw new FileError('invalid_input', `${place.relative} is a folder.`, 'Name a file; list_files shows its entries.')
    try {
      const folder = await OpenFolder.open(this.#host, this.root, parentOf(real))
      try {
        return await folder.file(this.root, nameOf(real))
      } finally {
        await folder.close()
      }
    } catch (error) {
      throw toFileError(error, place.relative)
    }
  }

  /** Opens a file that was found in a folder, where it was found or not at all. Whoever asked closes it. */
  async openEntry(place: WorkspacePath): Promise<OpenFile> {
    this.#mustShow(place)
    try {
      return await openFileAt(this.#host, this.root, { place, entry: place.absolute })
    } catch (error) {
      throw toFileError(error, place.relative)
    }
  }

  /** What a path leads to, to choose between ways to open it; whoever opens it finds out for sure. */
  async kindOf(path: string): Promise<'folder' | 'file'> {
    const real = await this.#real(this.place(path))
    const stat = await lstat(real.absolute).catch(() => undefined)
    return stat?.isDirectory() ? 'folder' : 'file'
  }

  /** Opens a folder to look into it. Whoever asked closes it. */
  async openFolder(path: string): Promise<OpenFolder> {
    const place = this.place(path)
    const real = await this.#real(place)
    try {
      return await OpenFolder.open(this.#host, this.root, real)
    } catch (error) {
      if (codeOf(error) === 'ENOTDIR')
        throw new FileError('invalid_input', `${place.relative} is a file, not a folder.`, 'Use read_file to read it.')
      throw toFileError(error, place.relative)
    }
  }

  /** A folder where it is by its letters: a path with a link in it is refused. A missing one is told as nothing. */
  async folderAt(folder: WorkspacePath): Promise<OpenFolder | undefined> {
    this.#mustShow(folder)
    try {
      return await OpenFolder.open(this.#host, this.root, folder)
    } catch (error) {
      if (codeOf(error) === 'ENOENT') return undefined
      throw codeOf(error) === 'ENOTDIR' || codeOf(error) === 'ELOOP'
        ? await this.#notAFolder(folder, error)
        : toFileError(error, folder.relative)
    }
  }

  /** What to say of something that is not there. */
  missing(place: WorkspacePath): Promise<FileError> {
    return missing(this, place)
  }

  /** Follows links; where they end is only trusted once it is open. */
  async #real(place: WorkspacePath): Promise<WorkspacePath> {
    let absolute: string
    try {
      absolute = await realpath(place.absolute)
    } catch (error) {
      throw codeOf(error) === 'ENOENT' ? await this.missing(place) : toFileError(error, place.relative)
    }
    if (!isInside(this.root, absolute)) throw escaped(place, this.root)
    const real = { absolute, relative: relativeTo(this.root, absolute) }
    this.#mustShow(real)
    return real
  }

  #mustShow(place: WorkspacePath): void {
    if (!this.isHidden(place)) return
    const { class: kind, message, remedy } = hiddenPathFailure(place)
    throw new FileError(kind, message, remedy)
  }

  /** A folder that cannot be opened without following: a link, or a file. */
  async #notAFolder(folder: WorkspacePath, error: unknown): Promise<FileError> {
    const real = await realpath(folder.absolute).catch(() => undefined)
    if (real === undefined || real === folder.absolute) return toFileError(error, folder.relative)
    if (!isInside(this.root, real)) return escaped(folder, this.root)
    const way = relativeTo(this.root, real)
    return new FileError('invalid_input', `${folder.relative} is a symbolic link to ${way}.`, `Use a path that begins with ${way}.`)
  }
}

export interface WorkspaceOptions extends PathRestrictions {
  /** Default: as this system can. */
  readonly host?: HostFiles
}

/** The base is explicit: nothing here looks at the working directory of the process. */
export function openWorkspace(root: string, options: WorkspaceOptions = {}): Workspace {
  try {
    if (isAbsolute(root) && statSync(root).isDirectory()) return new Workspace(resolve(root), options)
  } catch (cause) {
    throw new TroupeError('config_invalid', `The workspace ${root} cannot be opened: ${messageOf(cause)}`, { remedy, cause })
  }
  throw new TroupeError('config_invalid', `The workspace ${root} is not the absolute path of a folder.`, { remedy })
}

const remedy = 'Name a folder that exists, by its absolute path.'
