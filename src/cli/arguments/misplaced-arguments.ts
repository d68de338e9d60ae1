import type { Problem } from '../../contracts/index.ts'
import type { AgentOptionKey } from '../../project/index.ts'
import { shellWord } from '../../util/shell-word.ts'
import { type CommandSpec, flagsOf } from './command-specs.ts'

// Common mistakes: a missing command, and flags of other programs.

/** `troupe trip x` where there is a `trip.ai`. */
export function agentNameAsCommand([first = '', ...rest]: readonly string[], isFile: (path: string) => boolean): Problem | undefined {
  const file = `${first}.ai`
  if (first === '' || !isFile(file)) return undefined
  const prompt = rest.length > 0 ? ` ${shellWord(rest.join(' '))}` : ''
  return { place: first, message: 'Unknown command.', remedy: `Run the agent: troupe run ${shellWord(file)}${prompt}` }
}

/** An argument after an unknown flag is probably its value and is not reported again. */
export function dropFlagValues(rest: readonly string[], command: CommandSpec, flags: readonly FlagArgument[]): readonly string[] {
  const known = flagsOf(command)
  const unknown = flags.filter(({ name, inline }) => !inline && !known.some((flag) => flag.name === name)).length
  const expected = command.arguments.length
  return rest.length <= expected + unknown ? rest.slice(0, expected) : rest
}

interface FlagArgument {
  readonly name: string
  readonly inline: boolean
}

/** Names of our flags in other programs. */
const flagsElsewhere: { readonly [written: string]: string } = { '--max-turns': '--max-steps', '--max-iterations': '--max-steps' }

/** Flags of other programs for agent settings. */
const settingsElsewhere: { readonly [written: string]: AgentOptionKey } = {
  '--temperature': 'parameters.temperature',
  '--top-p': 'parameters.topP',
  '--seed': 'parameters.seed',
  '--reasoning': 'parameters.reasoning',
  '--max-output-tokens': 'parameters.maxOutputTokens',
  '--tools': 'tools',
}

/** The remedy for a flag of another program. */
export function flagOfOtherPrograms(written: string): string | undefined {
  if (Object.hasOwn(flagsElsewhere, written)) return `Write ${flagsElsewhere[written]}.`
  const key = Object.hasOwn(settingsElsewhere, written) ? settingsElsewhere[written] : undefined
  return key && `Write --override ${key}=VALUE, or set \`${key}\` in the agent file.`
}
