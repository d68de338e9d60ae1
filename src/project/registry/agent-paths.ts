import * as fs from 'node:fs'
import { relative } from 'node:path'
import { isInside } from '../../util/is-inside.ts'
import { messageOf } from '../../util/message-of.ts'
import { readBounded } from '../../util/read-bounded.ts'
import { maxAgentFileBytes } from '../values/decode-text.ts'

type Content = { readonly ok: true; readonly bytes: Uint8Array } | UnreadableFile
export interface UnreadableFile {
  readonly ok: false
  readonly kind: 'missing' | 'folder' | 'refused'
  readonly why: string
  readonly remedy: string
}

export function readContent(path: string): Content {
  const found = readBounded(fs, path, maxAgentFileBytes)
  switch (found.kind) {
    case 'read':
      return { ok: true, bytes: found.bytes }
    case 'missing':
      return unreadable('missing', 'there is no such file', 'Check the path.')
    case 'folder':
      return unreadable('folder', found.why, 'Name one of the files in it.')
    case 'no file':
      return unreadable('refused', found.why, 'Use a regular file.')
    case 'too large':
      return unreadable('refused', found.why, 'Make it shorter; agents can read long texts with tools.')
    case 'unreadable': {
      const { code } = found.error as NodeJS.ErrnoException
      return unreadable('refused', `it cannot be read (${code ?? messageOf(found.error)})`, 'Make it readable, or name another file.')
    }
    default:
      return found satisfies never
  }
}

const unreadable = (kind: UnreadableFile['kind'], why: string, remedy: string): UnreadableFile => ({ ok: false, kind, why, remedy })

/** Resolves links, so that each file has one path. */
export function realPath(path: string): string {
  try {
    return fs.realpathSync(path)
  } catch {
    return path
  }
}

/** Relative to `from`, if it is inside. */
export function displayPath(path: string, from: string): string {
  return path !== from && isInside(from, path) ? relative(from, path) : path
}

export const isOwnFile = (path: string): boolean => /\.ai$/i.test(path)
export const hasAgentExtension = (name: string): boolean => /\.(?:ai|md|toml)$/i.test(name)

export function agentFilesIn(folder: string): readonly string[] {
  try {
    return fs.readdirSync(folder).filter(hasAgentExtension).toSorted()
  } catch {
    return []
  }
}
