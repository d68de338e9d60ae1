import { createHash } from 'node:crypto'
import { readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { contentHash } from '../../project/index.ts'
import { extensionError } from '../shared/extension-failure.ts'
import type { FoundExtension } from '../shared/kernel-types.ts'

const maxFiles = 2_000
const maxBytes = 32 * 1024 ** 2

interface HashedFile {
  /** Absolute. */
  readonly path: string
  readonly sha256: string
}

interface HashedFolder {
  readonly hash: string
  readonly files: readonly HashedFile[]
}

/** Hashes the names and contents of all files, without packages and hidden files. Throws if there are links, or too much. */
export function hashFolder(folder: string): HashedFolder {
  const files: HashedFile[] = []
  const whole = createHash('sha256')
  let bytes = 0
  const add = (inside: string): void => {
    const path = join(folder, inside)
    bytes += statSync(path).size
    if (bytes > maxBytes) throw new Error(`its files are larger than ${maxBytes / 1024 ** 2} MB together`)
    if (files.length === maxFiles) throw new Error(`it has more than ${maxFiles} files`)
    const sha256 = contentHash(readFileSync(path))
    files.push({ path, sha256 })
    whole.update(`${JSON.stringify(inside)} ${sha256}\n`)
  }
  const walk = (inside: string): void => {
    for (const entry of readdirSync(join(folder, inside), { withFileTypes: true }).sort((a, b) => (a.name < b.name ? -1 : 1))) {
      const name = inside === '' ? entry.name : `${inside}/${entry.name}`
      if (entry.name === 'node_modules' || entry.name.startsWith('.')) continue
      if (entry.isDirectory()) walk(name)
      else if (entry.isFile()) add(name)
      else throw new Error(`\`${name}\` is ${entry.isSymbolicLink() ? 'a link' : 'not a file'}`)
    }
  }
  walk('')
  return { hash: whole.digest('hex'), files }
}

/** Trust and permissions are given to a content. @throws if it is not what was found. */
export function hashUnchanged({ folder, hash }: Pick<FoundExtension, 'folder' | 'hash'>): HashedFolder {
  const now = hashFolder(folder)
  if (now.hash !== hash) throw extensionError(folder, 'its files have changed since they were checked', 'Restart.')
  return now
}
