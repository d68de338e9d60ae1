import { realpathSync } from 'node:fs'
import { resolve } from 'node:path'
import { readRegularFile } from '../project-context/index.ts'

/** How the files beside an agent are read. */
export interface IncludeFiles {
  /** The only directory that may be read from: absolute, links resolved. */
  readonly baseDir: string
  /** The absolute path with every link resolved. Throws where there is nothing. */
  realPath(path: string): string
  /** Throws where it is no file, larger than `mostBytes`, or not at this path, which has no links. */
  readFile(path: string, mostBytes: number): Uint8Array
}

/** The files below a folder. */
export function folderIncludes(folder: string): IncludeFiles {
  const baseDir = realpathSync(resolve(folder))
  return {
    baseDir,
    realPath: (path) => realpathSync(path),
    readFile(path, mostBytes) {
      const file = readRegularFile(path, { root: baseDir, maxBytes: mostBytes })
      // Whoever asks has judged this very path: a link that stands there by now leads to something else.
      if (file.kind === 'missing' || file.kind === 'outside' || (file.kind === 'read' && file.real !== path))
        throw new Error('it was exchanged while it was looked at')
      if (file.kind !== 'read') throw new Error(file.why)
      if (file.size > mostBytes) throw new Error(`it is larger than ${mostBytes} bytes`)
      return file.bytes
    },
  }
}
