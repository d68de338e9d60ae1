// The one list of commands, arguments and flags. Parsing, help, errors and the reference are made from it.
import type { AgentOptionKey } from '../../agents/index.ts'
import { agentCommands } from './project-command-specs.ts'

export interface FlagSpec {
  readonly name: string
  readonly short?: string
  /** What the value is called in help. Without it the flag is a switch. */
  readonly value?: string
  readonly summary: string
  /** The values that there are, where they can be listed. */
  readonly choices?: readonly string[]
  /** May be given several times; of other flags the last one counts. */
  readonly repeatable?: true
  /** Flags that cannot stand beside this one. */
  readonly excludes?: readonly string[]
  /** The setting of agent files that it says for one run. */
  readonly sets?: AgentOptionKey
}

interface FlagGroup {
  readonly title: string
  readonly flags: readonly FlagSpec[]
}

interface ArgumentSpec {
  readonly name: string
  readonly required: boolean
  readonly summary: string
  /** The words that there are, where they can be listed. */
  readonly choices?: readonly string[]
  /** The last one may be given several times. */
  readonly repeatable?: true
}

interface ExampleSpec {
  readonly line: string
  readonly summary: string
}

export interface CommandSpec {
  readonly name: string
  readonly summary: string
  readonly arguments: readonly ArgumentSpec[]
  readonly groups: readonly FlagGroup[]
  /** Said in full by `troupe help <command>`. */
  readonly notes: readonly string[]
  readonly examples: readonly ExampleSpec[]
}

/** Understood by every command. */
export const commonFlags = [
  { name: 'help', short: 'h', summary: 'show what there is, and end' },
  { name: 'version', short: 'V', summary: 'show the version, and end' },
] as const satisfies readonly FlagSpec[]

export const colourChoices = ['auto', 'always', 'never'] as const
export type ColourChoice = (typeof colourChoices)[number]
const logFormats = ['text', 'json'] as const
export type LogFormat = (typeof logFormats)[number]

/** What goes to standard error. */
const progressFlags: FlagGroup = {
  title: 'Progress, on standard error',
  flags: [
    { name: 'quiet', short: 'q', summary: 'show no progress; errors, and why nothing happens, are still told', excludes: ['verbose'] },
    { name: 'verbose', short: 'v', summary: 'show more: each attempt, arguments and results, where the journal is', excludes: ['quiet'] },
    { name: 'log-format', value: 'FORMAT', choices: logFormats, summary: 'text for people, json for programs (default: text)' },
    { name: 'color', value: 'WHEN', choices: colourChoices, summary: 'auto, always or never; auto heeds NO_COLOR (default: auto)' },
  ],
}

/**
 * Settings with a flag of their own: those of the registry in src/agents that have a `flag`, in its words. A test keeps
 * the two equal; the registry itself is not loaded, since help and mistakes are to be told at once.
 */
const limitFlags: FlagGroup = {
  title: 'Limits of the run',
  flags: [
    {
      name: 'max-steps',
      value: 'COUNT',
      sets: 'limits.maxToolTurns',
      summary: 'steps (model calls) in one turn; one more is held in reserve for a last answer',
    },
    { name: 'max-tokens', value: 'COUNT', sets: 'limits.maxTokens', summary: 'tokens of one turn, in and out' },
    {
      name: 'time-budget',
      value: 'DURATION',
      sets: 'limits.timeBudget',
      summary: 'working time of one turn; waiting for a person does not count',
    },
    {
      name: 'max-cost',
      value: 'USD',
      sets: 'limits.maxCostUsd',
      summary: 'money of one turn in US dollars, children included; every model must have a price then',
    },
  ],
}

