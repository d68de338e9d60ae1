import { statSync } from 'node:fs'
import { basename } from 'node:path'
import { TroupeError } from '../../contracts/index.ts'

/** A commit to a disk takes about as long. */
const freshMs = 2

/**
 * The files that a store has open, by device and inode. If one is deleted or replaced, the open file has no name: what is written
 * there is lost with the process.
 */
export class StoreFiles {
  readonly #paths: readonly string[]
  #lookedAt = Number.NEGATIVE_INFINITY
  readonly #ids = new Map<string, string>()

  constructor(...paths: readonly string[]) {
    this.#paths = paths
  }

  /** Says which file is no longer in its place. One that is found for the first time is remembered. */
  look(): string | undefined {
    for (const path of this.#paths) {
      const stats = statSync(path, { throwIfNoEntry: false })
      const id = stats && `${stats.dev} ${stats.ino}`
      const known = this.#ids.get(path)
      if (known === undefined && id !== undefined) this.#ids.set(path, id)
      else if (known !== id) return `${basename(path)} of the store was ${id === undefined ? 'deleted' : 'replaced'} while it was in use.`
    }
    return undefined
  }

  /**
   * For every commit: looks again only if the last look found nothing and was some time ago.
   *
   * @throws TroupeError `store_failed` if a file is gone: nothing can be stored durably.
   */
  require(): void {
    if (performance.now() - this.#lookedAt < freshMs) return
    const problem = this.look()
    if (problem !== undefined) throw new TroupeError('store_failed', problem, { remedy: restart })
    this.#lookedAt = performance.now()
  }
}

export const restart = 'Nothing is stored any more: restart Troupe. If the sessions are needed, restore the files first.'
