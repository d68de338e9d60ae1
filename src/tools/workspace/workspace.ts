import { realpathSync } from 'node:fs'
import { lstat, realpath } from 'node:fs/promises'
import { resolve } from 'node:path'
import { errorCode } from '../../util/error-code.ts'
import { isInside } from '../../util/is-inside.ts'
import { FileError, toFileError } from './file-error.ts'
import { HiddenPaths, hiddenPathFailure, isProtected, type PathRestrictions } from './hidden-paths.ts'
import { type HostFiles, hostFiles } from './host-files.ts'
import { missing } from './missing-file.ts'
import { escaped, type OpenFile, OpenFolder, openFileAt } from './open-folder.ts'
import { type Located, locate, nameOf, parentOf, relativeTo, type WorkspacePath } from './workspace-path.ts'

/** Precedes the path of a protected file in rules and keys. */
export const protectedPrefix = 'protected '

/**
 * The folder that tools may work in.
 *
 * 1. Files are checked after opening, by their real path: `..`, links and swapped folders cannot lead outside.
 * 2. Links are followed for reading if they stay in the workspace, but never for changes: the approved path
 *    is the file that changes.
 * 3. A hard link looks like the file itself: one to a file elsewhere is read, but not written through,
 *    because a change puts a new file in place of the old entry.
 * 4. Nothing stays open between calls.
 * 5. Hidden files are neither read nor written, by any path.
 */
export class Workspace {
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

  /** From the path text alone, without file system access. */
  locate(path: string): Located {
    const located = locate({ real: this.root, given: this.#given }, path)
    return located.kind === 'inside' && this.isHidden(located.place)
      ? { kind: 'refused', failure: hiddenPathFailure(located.place) }
      : located
  }

  isHidden({ absolute }: WorkspacePath): boolean {
    return this.#limits.isHidden(absolute)
  }

  /** A broader permission does not cover changing it. */
  isProtected({ absolute, relative }: WorkspacePath): boolean {
    return isProtected(relative) || this.#limits.isGuarded(absolute)
  }

  /** The names of a path in rules: absolute, or relative to the root. */
  namesOf({ absolute, relative }: WorkspacePath): readonly [string, ...string[]] {
    if (!isInside(this.root, absolute)) return [absolute]
    // This prefix has a meaning in rules.
    const plain = relative.startsWith(protectedPrefix) ? [] : [relative]
    return [absolute, ...plain, `./${relative}`]
  }

  /** More names for rules that ask or deny: with the root as given. */
  aliasesOf({ relative }: WorkspacePath): readonly string[] {
    return this.#given === this.root ? [] : [resolve(this.#given, relative)]
  }

  /** The target of a path for reading; the path itself if it does not exist. */
  async realPlace(place: WorkspacePath): Promise<WorkspacePath> {
    const absolute = await realpath(place.absolute).catch(() => place.absolute)
    return { absolute, relative: isInside(this.root, absolute) ? relativeTo(this.root, absolute) : absolute }
  }

  place(path: string): WorkspacePath {
    const located = this.locate(path)
    if (located.kind === 'inside') return located.place
    throw new FileError(located.failure.class, located.failure.message, located.failure.remedy)
  }

  /** Opens a regular file for reading. The caller closes it. */
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

  /** Opens a file found in a folder, without following links. The caller closes it. */
  async openEntry(place: WorkspacePath): Promise<OpenFile> {
    this.#mustShow(place)
    try {
      return await openFileAt(this.#host, this.root, { place, entry: place.absolute })
    } catch (error) {
      throw toFileError(error, place.relative)
    }
  }

  /** A hint for how to open a path; opening it checks again. */
  async kindOf(path: string): Promise<'folder' | 'file'> {
    const real = await this.#real(this.place(path))
    const stat = await lstat(real.absolute).catch(() => undefined)
    return stat?.isDirectory() ? 'folder' : 'file'
  }

  /** Opens a folder for reading. The caller closes it. */
  async openFolder(path: string): Promise<OpenFolder> {
    const place = this.place(path)
    const real = await this.#real(place)
    try {
      return await OpenFolder.open(this.#host, this.root, real)
    } catch (error) {
      if (errorCode(error) === 'ENOTDIR')
        throw new FileError('invalid_input', `${place.relative} is a file, not a folder.`, 'Use read_file to read it.')
      throw toFileError(error, place.relative)
    }
  }

  /** Opens a folder by a path without links. Undefined if it does not exist. */
  async folderAt(folder: WorkspacePath): Promise<OpenFolder | undefined> {
    this.#mustShow(folder)
    try {
      return await OpenFolder.open(this.#host, this.root, folder)
    } catch (error) {
      if (errorCode(error) === 'ENOENT') return undefined
      throw errorCode(error) === 'ENOTDIR' || errorCode(error) === 'ELOOP'
        ? await this.#notAFolder(folder, error)
        : toFileError(error, folder.relative)
    }
  }

  missing(place: WorkspacePath): Promise<FileError> {
    return missing(this, place)
  }

  /** Follows links; the target is checked again after opening. */
  async #real(place: WorkspacePath): Promise<WorkspacePath> {
    let absolute: string
    try {
      absolute = await realpath(place.absolute)
    } catch (error) {
      throw errorCode(error) === 'ENOENT' ? await this.missing(place) : toFileError(error, place.relative)
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

  async #notAFolder(folder: WorkspacePath, error: unknown): Promise<FileError> {
    const real = await realpath(folder.absolute).catch(() => undefined)
    if (real === undefined || real === folder.absolute) return toFileError(error, folder.relative)
    if (!isInside(this.root, real)) return escaped(folder, this.root)
    const way = relativeTo(this.root, real)
    return new FileError('invalid_input', `${folder.relative} is a symbolic link to ${way}.`, `Use a path that begins with ${way}.`)
  }
}

export interface WorkspaceOptions extends PathRestrictions {
  readonly host?: HostFiles
}

/** The absolute path of a folder; `workspaceKit` has checked it. */
export const openWorkspace = (root: string, options: WorkspaceOptions = {}): Workspace => new Workspace(resolve(root), options)
