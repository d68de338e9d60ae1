// The one list of commands, arguments and flags. Parsing, help and errors are made from it.

export interface FlagSpec {
  readonly name: string
  readonly short?: string
  /** What the value is called in help. Without it the flag is a switch. */
  readonly value?: string
  readonly summary: string
  /** Flags that cannot stand beside this one. */
  readonly excludes?: readonly string[]
}

export interface ArgumentSpec {
  readonly name: string
  readonly required: boolean
  readonly summary: string
}

export interface CommandSpec {
  readonly name: string
  readonly summary: string
  readonly arguments: readonly ArgumentSpec[]
  readonly flags: readonly FlagSpec[]
  /** Said in full by `troupe help <command>`. */
  readonly notes: readonly string[]
  readonly examples: readonly string[]
}

/** Understood by every command. */
export const commonFlags = [
  { name: 'help', short: 'h', summary: 'show what there is, and end' },
  { name: 'version', short: 'V', summary: 'show the version, and end' },
] as const satisfies readonly FlagSpec[]

export const commands = [
  {
    name: 'run',
    summary: 'run an agent file',
    arguments: [
      { name: 'FILE', required: true, summary: 'the agent, a .ai file' },
      { name: 'PROMPT', required: false, summary: 'what it is to do; - reads it from standard input' },
    ],
    flags: [
      { name: 'json', summary: 'print one JSON document instead of the answer, also on failure', excludes: ['stream-json'] },
      { name: 'stream-json', summary: 'print every event as it happens, one JSON document a line', excludes: ['json'] },
      { name: 'quiet', short: 'q', summary: 'show no progress' },
      { name: 'data-dir', value: 'DIR', summary: 'keep the journal there (default: $XDG_STATE_HOME/troupe, ~/.local/state/troupe)' },
    ],
    notes: [
      'Standard output is exactly the answer; everything else goes to standard error.',
      'What is piped in is added below the prompt, after a blank line.',
    ],
    examples: [
      'troupe run trip.ai "A weekend in Oslo"',
      'git diff | troupe run review.ai "Look for mistakes"',
      'troupe run trip.ai --json - < request.txt',
    ],
  },
  {
    name: 'demo',
    summary: 'show a run that needs no key and no network',
    arguments: [],
    flags: [],
    notes: ['The model is a script: no LLM is asked. The journal is kept in memory.'],
    examples: ['troupe demo'],
  },
  {
    name: 'help',
    summary: 'explain a command',
    arguments: [{ name: 'COMMAND', required: false, summary: 'the command to explain' }],
    flags: [],
    notes: [],
    examples: ['troupe help run'],
  },
] as const satisfies readonly CommandSpec[]

export type CommandName = (typeof commands)[number]['name']

export function findCommand(name: string): CommandSpec | undefined {
  return commands.find((command) => command.name === name)
}

export function usageOf(command: CommandSpec): string {
  const flags = command.flags.length > 0 ? ['[options]'] : []
  const names = command.arguments.map(({ name, required }) => (required ? name : `[${name}]`))
  return ['troupe', command.name, ...names, ...flags].join(' ')
}
