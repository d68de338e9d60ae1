import { resolve } from 'node:path'
import type { WrittenOverrides } from '../agents/index.ts'
import { shellWord } from '../util/shell-word.ts'
import type { RunInvocation } from './parse-arguments.ts'

interface Continuation {
  /** The run has ended: what it is to do next has to be said. */
  readonly hasEnded?: boolean
  /** Where it works, if that is not here, and where its journal is, if that has to be named. */
  readonly elsewhere?: { readonly workspace: string; readonly dataDir?: string }
}

/** The command that goes on with a run, with all that this one was told besides. */
export function resumeCommand(invocation: RunInvocation, treeId: string, { hasEnded, elsewhere }: Continuation = {}): string {
  const { file, dataDir, configFile, overrides, allow, deny } = elsewhere
    ? { ...invocation, ...fromThere(invocation, elsewhere) }
    : invocation
  const words = [
    ...flags('--data-dir', dataDir === undefined ? [] : [dataDir]),
    ...flags('--config', configFile === undefined ? [] : [configFile]),
    ...overrideFlags(overrides),
    ...flags('--allow', allow),
    ...flags('--deny', deny),
  ]
  const command = ['troupe run', shellWord(file), ...(hasEnded ? ['"…"'] : []), '--resume', treeId, ...words].join(' ')
  return elsewhere ? `cd ${shellWord(elsewhere.workspace)} && ${command}` : command
}

/** Paths as they are found from another folder. */
function fromThere(
  { file, configFile }: RunInvocation,
  { dataDir }: NonNullable<Continuation['elsewhere']>,
): Pick<RunInvocation, 'file' | 'configFile' | 'dataDir'> {
  return {
    file: resolve(file),
    ...(dataDir !== undefined && { dataDir }),
    ...(configFile !== undefined && { configFile: resolve(configFile) }),
  }
}

const overrideFlags = ({ models = [], settings, flags: limits = [] }: WrittenOverrides): readonly string[] => [
  ...flags('--model', models),
  ...flags('--override', settings),
  ...limits.flatMap(({ name, value }) => flags(`--${name}`, [value])),
]

const flags = (name: string, values: readonly string[]): readonly string[] => values.map((value) => `${name} ${shellWord(value)}`)
