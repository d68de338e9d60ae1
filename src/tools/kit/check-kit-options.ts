import { statSync } from 'node:fs'
import { isAbsolute, resolve } from 'node:path'
import { type Problem, TroupeError } from '../../contracts/index.ts'
import { messageOf } from '../../util/message-of.ts'
import { nearestNames } from '../../util/nearest-names.ts'
import { showValue } from '../../util/show-value.ts'
import type { WorkspaceKitOptions } from './workspace-kit.ts'

const known: { readonly [Key in keyof Required<WorkspaceKitOptions>]: true } = {
  workspace: true,
  clock: true,
  home: true,
  path: true,
  policy: true,
  hidden: true,
  guarded: true,
  allowPrivate: true,
}

/** @throws TroupeError `config_invalid` with all problems, before anything is opened. */
export function checkKitOptions(options: WorkspaceKitOptions): void {
  const problems = [...Object.keys(options).flatMap(unknownKey), ...workspaceProblems(options.workspace)]
  if (problems.length === 0) return
  const lines = problems.map(({ place, message, remedy }) => `${place}: ${message}. ${remedy}`)
  throw new TroupeError('config_invalid', `The workspace tools cannot be created:\n  ${lines.join('\n  ')}`, { problems })
}

function unknownKey(key: string): readonly Problem[] {
  if (Object.hasOwn(known, key)) return []
  const [near] = nearestNames(key, Object.keys(known))
  const remedy = near === undefined ? `Known options: ${Object.keys(known).join(', ')}.` : `Did you mean "${near}"?`
  return [{ place: key, message: 'unknown option', remedy }]
}

function workspaceProblems(workspace: unknown): readonly Problem[] {
  const place = 'workspace'
  if (typeof workspace !== 'string' || !isAbsolute(workspace)) {
    const message = `expected the absolute path of a folder, found ${showValue(workspace, 200)}`
    const isPath = typeof workspace === 'string' && workspace !== ''
    const remedy = isPath ? `From the current folder that is ${showValue(resolve(workspace), 200)}.` : 'Name the folder to work in.'
    return [{ place, message, remedy }]
  }
  const fault = folderFault(workspace)
  const message = `expected the path of a folder that exists, found ${showValue(workspace, 200)}, which ${fault}`
  return fault === undefined ? [] : [{ place, message, remedy: 'Create the folder, or name another one.' }]
}

function folderFault(path: string): string | undefined {
  try {
    const stat = statSync(path, { throwIfNoEntry: false })
    if (!stat) return 'does not exist'
    return stat.isDirectory() ? undefined : 'is not a folder'
  } catch (error) {
    return `cannot be opened: ${messageOf(error)}`
  }
}