export const commands = [
  {
    name: 'run',
    summary: 'run an agent file',
    arguments: [
      { name: 'FILE', required: true, summary: 'the agent, a .ai file or one of another program' },
      { name: 'PROMPT', required: false, summary: 'what it is to do; - reads it from standard input' },
    ],
    groups: [
      {
        title: 'Agent',
        flags: [
          { name: 'model', value: 'NAME', repeatable: true, summary: "ask this model instead of the file's; again for the next to try" },
          {
            name: 'override',
            value: 'KEY=VALUE',
            repeatable: true,
            summary: 'change a setting of the file for this run (see: troupe help agent-file)',
          },
          { name: 'config', value: 'FILE', summary: 'read this configuration before all others' },
          {
            name: 'allow',
            value: 'PATTERN',
            repeatable: true,
            summary: 'do this without asking: a tool, or a use of one, such as "shell(npm test)"',
          },
          { name: 'deny', value: 'PATTERN', repeatable: true, summary: 'never do this' },
          {
            name: 'trust',
            summary: 'trust the files of this project that wait for it, as they are now; with --dry-run for that look only',
          },
          {
            name: 'dry-run',
            summary: 'check everything and show what would run; no model is asked, nothing is started or kept',
            excludes: ['stream-json', 'resume'],
          },
        ],
      },
      limitFlags,
      {
        title: 'Answer, on standard output',
        flags: [
          { name: 'json', summary: 'print one JSON document instead of the answer, also on failure', excludes: ['stream-json'] },
          {
            name: 'stream-json',
            summary: 'print every event as it happens, one JSON document a line',
            excludes: ['dry-run', 'json'],
          },
        ],
      },
      progressFlags,
      {
        title: 'Journal',
        flags: [
          {
            name: 'resume',
            value: 'ID',
            summary: 'resume a session that waits, or whose process is gone; a PROMPT is its next turn',
            excludes: ['dry-run'],
          },
          { name: 'data-dir', value: 'DIR', summary: 'keep it there (default: $XDG_STATE_HOME/troupe, ~/.local/state/troupe)' },
        ],
      },
    ],
    notes: [
      'Standard output is exactly the answer and a newline; everything else goes to standard error. On a terminal the answer is shown without control characters.',
      'What is piped in is added below the prompt, after a blank line. A file or a pipe is read to its end, however long that takes; a socket or a device that says nothing for 3 s is left out, and that is told. A terminal is read only for -.',
      'A flag counts more than the file: --model than its models, --override than any other setting; --max-steps, --max-cost, --max-tokens and --time-budget are the same as --override limits.maxToolTurns, limits.maxCostUsd, limits.maxTokens and limits.timeBudget.',
      'With --resume these flags, and TROUPE_ variables, change the run from there on: its models, limits and parameters, those that are named and no others; what it has used already counts, and later it need not be said again. Whatever else --override names stays as the run began, and is refused where it is said otherwise.',
      'What needs an approval is asked on a terminal, with the exact arguments. Without one the run is suspended with exit code 6; troupe approvals answers it, and troupe run FILE --resume ID goes on with it, in the folder that it was started in. Rules are looked at again then. A rule that denies something counts more than one that allows it, wherever they stand.',
      'Where such a limit is reached the exit code is 5, whether or not there is a partial answer.',
      '--dry-run looks whether a server on this machine that a model needs is there; nothing is sent to any other.',
      'Agents that it calls keep their own settings; --model is also for those of them that name no model. A TROUPE_ variable counts for all.',
      'Ctrl-C ends the turn and keeps what was recorded, and says how to go on with a further one; a second one ends the process at once. With --json and --stream-json the first one still brings the document.',
    ],
    examples: [
      { line: 'troupe run trip.ai "A weekend in Oslo"', summary: 'ask, and see the answer' },
      { line: 'git diff | troupe run review.ai "Look for mistakes"', summary: 'ask about what is piped in' },
      { line: 'troupe run trip.ai --json - < request.txt > outcome.json', summary: 'the prompt from a file, the outcome as JSON' },
      { line: 'troupe run trip.ai "Oslo" --model openai/gpt-5.4-mini --model ollama/qwen3', summary: 'two models, in this order' },
      { line: 'troupe run trip.ai "Oslo" --override limits.maxToolTurns=5 --dry-run', summary: 'what would happen' },
      { line: 'troupe run trip.ai "Oslo" --max-cost 0.50 --time-budget 5m', summary: 'no more than this, children included' },
      { line: 'troupe run fix.ai "Make the tests pass" --allow "shell(npm test)"', summary: 'one command needs no question' },
      { line: 'troupe run trip.ai --help', summary: 'what the agent is, and its settings' },
    ],
  },
  {
    name: 'demo',
    summary: 'show a run that needs no key and no network',
    arguments: [],
    groups: [
      {
        title: 'Answer, on standard output',
        flags: [{ name: 'json', summary: 'print one JSON document instead of the answer' }],
      },
      progressFlags,
    ],
    notes: ['The model is a script: no LLM is asked. The journal is kept in memory.'],
    examples: [{ line: 'troupe demo', summary: 'see it' }],
  },
  ...agentCommands,
  {
    name: 'help',
    summary: 'explain a command, or agent files',
    arguments: [{ name: 'TOPIC', required: false, summary: 'a command, or agent-file' }],
    groups: [],
    notes: [],
    examples: [
      { line: 'troupe help run', summary: 'everything about run' },
      { line: 'troupe help agent-file', summary: 'every setting of an agent file' },
    ],
  },
] as const satisfies readonly CommandSpec[]

export type CommandName = (typeof commands)[number]['name']

/** What `troupe help` explains besides commands. */
export const agentFileTopic = 'agent-file'

export function findCommand(name: string): CommandSpec | undefined {
  return commands.find((command) => command.name === name)
}

/** Its own flags, then those that every command understands. */
export function flagsOf({ groups }: CommandSpec): readonly FlagSpec[] {
  return [...groups.flatMap((group): readonly FlagSpec[] => group.flags), ...commonFlags]
}

export function usageOf(command: CommandSpec): string {
  const flags = command.groups.length > 0 ? ['[options]'] : []
  return ['troupe', signatureOf(command), ...flags].join(' ')
}

/** Its name and its arguments: `run FILE [PROMPT]`. */
export function signatureOf({ name, arguments: taken }: CommandSpec): string {
  const names = taken.map((argument) => {
    const word = argument.choices?.join('|') ?? `${argument.name}${argument.repeatable ? ' ...' : ''}`
    return argument.required ? word : `[${word}]`
  })
  return [name, ...names].join(' ')
}
