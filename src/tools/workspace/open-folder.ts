import { constants, type Stats } from 'node:fs'
import { type FileHandle, lstat, opendir, unlink } from 'node:fs/promises'
import { errorCode } from '../../util/error-code.ts'
import { isInside } from '../../util/is-inside.ts'
import { FileError, toFileError } from './file-error.ts'
import type { HostFiles } from './host-files.ts'
import { outside, placeBelow, relativeTo, type WorkspacePath } from './workspace-path.ts'

/** O_NONBLOCK: opening a pipe or a device must not wait for anybody. */
const readFlags = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK | constants.O_NOCTTY
const folderFlags = readFlags | constants.O_DIRECTORY

export interface OpenFile {
  readonly handle: FileHandle
  readonly stat: Stats
  /** Where it really is: a link in the workspace may have led there. */
  readonly place: WorkspacePath
}

export interface FolderEntry {
  readonly name: string
  readonly kind: EntryKind
}
export type EntryKind = 'file' | 'folder' | 'link' | 'other'

/**
 * A folder of the workspace that is open.
 *
 * 1. Its real path was inside the root when it was opened.
 * 2. Its entries are accessed through the descriptor where the host can, so swapping a parent folder has no effect.
 * 3. Links are not followed.
 */
export class OpenFolder {
  readonly place: WorkspacePath
  readonly #host: HostFiles
  readonly #handle: FileHandle

  private constructor(host: HostFiles, handle: FileHandle, place: WorkspacePath) {
    this.#host = host
    this.#handle = handle
    this.place = place
  }

  /** The path must not contain links. */
  static async open(host: HostFiles, root: string, place: WorkspacePath): Promise<OpenFolder> {
    const handle = await host.open(place.absolute, folderFlags)
    return await OpenFolder.#checked(host, root, { handle, place })
  }

  static async #checked(
    host: HostFiles,
    root: string,
    { handle, place }: { handle: FileHandle; place: WorkspacePath },
  ): Promise<OpenFolder> {
    try {
      mustBe(place, await host.realPath({ handle, path: place.absolute }), root)
      return new OpenFolder(host, handle, place)
    } catch (error) {
      await handle.close()
      throw error
    }
  }

  /** How an entry is named in system calls that follow no link. */
  entry(name: string): string {
    return this.#host.entry({ handle: this.#handle, path: this.place.absolute }, name)
  }

  async folder(root: string, name: string): Promise<OpenFolder> {
    const handle = await this.#host.open(this.entry(name), folderFlags)
    return await OpenFolder.#checked(this.#host, root, { handle, place: placeBelow(this.place, name) })
  }

  /** Does not follow a link; undefined if the entry does not exist. */
  async stat(name: string): Promise<Stats | undefined> {
    try {
      return await lstat(this.entry(name))
    } catch (error) {
      if (errorCode(error) === 'ENOENT') return undefined
      throw error
    }
  }

  /** Opens a regular file for reading. Checked before, so that no device is opened, and after. */
  async file(root: string, name: string): Promise<OpenFile> {
    const place = placeBelow(this.place, name)
    const before = await lstat(this.entry(name))
    if (!before.isFile()) throw notRegular(place, before)
    return await openFileAt(this.#host, root, { place, entry: this.entry(name) })
  }

  /** Creates a file with a unique name, and checks that it is in this folder. */
  async create(root: string, name: string, mode: number): Promise<FileHandle> {
    const flags = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW
    const handle = await this.#host.open(this.entry(name), flags, mode)
    try {
      const place = placeBelow(this.place, name)
      mustBe(place, await this.#host.realPath({ handle, path: place.absolute }), root)
      return handle
    } catch (error) {
      await handle.close()
      // The name is unique, so this is the empty file that was just created.
      await unlink(this.entry(name)).catch(() => {})
      throw error
    }
  }

  /** At most so many entries, in no order. */
  async *entries(most: number): AsyncGenerator<FolderEntry> {
    let count = 0
    for await (const entry of await opendir(this.entry('.'))) {
      if (++count > most) return
      const kind = entry.isFile() ? 'file' : entry.isDirectory() ? 'folder' : entry.isSymbolicLink() ? 'link' : 'other'
      yield { name: entry.name, kind }
    }
  }

  /** Puts the names of its entries on disk, where the system can do that for folders. */
  async sync(): Promise<void> {
    try {
      await this.#handle.sync()
    } catch (error) {
      if (!['EINVAL', 'EBADF', 'ENOTSUP', 'EACCES', 'EPERM'].includes(errorCode(error) ?? '')) throw error
    }
  }

  close(): Promise<void> {
    return this.#handle.close()
  }
}

/** `entry` is the path for system calls, `place` the expected real path. */
export async function openFileAt(
  host: HostFiles,
  root: string,
  { place, entry }: { readonly place: WorkspacePath; readonly entry: string },
): Promise<OpenFile> {
  const handle = await host.open(entry, readFlags)
  try {
    mustBe(place, await host.realPath({ handle, path: place.absolute }), root)
    const stat = await handle.stat()
    if (!stat.isFile()) throw notRegular(place, stat)
    return { handle, stat, place }
  } catch (error) {
    await handle.close()
    throw error
  }
}

/** The real path of the open file decides. */
function mustBe(place: WorkspacePath, real: string | undefined, root: string): void {
  if (real !== undefined && isSame(real, place.absolute)) return
  if (real !== undefined && !isInside(root, real)) throw escaped(place, root)
  if (real === undefined || real.endsWith(' (deleted)'))
    throw new FileError('failed', `${place.relative} was changed by another process while it was opened.`, 'Try again.')
  throw new FileError(
    'invalid_input',
    `${place.relative} resolves to ${relativeTo(root, real)}: its path contains a symbolic link or another spelling.`,
    `Use the path ${relativeTo(root, real)}.`,
  )
}

/** Some file systems return names in another Unicode normal form. */
const isSame = (one: string, other: string): boolean => one === other || one.normalize('NFC') === other.normalize('NFC')

export const escaped = (place: WorkspacePath, root: string): FileError => {
  const { class: kind, message } = outside(place.relative, root)
  return new FileError(kind, `${message.slice(0, -1)}: its path contains a symbolic link that leads there.`, 'Use a path in the workspace.')
}

function notRegular(place: WorkspacePath, stat: Stats): FileError {
  if (stat.isDirectory())
    return new FileError('invalid_input', `${place.relative} is a folder.`, 'Name a file; list_files shows its entries.')
  if (stat.isSymbolicLink()) return toFileError(Object.assign(new Error('link'), { code: 'ELOOP' }), place.relative)
  const kind = stat.isFIFO() ? 'a named pipe' : stat.isSocket() ? 'a socket' : 'a device'
  return new FileError('invalid_input', `${place.relative} is ${kind}, not a regular file.`, 'Use a regular file.')
}
