import { realpathSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import type { ToolFailure } from '../../contracts/index.ts'
import { guardedSettings, secretNames, startFiles } from '../../policy/protected-paths.ts'
import { isInside } from '../../util/is-inside.ts'
import type { WorkspacePath } from './workspace-path.ts'

export interface PathRestrictions {
  /** Folders and files that are neither read nor written, whoever asks: journals, trust, approvals. Absolute. */
  readonly hidden?: readonly string[]
  /** Files that are protected wherever they are, such as what hooks are made of. Absolute. */
  readonly guarded?: readonly string[]
}

/** What of a workspace is kept from tools. Letter case is disregarded: some file systems do that, too. */
export class HiddenPaths {
  readonly #hidden: readonly string[]
  readonly #guarded: readonly string[]

  constructor({ hidden = [], guarded = [] }: PathRestrictions) {
    this.#hidden = hidden.flatMap(namesOf)
    this.#guarded = guarded.flatMap(namesOf)
  }

  isHidden(absolute: string): boolean {
    const path = absolute.toLowerCase()
    return secretNames.includes(basename(path)) || this.#hidden.some((folder) => isInside(folder, path))
  }

  isGuarded(absolute: string): boolean {
    const path = absolute.toLowerCase()
    return this.#guarded.some((file) => isInside(file, path))
  }
}

/** As it was given, and as it really is; of what is not there yet, as it would be. */
function namesOf(path: string): readonly string[] {
  return [path, realOf(path)].map((name) => name.toLowerCase())
}

function realOf(path: string): string {
  try {
    return realpathSync.native(path)
  } catch {
    const above = dirname(path)
    return above === path ? path : join(realOf(above), basename(path))
  }
}

export const hiddenPathFailure = ({ absolute, relative }: WorkspacePath): ToolFailure => ({
  class: 'denied',
  message: secretNames.includes(basename(absolute).toLowerCase())
    ? `${relative} contains keys. No tool may read or write it.`
    : `${relative} contains Troupe's own data. No tool may read or write it.`,
  remedy: 'Continue without it. If it must change, ask the user.',
})

/** Files that hold secrets, start programs or decide what runs: changing one is never part of a broader permission. */
export function isProtected(relative: string): boolean {
  const parts = relative.toLowerCase().split('/')
  const name = parts.at(-1) ?? ''
  return parts.some((part) => part === '.git' || guarded.has(part)) || secrets.test(name)
}

/** Wherever they stand: a folder of the workspace may be another program's root, or a home. */
const guarded = new Set([...guardedSettings, ...startFiles])
const secrets = /^\.env(?:\..*)?$|\.env$|^\.(?:netrc|npmrc|pypirc)$/
