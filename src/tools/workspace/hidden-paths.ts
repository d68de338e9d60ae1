import { realpathSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import type { ToolFailure } from '../../contracts/index.ts'
import { protectedSettings, secretNames, startFiles } from '../../policy/protected-paths.ts'
import { isInside } from '../../util/is-inside.ts'
import type { WorkspacePath } from './workspace-path.ts'

export interface PathRestrictions {
  /** Folders and files that tools never read or write: journals, trust, approvals. Absolute. */
  readonly hidden?: readonly string[]
  /** Files that are always protected, such as those of hooks. Absolute. */
  readonly guarded?: readonly string[]
}

/** Paths that tools cannot access. Ignores case, as some file systems do. */
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

/** As given, and its real path. */
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
  remedy: 'Continue without it. If you need it, ask the user.',
})

/** Files that contain secrets, start programs or decide what runs. A broader permission does not cover changing them. */
export function isProtected(relative: string): boolean {
  const parts = relative.toLowerCase().split('/')
  const name = parts.at(-1) ?? ''
  return parts.some((part) => part === '.git' || protectedNames.has(part)) || secrets.test(name)
}

/** In any folder: it may be the root of another program, or a home. */
const protectedNames = new Set([...protectedSettings, ...startFiles])
const secrets = /^\.env(?:\..*)?$|\.env$|^\.(?:netrc|npmrc|pypirc)$/
