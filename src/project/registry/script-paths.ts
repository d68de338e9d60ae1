import { dirname, isAbsolute, join, resolve } from 'node:path'
import type { Problem } from '../../contracts/index.ts'
import { locationOf, type OptionValues } from '../options/option-values.ts'
import { type Confined, outsideProblem } from './confinement.ts'
import type { LoadContext } from './loaded-file.ts'

const script = /^script\/(.+)$/s

/** Scripts in `models` outside the confinement of the agent. */
export function scriptProblems(values: OptionValues, path: string, within: Confined | undefined): readonly Problem[] {
  const option = values.get('models')
  // Overrides need no trust, and the configuration was checked before.
  if (option?.precedence !== 'file' || !within) return []
  return (option.value as readonly string[]).flatMap((name, index) => {
    const [, file] = script.exec(name) ?? []
    const fault = file === undefined ? undefined : outsideProblem(resolve(dirname(path), file), within)
    if (!fault) return []
    const { message, remedy } = fault
    return [{ ...locationOf(option, index), message: `the script \`${file}\` cannot be read: ${message}`, remedy }]
  })
}

export const withoutScripts = (models: readonly string[]): readonly string[] => models.filter((name) => !script.test(name))

interface SearchContext {
  readonly path: string
  readonly context: Pick<LoadContext, 'baseDir' | 'defaults'>
}

/** `script/a.yaml` is relative to the file that names it. */
export function scriptsBeside(models: readonly string[], values: OptionValues, surroundings: SearchContext): readonly string[] {
  const folder = scriptFolder(values, surroundings)
  if (folder === undefined) return models
  return models.map((name) => {
    const [, file] = script.exec(name) ?? []
    return file === undefined || isAbsolute(file) ? name : `script/${join(folder, file)}`
  })
}

/** The folder of scripts; `undefined` if names can stay as they are. */
function scriptFolder(values: OptionValues, { path, context: { baseDir, defaults } }: SearchContext): string | undefined {
  const precedence = values.get('models')?.precedence
  const origin = precedence === 'default' ? defaults.get('models')?.origin : undefined
  const folder = precedence === 'file' ? dirname(path) : origin?.kind === 'file' ? dirname(origin.file) : undefined
  return folder === resolve(baseDir) ? undefined : folder
}
