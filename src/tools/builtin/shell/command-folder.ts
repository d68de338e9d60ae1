import { readdirSync } from 'node:fs'
import { delimiter, isAbsolute, resolve } from 'node:path'
import type { CommandRequest } from './command-approval.ts'
import { repositoryCheck } from './plain-repository.ts'
import { placeIn } from './shell-input.ts'

type Facts = Required<Pick<CommandRequest, 'folder' | 'isPlainRepository' | 'ownPrograms'>>

/** Facts about the folder of a command that decide whether it is harmless. Read for each command. */
export function folderFacts(root: string, path: string): (command: string, cwd: string) => Facts {
  const isPlain = repositoryCheck(root)
  return (command, cwd) => {
    // Folders of the search path in the workspace: agents can write to them.
    const own = path.split(delimiter).flatMap((folder) => {
      const found = isAbsolute(folder) ? folder : resolve(root, cwd, folder)
      return placeIn(root, found)?.absolute ?? []
    })
    return {
      // Execution refuses a missing folder.
      folder: placeIn(root, cwd)?.relative ?? cwd,
      isPlainRepository: /\bgit\b/.test(command) && isPlain(),
      ownPrograms: new Set(own.flatMap(namesIn)),
    }
  }
}

function namesIn(folder: string): readonly string[] {
  try {
    return readdirSync(folder)
  } catch {
    return []
  }
}
