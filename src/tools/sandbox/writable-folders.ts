import { accessSync, constants, lstatSync, realpathSync, statSync } from 'node:fs'
import { dirname, isAbsolute } from 'node:path'
import type { SandboxPolicy, ToolFailure } from '../../contracts/index.ts'
import { isInside } from '../../util/is-inside.ts'

/** Folders that commands may write to, beside the one where the sandbox keeps its own doors. */
export interface OpenFolders {
  readonly root: string
  readonly scratch: string
  readonly policy: Pick<SandboxPolicy, 'writable'>
}

/**
 * What is wrong with the folders that a policy opens. One place may name a folder that another place has opened with all that is
 * in it; a command that may write there could put a link in its stead, to open whatever that leads to. So links are followed only
 * where no command can have made them.
 */
export function wrongFolder({ root, scratch, policy: { writable } }: OpenFolders): ToolFailure | undefined {
  for (const folder of writable) {
    const why = faultOf(folder)
    if (why !== undefined) return wrong(`sandbox.writable names "${folder}", which ${why}.`, 'Make the folder, or take it off the list.')
  }
  const doors = 'where programs of this machine keep their doors, the sandbox among them'
  if (isInside(root, scratch)) return wrong(`The workspace is "${root}", ${doors}.`, 'Work in a folder below it.')
  const shared = writable.find((folder) => isInside(realpathSync(folder), scratch))
  if (shared !== undefined) return wrong(`sandbox.writable names "${shared}", ${doors}.`, 'Name a folder below it.')
  const linked = writable.find(leadsOverLink)
  if (linked === undefined) return undefined
  const remedy = `If it is meant, name it as it is: "${realpathSync(linked)}".`
  return wrong(`sandbox.writable names "${linked}", which leads over a link that a command could have made.`, remedy)
}

const wrong = (message: string, remedy: string): ToolFailure => ({ class: 'config', message, remedy })

function faultOf(folder: string): string | undefined {
  if (!isAbsolute(folder)) return 'is not an absolute path'
  const found = statSync(folder, { throwIfNoEntry: false })
  if (!found) return 'does not exist'
  return found.isDirectory() ? undefined : 'is not a folder'
}

function leadsOverLink(path: string): boolean {
  const above = dirname(path)
  if (above === path) return false
  const isLink = lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink() ?? false
  return (isLink && mayWrite(above)) || leadsOverLink(above)
}

function mayWrite(folder: string): boolean {
  try {
    accessSync(folder, constants.W_OK)
    return true
  } catch {
    return false
  }
}
