import { accessSync, constants } from 'node:fs'
import { dirname, isAbsolute } from 'node:path'
import type { ToolFailure } from '../../contracts/index.ts'
import { isInside } from '../../util/is-inside.ts'
import { resolveSteps } from '../trusted-path.ts'
import { kindOf } from './file-identity.ts'
import type { ProcessSandboxOptions } from './sandbox-types.ts'

/** The workspace first, then those that the policy names, all without links. */
type WritableFolders = { readonly ok: true; readonly folders: readonly string[] } | { readonly ok: false; readonly failure: ToolFailure }

/**
 * The folders that commands can write to. A command could replace a folder in one of them by a link, to have the next command
 * write to where that leads. So a link is followed only where no command can have created it.
 */
export function writableFolders(options: Required<Pick<ProcessSandboxOptions, 'root' | 'scratch' | 'policy'>>): WritableFolders {
  const { root, scratch } = options
  if (isInside(root, scratch)) return invalid(`The workspace is "${root}", ${holdsScratch(scratch)}.`, 'Work in a folder below it.')
  const folders = [root]
  for (const folder of options.policy.writable) {
    const found = writableFolder(folder, scratch)
    if (!found.ok) return invalid(`sandbox.writable names "${folder}", ${found.why}.`, found.remedy)
    folders.push(found.folder)
  }
  return { ok: true, folders }
}

const holdsScratch = (scratch: string): string => `which holds ${scratch}, where other programs keep temporary files and sockets`

type Found = { readonly ok: true; readonly folder: string } | { readonly ok: false; readonly why: string; readonly remedy: string }

function writableFolder(folder: string, scratch: string): Found {
  const not = (why: string, remedy = 'Create the folder, or remove it from the list.'): Found => ({ ok: false, why, remedy })
  if (!isAbsolute(folder)) return not('which is not an absolute path')
  const way = resolveSteps(folder)
  if (!way) return not('which does not exist')
  if (kindOf(way.end) !== 'folder') return not('which is not a folder')
  if (isInside(way.end, scratch)) return not(holdsScratch(scratch), 'Name a folder below it.')
  const isDoubtful = way.steps.some(({ path, isLink }) => isLink && isWritable(dirname(path)))
  if (!isDoubtful) return { ok: true, folder: way.end }
  return not('which leads over a link that a command could have created', `If you want this folder, name its real path: "${way.end}".`)
}

const invalid = (message: string, remedy: string): WritableFolders => ({ ok: false, failure: { class: 'config', message, remedy } })

function isWritable(folder: string): boolean {
  try {
    accessSync(folder, constants.W_OK)
    return true
  } catch {
    return false
  }
}
