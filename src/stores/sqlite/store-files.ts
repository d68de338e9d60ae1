import { statSync } from 'node:fs'
import { basename } from 'node:path'
import { TroupeError } from '../../contracts/index.ts'

/** The side files are looked at again after so long: a commit to a disk takes about as long. */
const freshMs = 2

/**
 * The files that a store has open, by device and inode. If one is deleted or replaced, the open file has no name: what is written
 * there is lost with the process.
 */
export class StoreFiles {
  #lookedAt = Number.NEGATIVE_INFINITY
  readonly #ids = new Map<string, string>()

  /** Call it for files that are open: SQLite may delete and create its log and index until it has them open. */
  remember(...paths: readonly string[]): void {
    for (const path of paths) {
      const id = idOf(path)
      if (id !== undefined) this.#ids.set(path, id)
    }
  }

  /** Says which file is no longer in its place. `database`: look at this one only. */
  findProblem(database?: string): string | undefined {
    for (const [path, known] of this.#ids) {
      const id = idOf(path)
      if (id !== known) return `${basename(path)} of the store was ${id === undefined ? 'deleted' : 'replaced'} while it was in use.`
      if (path === database) return undefined
    }
    return undefined
  }

  /**
   * For every commit: a turn may end within microseconds of the moment at which the folder disappears.
   *
   * @throws TroupeError `store_failed` if a file is gone: nothing can be stored durably.
   */
  requirePresent(): void {
    const isFresh = performance.now() - this.#lookedAt < freshMs
    const [database] = this.#ids.keys()
    const problem = this.findProblem(isFresh ? database : undefined)
    if (problem !== undefined) throw new TroupeError('store_failed', problem, { remedy: restart })
    if (!isFresh) this.#lookedAt = performance.now()
  }
}

export const restart = 'Nothing is stored any more: restart Troupe. If the sessions are needed, restore the files first.'

function idOf(path: string): string | undefined {
  const stats = statSync(path, { throwIfNoEntry: false })
  return stats && `${stats.dev} ${stats.ino}`
}
