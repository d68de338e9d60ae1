import { accessSync, constants, lstatSync } from 'node:fs'
import { dirname, isAbsolute } from 'node:path'
import type { SandboxPolicy, ToolFailure } from '../../contracts/index.ts'
import { isInside } from '../../util/is-inside.ts'
import { stepsTo } from './steps-to.ts'

/** Folders that commands may write to, beside the one where the sandbox keeps its own doors. */
export interface OpenFolders {
  readonly root: string
  readonly scratch: string
  readonly policy: Pick<SandboxPolicy, 'writable'>
}

/** The workspace first, then those that the policy opens, all without links. */
export type Places = { readonly ok: true; readonly places: readonly string[] } | { readonly ok: false; readonly failure: ToolFailure }

/**
 * One place may name a folder that another place has opened with all that is in it; a command that may write there could put a link
 * in its stead, to open whatever that leads to. So links are followed only where no command can have made them.
 */
export function writablePlaces({ root, scratch, policy: { writable } }: OpenFolders): Places {
  if (isInside(root, scratch)) return wrong(`The workspace is "${root}", ${doors}.`, 'Work in a folder below it.')
  const places = [root]
  for (const folder of writable) {
    const found = placeOf(folder, scratch)
    if (!found.ok) return wrong(`sandbox.writable names "${folder}", ${found.why}.`, found.remedy)
    places.push(found.place)
  }
  return { ok: true, places }
}

const doors = 'where programs of this machine keep their doors, the sandbox among them'

type Found = { readonly ok: true; readonly place: string } | { readonly ok: false; readonly why: string; readonly remedy: string }

function placeOf(folder: string, scratch: string): Found {
  const not = (why: string, remedy = 'Make the folder, or take it off the list.'): Found => ({ ok: false, why, remedy })
  if (!isAbsolute(folder)) return not('which is not an absolute path')
  const way = stepsTo(folder)
  if (!way) return not('which does not exist')
  if (!(lstatSync(way.end, { throwIfNoEntry: false })?.isDirectory() ?? false)) return not('which is not a folder')
  if (isInside(way.end, scratch)) return not(doors, 'Name a folder below it.')
  const isDoubtful = way.steps.some(({ path, isLink }) => isLink && mayWrite(dirname(path)))
  return isDoubtful ? not('which leads over a link that a command could have made', asItIs(way.end)) : { ok: true, place: way.end }
}

const asItIs = (path: string): string => `If it is meant, name it as it is: "${path}".`

const wrong = (message: string, remedy: string): Places => ({ ok: false, failure: { class: 'config', message, remedy } })

function mayWrite(folder: string): boolean {
  try {
    accessSync(folder, constants.W_OK)
    return true
  } catch {
    return false
  }
}
