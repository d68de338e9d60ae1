import { createHash } from 'node:crypto'
import { readFileSync, statSync } from 'node:fs'
import { resolve } from 'node:path'
import type { HookDefinition } from '../../contracts/index.ts'
import { isOfSystem, wordsOfHook } from '../../util/hook-words.ts'
import { shellWord } from '../../util/shell-word.ts'
import { realOrSame } from '../real-or-same.ts'
import { leadsAround } from '../sandbox/leads-around.ts'

/** What hooks may be made of. */
export interface TrustedFiles {
  /** SHA-256 in hexadecimal, by absolute path. */
  readonly hashes: ReadonlyMap<string, string>
  /** Only files in these folders, or that are reached through them, have to be trusted. Default: all that are named. */
  readonly folders?: readonly string[]
}

type Source = Pick<HookDefinition, 'command' | 'module'>

const largest = 4 * 1024 * 1024

/** Every file that hooks name, where there is one: programs, arguments, modules; of links what they lead to, too. */
export function hookFiles(hooks: readonly Source[], baseDir: string): readonly string[] {
  const named = hooks.flatMap((hook) => namedFiles(hook, baseDir))
  return [...new Set(named.flatMap((path) => [path, realOrSame(path)]))]
}

/** Why a hook must not run, in words: a file that it names is not what somebody has trusted. */
export function hookFileFault(hook: Source, baseDir: string, { hashes, folders }: TrustedFiles): string | undefined {
  const real = folders?.map(realOrSame)
  for (const path of namedFiles(hook, baseDir)) {
    if (real && leadsAround(real, path).length > 0) continue
    const trusted = hashes.get(path)
    const now = hashOf(path)
    if (now === undefined)
      return `${path} has more than ${largest} bytes, which is too large to be trusted. Keep it in a folder of the system, like /usr/local/bin.`
    if (now === trusted) continue
    const why = trusted === undefined ? 'nobody has trusted it' : 'it has changed since it was trusted'
    return `${path} is not run, since ${why}. Look at it; if it is what you want: troupe trust ${shellWord(path)}`
  }
  return undefined
}

/** The hashes of the files that hooks name, as they are now. */
export function hookHashes(hooks: readonly Source[], baseDir: string): ReadonlyMap<string, string> {
  return new Map(hooks.flatMap((hook) => namedFiles(hook, baseDir)).flatMap((path) => pairOf(path, hashOf(path))))
}

const pairOf = (path: string, hash: string | undefined): [string, string][] => (hash === undefined ? [] : [[path, hash]])

function namedFiles(hook: Source, baseDir: string): readonly string[] {
  return wordsOfHook(hook).flatMap((word) => {
    const path = resolve(baseDir, word)
    return !isOfSystem(word, path, baseDir) && isFile(path) ? [path] : []
  })
}

function isFile(path: string): boolean {
  try {
    return statSync(path).isFile()
  } catch {
    return false
  }
}

function hashOf(path: string): string | undefined {
  if (statSync(path).size > largest) return undefined
  return createHash('sha256').update(readFileSync(path)).digest('hex')
}
