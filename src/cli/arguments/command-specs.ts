// The one list of commands, arguments and flags. Parsing, help, errors and the reference are made from it.
import { type LimitSpec, limitNames, limitTable } from '../../contracts/index.ts'
import type { AgentOptionKey } from '../../project/index.ts'
import { capitalize } from '../../util/capitalize.ts'
import { colourChoices, logFormats } from '../terminal/display-options.ts'
import { chatCommandSpec } from './chat-command-spec.ts'
import { kernelCommands } from './kernel-command-specs.ts'
import { projectCommands } from './project-command-specs.ts'
import { serveCommands } from './serve-command-specs.ts'
import { store } from './shared-flags.ts'

export interface FlagSpec {
  readonly name: string
  readonly short?: string
  /** Placeholder of the value in help. Without it the flag is a switch. */
  readonly value?: string
  readonly summary: string
  /** The allowed values, where they can be listed. */
  readonly choices?: readonly string[]
  /** May be given several times. For other flags the last one applies. */
  readonly repeatable?: true
  /** Flags that cannot be combined with this one. */
  readonly excludes?: readonly string[]
  /** The flag that this one is a detail of. */
  readonly needs?: string
  /** The agent setting that the flag changes for one run. */
  readonly sets?: AgentOptionKey
  /** What shells complete its value with, besides the choices. */
  readonly completes?: CompletedName
}

/** `agent`: its file. `waiting-session`: it has open requests. The names, other than files and folders, come from `troupe __complete`. */
export type CompletedName = 'file' | 'folder' | ListedName
export const listedNames = ['agent', 'agent-name', 'session', 'waiting-session', 'model', 'extension'] as const
export type ListedName = (typeof listedNames)[number]

interface FlagGroup {
  readonly title: string
  readonly flags: readonly FlagSpec[]
}

interface ArgumentSpec {
  readonly name: string
  readonly required: boolean
  readonly summary: string
  /** The allowed words, where they can be listed. */
  readonly choices?: readonly string[]
  /** The last one may be given several times. */
  readonly repeatable?: true
  /** What shells complete it with, besides the choices. With actions: only after those that take one such name, or several. */
  readonly completes?: {
    readonly name: CompletedName
    readonly actions?: { readonly one?: readonly string[]; readonly several?: readonly string[] }
  }
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
  /** Printed by `troupe help COMMAND`. */
  readonly notes: readonly string[]
  readonly examples: readonly ExampleSpec[]
}

/** Flags of every command. */
export const commonFlags = [
  { name: 'help', short: 'h', summary: 'Show help and exit' },
  { name: 'version', short: 'V', summary: 'Show the version and exit' },
] as const satisfies readonly FlagSpec[]

const progressFlags: FlagGroup = {
  title: 'Progress (standard error)',
  flags: [
    { name: 'quiet', short: 'q', summary: 'Show errors and warnings only', excludes: ['verbose'] },
    { name: 'verbose', short: 'v', summary: 'Show attempts, arguments, results and where the journal is', excludes: ['quiet'] },
    { name: 'log-format', value: 'FORMAT', choices: logFormats, summary: 'Log format: text or json (default: text)' },
    { name: 'color', value: 'WHEN', choices: colourChoices, summary: 'Colour: auto, always or never; auto respects NO_COLOR' },
  ],
}

/** Limits with a flag of their own. */
const limitFlags: FlagGroup = {
  title: 'Limits',
  flags: limitNames.flatMap((name) => {
    const { flag, summary }: LimitSpec = limitTable[name]
    return flag ? [{ ...flag, sets: `limits.${name}`, summary: capitalize(summary) }] : []
  }),
}

export const completedShells = ['bash', 'zsh', 'fish'] as const
export type CompletedShell = (typeof completedShells)[number]

