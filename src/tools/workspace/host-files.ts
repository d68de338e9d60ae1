import { existsSync } from 'node:fs'
import { type FileHandle, open, readlink, realpath, stat } from 'node:fs/promises'
import { join } from 'node:path'

interface Opened {
  readonly handle: FileHandle
  readonly path: string
}

/** Differs between systems: whether a descriptor has a path, and whether entries can be accessed through it. */
export interface HostFiles {
  open(path: string, flags: number, mode?: number): Promise<FileHandle>
  /** The current real path; undefined if unknown. */
  realPath(opened: Opened): Promise<string | undefined>
  /** Path of an entry of an open folder, for system calls. */
  entry(folder: Opened, name: string): string
}

/** Uses the path of the descriptor, and accesses entries through it, so a swapped folder has no effect. */
export const descriptorFiles: HostFiles = {
  open,
  realPath: ({ handle }) => readlink(`/proc/self/fd/${handle.fd}`),
  entry: ({ handle }, name) => `/proc/self/fd/${handle.fd}/${name}`,
}

/**
 * Without `/proc`, as on macOS: compares the target of the path with the open file. Reads are as safe; between the
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
