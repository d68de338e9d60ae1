import { resolve } from 'node:path'
import type { RunFlag } from '../../contracts/index.ts'
import type { RunInvocation } from '../options/parse-arguments.ts'
import { typedWord } from '../options/typed-word.ts'

interface Continuation {
  /** The run has ended: what it is to do next has to be said. */
  readonly hasEnded?: boolean
  /** Where it works, if that is not here, and where its journal is, if that has to be named. */
  readonly elsewhere?: { readonly workspace: string; readonly dataDir?: string }
}

/** The command that goes on with a run, with all that this one was told besides. */
export function resumeCommand(invocation: RunInvocation, treeId: string, { hasEnded, elsewhere }: Continuation = {}): string {
  const there = elsewhere ? { ...invocation, ...fromThere(invocation, elsewhere) } : invocation
  const { file, dataDir } = there
  const words = flagWords([...(dataDir === undefined ? [] : [{ name: 'data-dir', value: dataDir }]), ...runFlags(there)])
  const command = ['troupe run', typedWord(file), ...(hasEnded ? ['"…"'] : []), '--resume', treeId, ...words].join(' ')
  return elsewhere ? `cd ${typedWord(elsewhere.workspace)} && ${command}` : command
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

/** What a command line says about how its run works: said again, it means the same. */
export function runFlags({ configFile, overrides, allow, deny }: RunInvocation): readonly RunFlag[] {
  const { models = [], settings, flags = [] } = overrides
  const named = (name: string, values: readonly string[]): readonly RunFlag[] => values.map((value) => ({ name, value }))
  return [
    ...named('config', configFile === undefined ? [] : [configFile]),
    ...named('model', models),
    ...named('override', settings),
    ...flags.map(({ name, value }) => ({ name, value })),
    ...named('allow', allow),
    ...named('deny', deny),
  ]
}

/** A value that begins like a flag has to be tied to its own. */
export const flagWords = (flags: readonly RunFlag[]): readonly string[] =>
  flags.map(({ name, value }) => `--${name}${value.startsWith('-') ? '=' : ' '}${typedWord(value)}`)
