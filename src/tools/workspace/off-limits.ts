import { realpathSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import type { ToolFailure } from '../../contracts/index.ts'
import { secretNames } from '../../policy/protected-paths.ts'
import { isInside } from '../../util/is-inside.ts'
import type { Place } from './place.ts'

export interface Limits {
  /** Folders and files that are neither read nor written, whoever asks: journals, trust, approvals. Absolute. */
  readonly hidden?: readonly string[]
  /** Files that are protected wherever they are, such as what hooks are made of. Absolute. */
  readonly guarded?: readonly string[]
}

/** What of a workspace is kept from tools. Letter case is disregarded: some file systems do that, too. */
export class OffLimits {
  readonly #hidden: readonly string[]
  readonly #guarded: readonly string[]

  constructor({ hidden = [], guarded = [] }: Limits) {
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

export const offLimits = ({ absolute, relative }: Place): ToolFailure => ({
  class: 'denied',
  message: secretNames.includes(basename(absolute).toLowerCase())
    ? `${relative} holds keys, which no tool reads or writes.`
    : `${relative} is where this program keeps what it is allowed to do, which no tool reads or writes.`,
  remedy: 'Go on without it. Where it has to be changed, ask the person to do that.',
})