export const commands = [
  {
    name: 'run',
    summary: 'Run an agent file',
    arguments: [
      { name: 'FILE', required: true, summary: 'Agent file: .ai, or a file of another program', completes: { name: 'agent' } },
      { name: 'PROMPT', required: false, summary: 'Task for the agent; - reads it from standard input' },
    ],
    groups: [
      {
        title: 'Agent',
        flags: [
          {
            name: 'model',
            value: 'NAME',
            repeatable: true,
            summary: "Use this model instead of the file's; repeat for fallbacks",
            completes: 'model',
          },
          {
            name: 'override',
            value: 'KEY=VALUE',
            repeatable: true,
            summary: 'Change a setting for this run (see: troupe help agent-file)',
          },
          { name: 'config', value: 'FILE', summary: 'Read this configuration file first', completes: 'file' },
          {
            name: 'prompt',
            value: 'SERVER/NAME',
            summary: 'Use a prompt of an MCP server; PROMPT is added below it',
            excludes: ['resume'],
          },
          { name: 'prompt-arg', value: 'KEY=VALUE', repeatable: true, summary: 'An argument of the prompt of --prompt' },
          {
            name: 'allow',
            value: 'PATTERN',
            repeatable: true,
            summary: 'Run matching calls without asking, such as "shell(npm test)"',
          },
          { name: 'deny', value: 'PATTERN', repeatable: true, summary: 'Never run matching calls' },
          {
            name: 'trust',
            summary: "Trust this project's files in their current form",
          },
          { name: 'strict', summary: 'Fail on every denial (6), missing optional tool and warning (2)' },
          {
            name: 'dry-run',
            summary: 'Check everything and show what would run; call no model',
            excludes: ['stream-json', 'resume'],
          },
        ],
      },
      limitFlags,
      {
        title: 'Answer (standard output)',
        flags: [
          { name: 'json', summary: 'Print one JSON document instead of the answer, even on failure', excludes: ['stream-json'] },
          {
            name: 'stream-json',
            summary: 'Print every event as one line of JSON',
            excludes: ['dry-run', 'json'],
          },
        ],
      },
      progressFlags,
      {
        title: 'Session',
        flags: [
          {
            name: 'resume',
            value: 'ID',
            summary: 'Resume a session; PROMPT starts its next turn',
            completes: 'session',
            excludes: ['dry-run', 'prompt'],
          },
          {
            name: 'data-dir',
            value: 'DIR',
            summary: 'Store journals in DIR (default: ~/.local/state/troupe)',
            excludes: ['store'],
            completes: 'folder',
          },
          store,
        ],
      },
    ],
    notes: [
      'Standard output contains the answer and a newline, nothing else. On a terminal, control characters are removed from the answer.',
      'Piped input is added below the prompt, after a blank line. Files and pipes are read to their end. A socket or device that sends nothing for 3 s is skipped with a warning. The prompt is read from a terminal only if PROMPT is -.',
      'Flags override the agent file. --max-steps, --max-tokens, --max-cost and --time-budget are short forms of --override limits.maxToolTurns, limits.maxTokens, limits.maxCostUsd and limits.timeBudget. When a limit is reached the exit code is 5, with or without a partial answer.',
      'Child agents keep their own settings; --model applies to those that name no model. A TROUPE_ variable applies to all agents.',
      '--resume: flags and TROUPE_ variables may change models, limits and parameters from the next step on. Earlier usage still counts towards the limits. Other settings are refused if they differ from those of the session. Resume in the folder where the session started.',
      'Approvals: a terminal asks and shows the exact arguments. Without a terminal the run is suspended with exit code 6: answer with troupe approvals, then continue with troupe run FILE --resume ID. With approvals.onUnavailable: deny, calls are denied instead, and the exit code is 6 even if the agent then answers. A rule that denies a call always wins over a rule that allows it.',
      'A denial by a person or a rule, after which the agent answers, leaves the exit code 0: --json lists it in denials. --strict, for CI, fails on every denial (6) and warning (2); warnings from before the start prevent it.',
      '--trust with --dry-run trusts the files for this check only. --dry-run tests whether local model servers respond; it sends nothing to other hosts.',
      'Ctrl-C ends the turn, keeps the journal and prints how to continue. A second Ctrl-C ends the process immediately. With --json or --stream-json the first Ctrl-C still prints the document.',
    ],
    examples: [
      { line: 'troupe run trip.ai "A weekend in Oslo"', summary: 'run an agent' },
      { line: 'git diff | troupe run review.ai "Look for mistakes"', summary: 'add piped input to the prompt' },
      { line: 'troupe run trip.ai --json - < request.txt > outcome.json', summary: 'read the prompt from a file, write JSON' },
      { line: 'troupe run trip.ai "Oslo" --model openai/gpt-5.4-mini --model ollama/qwen3', summary: 'use a model and a fallback' },
      { line: 'troupe run trip.ai "Oslo" --override limits.maxToolTurns=5 --dry-run', summary: 'show what would run' },
      { line: 'troupe run trip.ai "Oslo" --max-cost 0.50 --time-budget 5m', summary: 'limit cost and time, child agents included' },
      { line: 'troupe run fix.ai "Make the tests pass" --allow "shell(npm test)"', summary: 'allow one command without asking' },
      { line: 'troupe run review.ai --prompt github/review --prompt-arg number=7', summary: 'start with a prompt of an MCP server' },
      { line: 'troupe run trip.ai --help', summary: 'show the agent and its settings' },
    ],
  },
  chatCommandSpec,
  {
    name: 'demo',
    summary: 'Watch a team fix a test, in the terminal or the web chat, without a key',
    arguments: [],
    groups: [
      {
        title: 'Web chat',
        flags: [
          { name: 'web', summary: 'Serve the web chat with three things to try, until Ctrl-C', excludes: ['json'] },
          { name: 'port', value: 'PORT', summary: 'Listen at this port (default: 3900, or the next free one)', needs: 'web' },
          { name: 'no-open', summary: 'Do not open the browser', needs: 'web' },
          {
            name: 'data-dir',
            value: 'DIR',
            summary: 'Store files and sessions in DIR (default: ~/.local/state/troupe-demo)',
            completes: 'folder',
            needs: 'web',
          },
        ],
      },
      {
        title: 'Answer (standard output)',
        flags: [{ name: 'json', summary: 'Print one JSON document instead of the answer', excludes: ['web'] }],
      },
      progressFlags,
    ],
    notes: [
      'Without --web: answers are recorded; no provider is called. Files, tests and the change are real, in a temporary folder. Without a terminal, the change is approved and there are no pauses.',
      'With --web: the answers are recorded, until a model is chosen. A second process restarts the server when it is killed. Keys in the environment and servers such as Ollama on this machine are found, and the page offers their models. The browser is opened at a terminal, unless CI or BROWSER=none is set.',
    ],
    examples: [
      { line: 'troupe demo', summary: 'watch a team fix a test' },
      { line: 'troupe demo --web', summary: 'open the web chat' },
    ],
  },
  ...serveCommands,
  ...kernelCommands,
  ...projectCommands,
  {
    name: 'completion',
    summary: 'Print a script that completes commands in a shell',
    arguments: [{ name: 'SHELL', required: true, choices: completedShells, summary: 'The shell: bash, zsh or fish' }],
    groups: [],
    notes: [
      'bash 4.4 or newer: add this line to ~/.bashrc: eval "$(troupe completion bash)"',
      'zsh: add this line to ~/.zshrc: eval "$(troupe completion zsh)"',
      'fish: add this line to ~/.config/fish/config.fish: troupe completion fish | source',
      'Completes commands, actions, flags and their values, files, agents, sessions, models and extensions. Names come from the troupe in PATH. It runs nothing of the project and writes nothing.',
    ],
    examples: [
      { line: 'eval "$(troupe completion bash)"', summary: 'complete in this bash' },
      { line: 'eval "$(troupe completion zsh)"', summary: 'complete in this zsh' },
      { line: 'troupe completion fish | source', summary: 'complete in this fish' },
    ],
  },
  {
    name: 'help',
    summary: 'Show help for a command or for agent files',
    arguments: [{ name: 'TOPIC', required: false, summary: 'Command name, or agent-file' }],
    groups: [],
    notes: [],
    examples: [
      { line: 'troupe help run', summary: 'all options of run' },
      { line: 'troupe help agent-file', summary: 'all settings of an agent file' },
    ],
  },
] as const satisfies readonly CommandSpec[]

export type CommandName = (typeof commands)[number]['name']

/** Not in the list, because people do not type it: `troupe __complete NAME [DATA_DIR]`. */
export const candidatesCommand = '__complete'

/** Help topic besides the commands. */
export const agentFileTopic = 'agent-file'

export function findCommand(name: string): CommandSpec | undefined {
  return commands.find((command) => command.name === name)
}

/** The flags of a command, then those of every command. */
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
