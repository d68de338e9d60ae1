import { createHash } from 'node:crypto'
import * as fs from 'node:fs'
import { closeSync, constants, fstatSync, openSync, realpathSync, statSync } from 'node:fs'
import { resolve } from 'node:path'
import type { HookDefinition } from '../../contracts/index.ts'
import { hookPaths } from '../../policy/hook-paths.ts'
import { messageOf } from '../../util/message-of.ts'
import { readOpenFile } from '../../util/read-bounded.ts'
import { shellWord } from '../../util/shell-word.ts'
import { realOrSame, trustedPath } from '../trusted-path.ts'

export interface TrustedFiles {
  /** SHA-256 in hexadecimal, by absolute path. */
  readonly hashes: ReadonlyMap<string, string>
  /** Only files in these folders, or reached through them, need trust. Default: all files. */
  readonly folders?: readonly string[]
}

type Source = Pick<HookDefinition, 'command' | 'module'>

const largest = 4 * 1024 * 1024

/** Every existing file that hooks name: programs, arguments, modules, and the targets of links. */
export function hookFiles(hooks: readonly Source[], baseDir: string): readonly string[] {
  const named = hooks.flatMap((hook) => namedFiles(hook, baseDir))
  return [...new Set(named.flatMap((path) => [path, realOrSame(path)]))]
}

export type CheckedFiles = { readonly ok: true; readonly files: readonly CheckedFile[] } | { readonly ok: false; readonly why: string }

interface CheckedFile {
  readonly path: string
  readonly sha256: string
  /** Differs after any change of the file, and between files. */
  readonly stamp: string
}

export function checkHookFiles(hook: Source, baseDir: string, { hashes, folders }: TrustedFiles): CheckedFiles {
  const real = folders?.map(realOrSame)
  const files: CheckedFile[] = []
  for (const path of namedFiles(hook, baseDir)) {
    if (real && trustedPath(real, path).length > 0) continue
    const trusted = hashes.get(path)
    const now = seenAt(path)
    if ('unseen' in now) return { ok: false, why: `${path} ${now.unseen}` }
    if (now.sha256 !== trusted) return { ok: false, why: distrusted(path, trusted) }
    files.push(now)
  }
  return { ok: true, files }
}

function distrusted(path: string, trusted: string | undefined): string {
  const why = trusted === undefined ? 'it is not trusted' : 'it has changed since it was trusted'
  return `${path} is not run because ${why}. Review it, then run: troupe trust ${shellWord(path)}`
}

/**
 * Why the answer of a program is ignored. The system opens the files by name, after
 * the check: another file may have run, although the right one is back.
 */
export function exchangedSince(files: readonly CheckedFile[]): string | undefined {
  const other = files.find(({ path, stamp }) => {
    const now = seenAt(path)
    return 'unseen' in now || now.stamp !== stamp
  })
  return other && `${other.path} was changed or replaced while the hook ran, so its answer is ignored. Find out what changed it.`
}

/** The hashes of the files that hooks name, as they are now. */
export function hookHashes(hooks: readonly Source[], baseDir: string): ReadonlyMap<string, string> {
  const files = hooks.flatMap((hook) => namedFiles(hook, baseDir)).map(seenAt)
  return new Map(files.flatMap((file) => ('unseen' in file ? [] : [[file.path, file.sha256]])))
}

const disk = { resolve, realpathSync, statSync }

const namedFiles = (hook: Source, baseDir: string): readonly string[] => hookPaths(hook, { baseDir, disk }).filter(isFile)

function isFile(path: string): boolean {
  try {
    return statSync(path).isFile()
  } catch {
    return false
  }
}

const tooLarge = `has more than ${largest} bytes, which is too large to trust. Install it in a system folder such as /usr/local/bin.`

/** Checks the opened file, not the path. */
function seenAt(path: string): CheckedFile | { readonly unseen: string } {
  let file: number | undefined
  try {
    file = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK)
    const found = fstatSync(file, { bigint: true })
    if (!found.isFile()) return { unseen: 'is no longer a file. Restore it.' }
    if (found.size > largest) return { unseen: tooLarge }
    const { dev, ino, ctimeNs } = found
    const bytes = readOpenFile(fs, file, { maxBytes: largest, expectedBytes: Number(found.size) })
    if (bytes.length > largest) return { unseen: tooLarge }
    return { path, sha256: createHash('sha256').update(bytes).digest('hex'), stamp: `${dev}:${ino}:${ctimeNs}` }
  } catch (error) {
    return { unseen: `cannot be read, so it is not run: ${messageOf(error)}. Make it readable.` }
  } finally {
    if (file !== undefined) closeSync(file)
  }
}
