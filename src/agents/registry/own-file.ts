import { dirname, isAbsolute, join, resolve } from 'node:path'
import { TroupeError } from '../../contracts/index.ts'
import { readFaultyText } from '../agent-file.ts'
import type { AgentOptionKey } from '../agent-options.ts'
import type { Origin } from '../config/index.ts'
import type { PlacedValues, SaidValue, SaidValues } from '../placed-value.ts'
import { readContent } from './agent-paths.ts'
import type { Loading } from './loaded-file.ts'

/** What speaks besides an agent file. */
export interface Voices {
  /** What goes before it: flags, variables. */
  readonly over: SaidValues
  /** What holds where it is silent; values of a configuration know their file. */
  readonly defaults: ReadonlyMap<AgentOptionKey, SaidValue & { readonly origin?: Origin }>
  /** The folder that `script/` names of models are relative to: the first agent's. */
  readonly baseDir: string
}

export interface FileToRead {
  readonly path: string
  readonly place: string
  readonly bytes: Uint8Array
}

/** Reads an agent file of ours. */
export function loadOwnFile({ path, place, bytes }: FileToRead, voices: Voices): Loading {
  try {
    const { read, problems } = readFaultyText(bytes, place, {
      overrides: voices.over,
      defaults: voices.defaults,
      readFile: (file) => readSchemaText(resolve(dirname(path), file)),
    })
    if (problems.length > 0) return { ok: false, problems, path, children: read.children }
    const models = absoluteScripts(read.agent.models, scriptFolder(read.values, path, voices))
    return { ok: true, file: { ...read, agent: { ...read.agent, models }, path, place, dialect: 'troupe', diagnostics: [] } }
  } catch (error) {
    if (error instanceof TroupeError) return { ok: false, problems: error.problems, path, children: [] }
    throw error
  }
}

/** Where a script is looked for; nothing where names can stay as they are. */
function scriptFolder(values: PlacedValues, path: string, { baseDir, defaults }: Voices): string | undefined {
  const rank = values.get('models')?.rank
  const origin = rank === 'default' ? defaults.get('models')?.origin : undefined
  const folder = rank === 'file' ? dirname(path) : origin?.kind === 'file' ? dirname(origin.file) : undefined
  return folder === resolve(baseDir) ? undefined : folder
}

/** `script/a.yaml` belongs to the file that names it, wherever the team is started. */
function absoluteScripts(models: readonly string[], folder: string | undefined): readonly string[] {
  if (folder === undefined) return models
  return models.map((name) => {
    const [, script] = /^script\/(.+)$/s.exec(name) ?? []
    return script === undefined || isAbsolute(script) ? name : `script/${join(folder, script)}`
  })
}

export function readSchemaText(path: string): string {
  const content = readContent(path)
  if (!content.ok) throw new Error(content.isMissing ? `there is no ${path}` : content.why)
  return new TextDecoder().decode(content.bytes)
}
