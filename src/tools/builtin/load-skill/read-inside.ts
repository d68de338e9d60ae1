import { isUtf8 } from 'node:buffer'
import { constants } from 'node:fs'
import { type FileHandle, open, realpath, stat } from 'node:fs/promises'
import { basename } from 'node:path'
import { secretNames } from '../../../util/guarded-names.ts'
import { isInside } from '../../../util/is-inside.ts'

/** A text, or why there is none, in words. */
export type InsideText =
  | { readonly kind: 'read'; readonly bytes: Uint8Array; readonly text: string }
  | { readonly kind: 'missing' }
  | { readonly kind: 'outside' }
  | { readonly kind: 'refused'; readonly why: string }

interface Inside {
  /** A real path. Absent where the file may be anywhere. */
  readonly folder: string | undefined
  readonly mostBytes: number
}

/** Reads a text of a folder. Where it is, is looked at after it was opened: a link may have been put there meanwhile. */
export async function readInside(path: string, { folder, mostBytes }: Inside): Promise<InsideText> {
  if (folder !== undefined && (path === folder || !isInside(folder, path))) return { kind: 'outside' }
  let file: FileHandle
  try {
    file = await open(path, constants.O_RDONLY | constants.O_NONBLOCK)
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code === 'ENOENT' || code === 'ENOTDIR') return { kind: 'missing' }
    return { kind: 'refused', why: code === 'ELOOP' ? 'its links lead in a circle' : `it cannot be read (${code})` }
  }
  try {
    const found = await file.stat({ bigint: true })
    if (folder !== undefined && !(await isStillInside(path, folder, found))) return { kind: 'outside' }
    if (await isSecret(path)) return { kind: 'refused', why: 'it holds keys, which no tool reads' }
    if (found.isDirectory()) return { kind: 'refused', why: 'it is a folder' }
    if (!found.isFile()) return { kind: 'refused', why: 'it is not a regular file' }
    if (found.size > mostBytes) return { kind: 'refused', why: `it has ${found.size} bytes, and ${mostBytes} is the most` }
    const bytes = await file.readFile()
    if (bytes.includes(0) || !isUtf8(bytes)) return { kind: 'refused', why: `it is no UTF-8 text (${bytes.length} bytes)` }
    return { kind: 'read', bytes, text: new TextDecoder().decode(bytes) }
  } finally {
    await file.close()
  }
}

type Identity = { readonly dev: bigint; readonly ino: bigint }

async function isStillInside(path: string, folder: string, opened: Identity): Promise<boolean> {
  try {
    const real = await realpath(path)
    const there = await stat(real, { bigint: true })
    return isInside(folder, real) && there.dev === opened.dev && there.ino === opened.ino
  } catch {
    return false
  }
}

async function isSecret(path: string): Promise<boolean> {
  const real = await realpath(path).catch(() => path)
  return [path, real].some((each) => secretNames.includes(basename(each).toLowerCase()))
}
