import { resolve } from 'node:path'
import type { RunFlag } from '../../../contracts/index.ts'
import { flagWords } from '../../../project/index.ts'
import { typedWord } from '../../../util/typed-word.ts'
import type { RunInvocation } from '../../arguments/parse-arguments.ts'

interface Continuation {
  /** The turn has ended: the command needs a prompt for the next one. */
  readonly hasEnded?: boolean
  /** The workspace of the session if it is not this folder, and its data folder if it is not the default. */
  readonly elsewhere?: { readonly workspace: string; readonly dataDir?: string | undefined }
}

/** The command that resumes a session, with the flags of this one. */
export function resumeCommand(invocation: RunInvocation, treeId: string, { hasEnded, elsewhere }: Continuation = {}): string {
  const there = elsewhere ? { ...invocation, ...absolutePaths(invocation, elsewhere) } : invocation
  const { file, dataDir } = there
  const words = flagWords([...(dataDir === undefined ? [] : [{ name: 'data-dir', value: dataDir }]), ...runFlags(there)])
  const command = ['troupe run', typedWord(file), ...(hasEnded ? ['"…"'] : []), '--resume', treeId, ...words].join(' ')
  return elsewhere ? `cd ${typedWord(elsewhere.workspace)} && ${command}` : command
}

/** Absolute paths, for a command in another folder. */
function absolutePaths(
  { file, configFile }: RunInvocation,
  { dataDir }: NonNullable<Continuation['elsewhere']>,
): Pick<RunInvocation, 'file' | 'configFile' | 'dataDir'> {
  return {
    file: resolve(file),
    ...(dataDir !== undefined && { dataDir }),
    ...(configFile !== undefined && { configFile: resolve(configFile) }),
  }
}

/** The flags of a command line that decide how its run works. */
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
