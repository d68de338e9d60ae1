import { relative, sep } from 'node:path'

/** Both absolute and without links; a folder is within itself. */
export function isWithin(folder: string, path: string): boolean {
  const way = relative(folder, path)
  return way !== '..' && !way.startsWith(`..${sep}`)
}
