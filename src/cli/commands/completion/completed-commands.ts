// The command table as completion needs it: what can be typed at each place.
import {
  agentFileTopic,
  type CommandSpec,
  type CompletedName,
  commands,
  type FlagSpec,
  flagsOf,
  type ListedName,
} from '../../arguments/command-specs.ts'

/** What can be typed at a place. Empty: any text. */
export interface Offer {
  readonly words: readonly string[]
  /** Names that `troupe __complete` knows. */
  readonly names?: ListedName
  readonly paths?: 'files' | 'folders'
}
export interface CompletedFlag extends Pick<FlagSpec, 'name' | 'short' | 'summary' | 'repeatable' | 'excludes'> {
  /** Absent for a switch. */
  readonly value?: Offer & { readonly placeholder: string }
}
export interface CompletedArgument extends Offer {
  readonly placeholder: string
  /** From 1. */
  readonly position: number
  /** Also at all later positions. */
  readonly isRepeated: boolean
  /** Only after one of these words at the first position. */
  readonly actions?: readonly string[]
}
export interface CompletedCommand {
  readonly name: string
  readonly summary: string
  readonly flags: readonly CompletedFlag[]
  readonly arguments: readonly CompletedArgument[]
}

/** `models`: the names that are known without looking into the project. */
export function completedCommands(models: readonly string[]): readonly CompletedCommand[] {
  return commands.map((command: CommandSpec) => ({
    name: command.name,
    summary: command.summary,
    flags: flagsOf(command).map((flag) => completedFlag(flag, models)),
    arguments: command.arguments.flatMap((argument, index) => completedArguments(command, argument, index + 1)),
  }))
}

function completedFlag({ value, choices = [], completes, ...flag }: FlagSpec, models: readonly string[]): CompletedFlag {
  if (value === undefined) return flag
  return { ...flag, value: { placeholder: value, words: completes === 'model' ? models : choices, ...offerOf(completes) } }
}

function completedArguments(
  command: CommandSpec,
  { name: placeholder, choices = [], completes, repeatable }: CommandSpec['arguments'][number],
  position: number,
): readonly CompletedArgument[] {
  const words = command.name === 'help' ? [...commands.map(({ name }) => name), agentFileTopic] : choices
  const offer = { placeholder, position, words, ...offerOf(completes?.name) }
  if (!completes?.actions) return [{ ...offer, isRepeated: repeatable === true }]
  const { one = [], several = [] } = completes.actions
  return [
    { ...offer, actions: one, isRepeated: false },
    { ...offer, actions: several, isRepeated: true },
  ]
}

function offerOf(name: CompletedName | undefined): Pick<Offer, 'names' | 'paths'> {
  switch (name) {
    case undefined:
      return {}
    case 'file':
      return { paths: 'files' }
    case 'folder':
      return { paths: 'folders' }
    case 'agent':
      return { names: name, paths: 'files' }
    default:
      return { names: name }
  }
}

/** A text in single quotes, in which bash and zsh expand nothing. */
export const quoted = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`
