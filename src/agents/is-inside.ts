import { isAbsolute, relative, sep } from 'node:path'

/** Whether a path is that of a folder or of something below it, by its letters: links are for whoever opens it. */
export function isInside(path: string, folder: string): boolean {
  const way = relative(folder, path)
  return way !== '..' && !way.startsWith(`..${sep}`) && !isAbsolute(way)
}
