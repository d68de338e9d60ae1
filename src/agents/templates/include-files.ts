import { readFileSync, realpathSync, statSync } from 'node:fs'
import { resolve } from 'node:path'

/** How the files beside an agent are read. */
export interface IncludeFiles {
  /** The only directory that may be read from: absolute, links resolved. */
  readonly baseDir: string
  /** The absolute path with every link resolved. Throws where there is nothing. */
  realPath(path: string): string
  /** Throws where it is no file, or larger than `mostBytes`. */
  readFile(path: string, mostBytes: number): Uint8Array
}

/** The files below a folder. */
export function folderIncludes(folder: string): IncludeFiles {
  return {
    baseDir: realpathSync(resolve(folder)),
    realPath: (path) => realpathSync(path),
    readFile(path, mostBytes) {
      const { size, ...kind } = fileFacts(path)
      if (!kind.isFile) throw new Error('it is no file')
      if (size > mostBytes) throw new Error(`it is larger than ${mostBytes} bytes`)
      return readFileSync(path)
    },
  }
}

/** Asked before opening, because opening a pipe would wait for ever. */
function fileFacts(path: string): { readonly isFile: boolean; readonly size: number } {
  const facts = statSync(path)
  return { isFile: facts.isFile(), size: facts.size }
}
