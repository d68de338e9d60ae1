import { readdirSync } from 'node:fs'
import { delimiter, isAbsolute, resolve } from 'node:path'
import type { CommandRequest } from './command-approval.ts'
import { RepositoryCheck } from './plain-repository.ts'
import { placeIn } from './shell-input.ts'

/** Facts about the folder of a command that decide whether it is harmless. Read for each command. */
export class CommandFolder {
  readonly #root: string
  readonly #path: string
  readonly #repository: RepositoryCheck

  constructor(root: string, path: string) {
    this.#root = root
    this.#path = path
    this.#repository = new RepositoryCheck(root)
  }

  facts(command: string, cwd: string): Required<Pick<CommandRequest, 'folder' | 'isPlainRepository' | 'ownPrograms'>> {
    return {
      // Execution refuses a missing folder.
      folder: placeIn(this.#root, cwd)?.relative ?? cwd,
      isPlainRepository: /\bgit\b/.test(command) && this.#repository.isPlain(),
      ownPrograms: new Set(this.#ownFolders(cwd).flatMap(namesIn)),
    }
  }

  /** Folders of the search path in the workspace: agents can write to them. */
  #ownFolders(cwd: string): readonly string[] {
    return this.#path.split(delimiter).flatMap((folder) => {
      const path = isAbsolute(folder) ? folder : resolve(this.#root, cwd, folder)
      return placeIn(this.#root, path)?.absolute ?? []
    })
  }
}

function namesIn(folder: string): readonly string[] {
  try {
    return readdirSync(folder)
  } catch {
    return []
  }
}
