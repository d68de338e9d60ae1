import { isUtf8 } from 'node:buffer'
import * as files from 'node:fs'
import { safeRead } from '../../../policy/safe-read.ts'
import { isInside } from '../../../util/is-inside.ts'

/** A text, or why there is none, in words. */
export type InsideText =
  /** `real` is where it was when it was open. */
  | { readonly kind: 'read'; readonly bytes: Uint8Array; readonly text: string; readonly real: string }
  | { readonly kind: 'missing' }
  | { readonly kind: 'outside' }
  | { readonly kind: 'refused'; readonly why: string }

interface Inside {
  /** A real path. Absent where the file may be anywhere. */
  readonly folder: string | undefined
  readonly mostBytes: number
}

/** Reads a text of a folder. Where it is, what was opened is asked: a link may have been put there meanwhile. */
export function readInside(path: string, { folder, mostBytes }: Inside): InsideText {
  if (folder !== undefined && (path === folder || !isInside(folder, path))) return { kind: 'outside' }
  const found = safeRead(files, path, { root: folder, maxBytes: mostBytes })
  if (found.kind === 'withheld') return { kind: 'refused', why: found.why }
  if (found.kind !== 'read') return found
  const { bytes, size, real } = found
  if (size > mostBytes) return { kind: 'refused', why: `it has ${size} bytes, and ${mostBytes} is the most` }
  if (bytes.includes(0) || !isUtf8(bytes)) return { kind: 'refused', why: `it is no UTF-8 text (${bytes.length} bytes)` }
  return { kind: 'read', bytes, text: new TextDecoder().decode(bytes), real }
}
