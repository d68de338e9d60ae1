import { existsSync } from 'node:fs'
import { type FileHandle, open, readlink, realpath, stat } from 'node:fs/promises'
import { join } from 'node:path'

/** Something that is open, and the path under which it was opened. */
export interface Opened {
  readonly handle: FileHandle
  readonly path: string
}

/** What differs between systems: whether a descriptor knows where it is, and whether it can stand for its folder. */
export interface HostFiles {
  open(path: string, flags: number, mode?: number): Promise<FileHandle>
  /** Where the open thing really is now; nothing where that cannot be told. */
  realPath(opened: Opened): Promise<string | undefined>
  /** How an entry of an open folder is named in a system call. */
  entry(folder: Opened, name: string): string
}

/** A descriptor is asked for its path, and entries are named below it: a folder that is swapped meanwhile is never looked up again. */
export const descriptorFiles: HostFiles = {
  open,
  realPath: ({ handle }) => readlink(`/proc/self/fd/${handle.fd}`),
  entry: ({ handle }, name) => `/proc/self/fd/${handle.fd}/${name}`,
}

/**
 * Without `/proc`, as on macOS: what the path leads to is compared with what is open. Reads are as safe; between the
 * last comparison and the rename of a write, a folder may still be swapped by another process.
 */
export const comparingFiles: HostFiles = {
  open,
  async realPath({ handle, path }) {
    try {
      const real = await realpath(path)
      const [there, here] = await Promise.all([stat(real, { bigint: true }), handle.stat({ bigint: true })])
      return there.ino === here.ino && there.dev === here.dev ? real : undefined
    } catch {
      return undefined
    }
  },
  entry: ({ path }, name) => join(path, name),
}

export const hostFiles = (): HostFiles => (existsSync('/proc/self/fd') ? descriptorFiles : comparingFiles)
