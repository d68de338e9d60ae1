import { dirname, isAbsolute, join, resolve } from 'node:path'
import { TroupeError } from '../../contracts/index.ts'
import { type AgentFile, readFaultyText } from '../agent-file.ts'
import type { AgentOptionKey } from '../agent-options.ts'
import type { Origin } from '../config/index.ts'
import { isInside } from '../is-inside.ts'
import type { PlacedValues, SaidValue, SaidValues } from '../placed-value.ts'
import { shellWord } from '../words.ts'
import { readContent, realPath } from './agent-paths.ts'
import { idleSettings } from './idle-settings.ts'
import type { LoadedFile, Loading } from './loaded-file.ts'
import { toolProblems } from './team-rules.ts'

/** What speaks besides an agent file. */
export interface Voices {
  /** What goes before it: flags, variables. */
  readonly over: SaidValues
  /** What holds where it is silent; values of a configuration know their file. */
  readonly defaults: ReadonlyMap<AgentOptionKey, SaidValue & { readonly origin?: Origin }>
  /** The folder that `script/` names of models are relative to: the first agent's. */
  readonly baseDir: string
  /** What paths on the command line are relative to. */
  readonly workingDirectory: string
  /** The tools that there are. */
  readonly tools: readonly string[]
}

export interface FileToRead {
  readonly path: string
  readonly place: string
  readonly bytes: Uint8Array
}

/** Reads an agent file of ours. Schemas that it names must lie `within` a folder, unless that is left open. */
export function loadOwnFile({ path, place, bytes }: FileToRead, voices: Voices, within: string | undefined): Loading {
  try {
    const { read, problems } = readFaultyText(bytes, place, {
      overrides: voices.over,
      defaults: voices.defaults,
      readFile: (file, saidBy) => {
        const target = resolve(dirname(path), file)
        // Who names a file on the command line has trusted it by that.
        return saidBy === 'file' && within !== undefined ? readConfined(target, within, path) : readSchemaText(target)
      },
    })
    const models = absoluteScripts(read.agent.models, scriptFolder(read.values, path, voices))
    const agent = withWritable({ ...read.agent, models }, read.values, { file: dirname(path), over: voices.workingDirectory })
    const diagnostics = idleSettings(read.values, voices.tools)
    const file: LoadedFile = { ...read, agent, path, place, dialect: 'troupe', diagnostics }
    if (problems.length === 0) return { ok: true, file }
    // Nobody looks at its tools any more: what is wrong with them is told with the rest.
    const all = [...problems, ...toolProblems(file, voices.tools)]
    return { ok: false, problems: all, path, children: read.children, said: file }
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

interface Folders {
  readonly file: string
  readonly over: string
}

/** Folders of a sandbox are relative to whoever names them. */
export function withWritable<A extends Pick<AgentFile, 'sandbox'>>(agent: A, values: PlacedValues, { file, over }: Folders): A {
  const { sandbox } = agent
  if (!sandbox?.writable) return agent
  const folder = values.get('sandbox.writable')?.rank === 'over' ? over : file
  return { ...agent, sandbox: { ...sandbox, writable: sandbox.writable.map((each) => resolve(folder, each)) } }
}

function readConfined(target: string, folder: string, agent: string): string {
  if (!isInside(realPath(target), folder))
    throw new TroupeError('agent_file_invalid', `it lies outside of ${folder}, and nobody has trusted that folder`, {
      remedy: `Look at the agent; if it is what you want: troupe trust ${shellWord(agent)}`,
    })
  return readSchemaText(target)
}

export function readSchemaText(path: string): string {
  const content = readContent(path)
  if (!content.ok) throw new Error(content.isMissing ? `there is no ${path}` : content.why)
  return new TextDecoder().decode(content.bytes)
}
