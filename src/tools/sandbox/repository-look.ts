import { realpathSync } from 'node:fs'
import { join } from 'node:path'
import { FolderWalk } from './folder-walk.ts'
import { kindOf } from './path-kind.ts'
import { isPlainRepository } from './repository.ts'

/** Looks at the repository of a workspace as Git would find it there. */
export class RepositoryLook {
  readonly #root: string
  #walk: FolderWalk | undefined

  constructor(root: string) {
    this.#root = root
  }

  /** Git may look at it without running anything. It looks into repositories inside of it, too, so there must be none. */
  isPlain(): boolean {
    try {
      const root = realpathSync(this.#root)
      const git = join(root, '.git')
      if (kindOf(git) !== 'folder' || !isPlainRepository(git)) return false
      this.#walk ??= new FolderWalk(root)
      const { repositories, isWhole } = this.#walk.look({ isAfter: false })
      return isWhole && repositories.length === 1
    } catch {
      return false
    }
  }
}
