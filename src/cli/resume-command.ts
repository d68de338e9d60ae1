import type { WrittenOverrides } from '../agents/index.ts'
import { shellWord } from '../util/shell-word.ts'
import type { RunInvocation } from './parse-arguments.ts'

/** The command that goes on with a run that waits, with all that this one was told besides. */
export function resumeCommand({ file, dataDir, configFile, overrides, allow, deny }: RunInvocation, treeId: string): string {
  const words = [
    ...flags('--data-dir', dataDir === undefined ? [] : [dataDir]),
    ...flags('--config', configFile === undefined ? [] : [configFile]),
    ...overrideFlags(overrides),
    ...flags('--allow', allow),
    ...flags('--deny', deny),
  ]
  return ['troupe run', shellWord(file), '--resume', treeId, ...words].join(' ')
}

const overrideFlags = ({ models = [], settings, flags: limits = [] }: WrittenOverrides): readonly string[] => [
  ...flags('--model', models),
  ...flags('--override', settings),
  ...limits.flatMap(({ name, value }) => flags(`--${name}`, [value])),
]

const flags = (name: string, values: readonly string[]): readonly string[] => values.map((value) => `${name} ${shellWord(value)}`)
