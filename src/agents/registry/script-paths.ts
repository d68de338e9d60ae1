import { dirname, isAbsolute, join, resolve } from 'node:path'
import type { Problem } from '../../contracts/index.ts'
import { locationOf, type OptionValues } from '../agent-file/option-values.ts'
import { type Confined, outsideProblem } from './confinement.ts'
import type { LoadContext } from './loaded-file.ts'

const script = /^script\/(.+)$/s

/** Scripts that an agent names as its models and that lie outside of what it is confined to, if it is. */
export function scriptProblems(values: OptionValues, path: string, within: Confined | undefined): readonly Problem[] {
  const said = values.get('models')
  // Who names a model elsewhere than in the file of the agent has the last word on it anyway, or was trusted before.
  if (said?.rank !== 'file' || !within) return []
  return (said.value as readonly string[]).flatMap((name, index) => {
    const [, file] = script.exec(name) ?? []
    const fault = file === undefined ? undefined : outsideProblem(resolve(dirname(path), file), within)
    if (!fault) return []
    const { message, remedy } = fault
    return [{ ...locationOf(said, index), message: `the script \`${file}\` cannot be read: ${message}`, remedy }]
  })
}

export const withoutScripts = (models: readonly string[]): readonly string[] => models.filter((name) => !script.test(name))

interface SearchContext {
  readonly path: string
  readonly context: Pick<LoadContext, 'baseDir' | 'defaults'>
}

/** `script/a.yaml` belongs to the file that names it, wherever the team is started. */
export function scriptsBeside(models: readonly string[], values: OptionValues, surroundings: SearchContext): readonly string[] {
  const folder = scriptFolder(values, surroundings)
  if (folder === undefined) return models
  return models.map((name) => {
    const [, file] = script.exec(name) ?? []
    return file === undefined || isAbsolute(file) ? name : `script/${join(folder, file)}`
  })
}

/** Where a script is looked for; nothing where names can stay as they are. */
function scriptFolder(values: OptionValues, { path, context: { baseDir, defaults } }: SearchContext): string | undefined {
  const rank = values.get('models')?.rank
  const origin = rank === 'default' ? defaults.get('models')?.origin : undefined
  const folder = rank === 'file' ? dirname(path) : origin?.kind === 'file' ? dirname(origin.file) : undefined
  return folder === resolve(baseDir) ? undefined : folder
}
