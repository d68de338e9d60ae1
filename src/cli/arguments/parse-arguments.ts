import { parseArgs } from 'node:util'
import { type Problem, TroupeError } from '../../contracts/index.ts'
import type { OverrideArguments } from '../../project/index.ts'
import { suggestion } from '../../util/nearest-names.ts'
import { colourChoices, type DisplayOptions, type OutputForm } from '../terminal/display-options.ts'
import { type ChatInvocation, chatInvocation } from './chat-invocation.ts'
import {
  agentFileTopic,
  type CommandName,
  type CommandSpec,
  type CompletedShell,
  candidatesCommand,
  commands,
  completedShells,
  type FlagSpec,
  findCommand,
  flagsOf,
  usageOf,
} from './command-specs.ts'
import { type KernelInvocation, kernelInvocation } from './kernel-invocations.ts'
import { agentNameAsCommand, dropFlagValues, flagOfOtherPrograms } from './misplaced-arguments.ts'
import { type ProjectArguments, type ProjectInvocation, projectInvocation } from './project-invocations.ts'
import {
  type AuditInvocation,
  type ServeInvocation,
  serveInvocation,
  type TokenInvocation,
  type UpInvocation,
  type WebhooksInvocation,
} from './serve-invocations.ts'

export interface RunInvocation {
  readonly kind: 'run'
  readonly file: string
  /** `-` is standard input. */
  readonly prompt?: string | undefined
  readonly output: OutputForm
  readonly display: DisplayOptions
  /** Settings that override those of the file. */
  readonly overrides: OverrideArguments
  readonly dryRun: boolean
  readonly dataDir?: string | undefined
  /** The file of `--config`. */
  readonly configFile?: string | undefined
  /** Whether `--trust` was given. */
  readonly isTrusted: boolean
  /** Whether denials and warnings are failures. */
  readonly isStrict?: boolean
  /** Patterns of `--allow` and `--deny`. */
  readonly allow: readonly string[]
  readonly deny: readonly string[]
  /** The session to resume. */
  readonly resume?: string | undefined
  /** A prompt of an MCP server, `server/name`, with its arguments `key=value`. */
  readonly serverPrompt?: { readonly name: string; readonly args: readonly string[] } | undefined
}
export interface DemoInvocation {
  readonly kind: 'demo'
  readonly output: Exclude<OutputForm, 'stream-json'>
  readonly display: DisplayOptions
  /** Values are as written. */
  readonly web?: { readonly port: string | undefined; readonly dataDir: string | undefined; readonly opens: boolean }
}
/** A command, agent files in general, or one agent file with overridden settings. */
export type HelpTopic =
  | { readonly kind: 'command'; readonly command: CommandSpec }
  | { readonly kind: 'agent-file' }
  | {
      readonly kind: 'agent'
      readonly file: string
      readonly overrides: OverrideArguments
      readonly configFile?: string | undefined
    }
export type Invocation =
  | RunInvocation
  | ChatInvocation
  | DemoInvocation
  | ProjectInvocation
  | ServeInvocation
  | UpInvocation
  | TokenInvocation
  | AuditInvocation
  | WebhooksInvocation
  | KernelInvocation
  | { readonly kind: 'help'; readonly about?: HelpTopic }
  /** No arguments. */
  | { readonly kind: 'nothing' }
  | { readonly kind: 'version' }
  | { readonly kind: 'completion'; readonly shell: CompletedShell }
  /** Of the scripts that `completion` prints. */
  | { readonly kind: 'candidates'; readonly name: string; readonly dataDir: string | undefined }

type ParsedArguments =
  /** `store`: the value of `--store`. Commands read it as `TROUPE_STORE`. */
  | { readonly ok: true; readonly invocation: Invocation; readonly store?: string }
  | {
      readonly ok: false
      readonly error: TroupeError
      readonly output: OutputForm
      readonly display: DisplayOptions
      /** Not checked yet; they may have errors, too. */
      readonly overrides: OverrideArguments
    }

/** A tokenized command line, not checked. */
interface ParsedLine {
  readonly positionals: readonly string[]
  readonly flags: readonly FlagArgument[]
}
interface FlagArgument {
  readonly name: string
  readonly written: string
  readonly value: string | undefined
  readonly inline: boolean
}

/** Parses a command line, or returns all its errors. */
export function parseArguments(argv: readonly string[], isFile: (path: string) => boolean = () => false): ParsedArguments {
  if (argv.length === 0) return { ok: true, invocation: { kind: 'nothing' } }
  if (argv[0] === candidatesCommand)
    return { ok: true, invocation: { kind: 'candidates', name: argv[1] ?? '', dataDir: argv[2] || undefined } }
  const line = tokenize(argv)
  const { command, rest } = commandOf(line.positionals)
  if (has(line, 'version')) return { ok: true, invocation: { kind: 'version' } }
  if (has(line, 'help')) return { ok: true, invocation: { kind: 'help', ...(command && { about: helpOn(command, rest, line) }) } }

  const problems = command
    ? [...flagProblems(command, line), ...argumentProblems(command, dropFlagValues(rest, command, line.flags))]
    : [...unknownFlags(line), agentNameAsCommand(line.positionals, isFile) ?? commandProblem(line.positionals[0])]
  if (!command || problems.length > 0) {
    return {
      ok: false,
      error: renamedError(line) ?? problemsError(problems, command),
      output: outputOf(line),
      display: displayOptionsOf(line),
      // Other commands have flags with the same names.
      overrides: command && command.name !== 'run' ? { settings: [], models: [] } : withValues(overridesOf(line)),
    }
  }
  const store = lastValue(line, 'store')
  return { ok: true, invocation: invocationOf(command.name as CommandName, rest, line), ...(store !== undefined && { store }) }
}

function problemsError(problems: readonly Problem[], command: CommandSpec | undefined): TroupeError {
  const count = problems.length === 1 ? 'The command line is invalid.' : `The command line has ${problems.length} errors.`
  const remedy = command ? `Usage: ${usageOf(command)}. More: troupe help ${command.name}` : seeHelp
  return new TroupeError('usage', count, { remedy, problems })
}

/** The error for the old name of a command. */
function renamedError({ positionals }: ParsedLine): TroupeError | undefined {
  const [first = ''] = positionals
  const name = renamedCommands.get(first)
  return name === undefined ? undefined : new TroupeError('usage', `The command is troupe ${name}, not troupe ${first}.`)
}
const renamedCommands: ReadonlyMap<string, CommandName> = new Map([['runs', 'sessions']])

function invocationOf(name: CommandName, rest: readonly string[], line: ParsedLine): Invocation {
  switch (name) {
    case 'run': {
      const [file = '', prompt] = rest
      return {
        kind: 'run',
        file,
        prompt,
        output: outputOf(line),
        display: displayOptionsOf(line),
        overrides: overridesOf(line),
        dryRun: has(line, 'dry-run'),
        dataDir: lastValue(line, 'data-dir'),
        configFile: lastValue(line, 'config'),
        isTrusted: has(line, 'trust'),
        ...(has(line, 'strict') && { isStrict: true }),
        allow: rulesOf(line, 'allow'),
        deny: rulesOf(line, 'deny'),
        resume: lastValue(line, 'resume'),
        serverPrompt: serverPromptOf(line),
      }
    }
    case 'demo':
      return {
        kind: 'demo',
        output: has(line, 'json') ? 'json' : 'answer',
        display: displayOptionsOf(line),
        ...(has(line, 'web') && {
          web: { port: lastValue(line, 'port'), dataDir: lastValue(line, 'data-dir'), opens: !has(line, 'no-open') },
        }),
      }
    case 'help': {
      const [topic] = rest
      if (topic === agentFileTopic) return { kind: 'help', about: { kind: agentFileTopic } }
      const command = findCommand(topic ?? '')
      return { kind: 'help', ...(command && { about: { kind: 'command', command } }) }
    }
    case 'completion':
      return { kind: name, shell: completedShells.find((shell) => shell === rest[0]) ?? 'bash' }
    case 'chat':
      return chatInvocation(argumentsOf(rest, line))
    case 'serve':
    case 'up':
    case 'token':
    case 'audit':
    case 'webhooks':
      return serveInvocation(name, argumentsOf(rest, line))
    case 'events':
    case 'extensions':
    case 'schedules':
      return kernelInvocation(name, argumentsOf(rest, line))
    default:
      return projectInvocation(name, argumentsOf(rest, line))
  }
}

const argumentsOf = (rest: readonly string[], line: ParsedLine): ProjectArguments => ({
  rest,
  display: displayOptionsOf(line),
  has: (flag) => has(line, flag),
  flagValue: (flag) => lastValue(line, flag),
  flagValues: (flag) => valuesOf(line, flag),
})

function serverPromptOf(line: ParsedLine): RunInvocation['serverPrompt'] {
  const name = lastValue(line, 'prompt')
  return name === undefined ? undefined : { name, args: valuesOf(line, 'prompt-arg') }
}

/** `run FILE --help` is about that agent. */
function helpOn(command: CommandSpec, [file]: readonly string[], line: ParsedLine): HelpTopic {
  if (command.name !== 'run' || file === undefined || file === '') return { kind: 'command', command }
  return { kind: 'agent', file, overrides: overridesOf(line), configFile: lastValue(line, 'config') }
}

function overridesOf(line: ParsedLine): Required<OverrideArguments> {
  const settingFlags = new Set(allFlags().flatMap(({ name, sets }) => (sets === undefined ? [] : [name])))
  return {
    settings: valuesOf(line, 'override'),
    models: valuesOf(line, 'model'),
    flags: line.flags.flatMap(({ name, value }) => (value !== undefined && settingFlags.has(name) ? [{ name, value }] : [])),
  }
}

/** Without those that lack a value, which is reported already. */
function withValues({ settings, flags }: Required<OverrideArguments>): OverrideArguments {
  const isValue = (value: string): boolean => value !== '' && !value.startsWith('-')
  return { settings: settings.filter(isValue), flags: flags.filter(({ value }) => isValue(value)) }
}

function outputOf(line: ParsedLine): OutputForm {
  return (['json', 'stream-json'] as const).find((name) => has(line, name)) ?? 'answer'
}

function displayOptionsOf(line: ParsedLine): DisplayOptions {
  const color = lastValue(line, 'color')
  return {
    detail: has(line, 'quiet') ? 'quiet' : has(line, 'verbose') ? 'verbose' : 'normal',
    logFormat: lastValue(line, 'log-format') === 'json' ? 'json' : 'text',
    color: colourChoices.find((choice) => choice === color) ?? 'auto',
  }
}

const has = ({ flags }: ParsedLine, name: string): boolean => flags.some((flag) => flag.name === name)

/** Spaces around a pattern are ignored, as in agent files and configuration. */
const rulesOf = (line: ParsedLine, name: 'allow' | 'deny'): readonly string[] => valuesOf(line, name).map((rule) => rule.trim())

function valuesOf({ flags }: ParsedLine, name: string): readonly string[] {
  return flags.flatMap((flag) => (flag.name === name && flag.value !== undefined ? [flag.value] : []))
}

const lastValue = (line: ParsedLine, name: string): string | undefined => valuesOf(line, name).at(-1)

function tokenize(argv: readonly string[]): ParsedLine {
  const { command } = commandOf(argv.filter((word) => !word.startsWith('-')))
  // Another command may have a flag of the same name with a value, such as --connect.
  const known = new Map<string, FlagSpec>([...allFlags(), ...(command ? flagsOf(command) : [])].map((flag) => [flag.name, flag]))
  const options = Object.fromEntries(
    [...known.values()].map(({ name, short, value }) => [
      name,
      { type: value === undefined ? ('boolean' as const) : ('string' as const), ...(short !== undefined && { short }) },
    ]),
  )
  const { tokens } = parseArgs({ args: [...argv], options, strict: false, allowPositionals: true, tokens: true })
  const positionals: string[] = []
  const flags: FlagArgument[] = []
  for (const token of tokens) {
    if (token.kind === 'positional') positionals.push(token.value)
    if (token.kind === 'option')
      flags.push({ name: token.name, written: token.rawName, value: token.value, inline: token.inlineValue === true })
  }
  return { positionals, flags }
}

/** An agent file instead of a command is run, so that `#!/usr/bin/env troupe` works. */
function commandOf(positionals: readonly string[]): { readonly command: CommandSpec | undefined; readonly rest: readonly string[] } {
  const [first, ...rest] = positionals
  if (first === undefined) return { command: undefined, rest: [] }
  if (first.endsWith('.ai')) return { command: findCommand('run'), rest: positionals }
  return { command: findCommand(first), rest }
}

function commandProblem(first: string | undefined, more: readonly string[] = []): Problem {
  if (first === undefined) return { place: 'troupe', message: 'The command is missing.', remedy: 'Try: troupe demo' }
  const known = [...commands.map(({ name }) => name), ...more]
  const message = more.length > 0 ? 'Unknown help topic.' : 'Unknown command.'
  return { place: first, message, remedy: suggestion(first, known) ?? seeHelp }
}

function flagProblems(command: CommandSpec, { flags }: ParsedLine): readonly Problem[] {
  const known = flagsOf(command)
  const problems = new Map<string, Problem>()
  for (const flag of flags) {
    const found = known.find(({ name }) => name === flag.name)
    const clash = found?.excludes?.find((other) => flags.some(({ name }) => name === other))
    const problem = found
      ? valueProblem(found, flag)
      : { message: `The command ${command.name} has no such flag.`, remedy: flagRemedy(flag.written, command) }
    const report = (problem: Omit<Problem, 'place'>): void =>
      void problems.set(`${flag.written} ${problem.message}`, { place: flag.written, ...problem })
    const { needs } = found ?? {}
    if (problem) report(problem)
    else if (needs !== undefined && !flags.some(({ name }) => name === needs))
      report({ message: `Has no effect without --${needs}.`, remedy: `Add --${needs}, or remove it.` })
    // Two flags that exclude each other are reported once.
    else if (clash !== undefined && flag.name < clash)
      report({ message: `Cannot be combined with --${clash}.`, remedy: 'Remove one of them.' })
  }
  return [...problems.values()]
}

function valueProblem({ name, value: wanted, choices }: FlagSpec, { value, inline }: FlagArgument): Omit<Problem, 'place'> | undefined {
  if (wanted === undefined) return inline ? { message: 'This flag takes no value.', remedy: `Write --${name}.` } : undefined
  if (value === undefined || value === '' || (!inline && value.startsWith('-') && value !== '-'))
    return { message: 'This flag needs a value.', remedy: choices ? useOne(name, choices) : `Write --${name}=${wanted}.` }
  if (choices && !choices.includes(value)) return { message: `Unknown value ${JSON.stringify(value)}.`, remedy: useOne(name, choices) }
  return undefined
}

/** Without a valid command, only flags that no command has are errors. */
function unknownFlags({ flags }: ParsedLine): readonly Problem[] {
  const known = allFlags()
  return flags
    .filter(({ name }) => !known.some((flag) => flag.name === name))
    .map(({ written }) => ({ place: written, message: 'Unknown flag.', remedy: similarFlag(written, known) }))
}

function similarFlag(written: string, known: readonly FlagSpec[]): string {
  const names = known.map(({ name }) => `--${name}`)
  return suggestion(written, names) ?? seeHelp
}

function flagRemedy(written: string, command: CommandSpec): string {
  const known = command.name === 'run' ? flagOfOtherPrograms(written) : undefined
  if (known !== undefined) return known
  const takesPrompt = command.arguments.some(({ name }) => name === 'PROMPT')
  return [
    similarFlag(written, flagsOf(command)),
    ...(takesPrompt ? ['If it is part of the prompt, write -- before the prompt.'] : []),
  ].join(' ')
}

function argumentProblems(command: CommandSpec, rest: readonly string[]): readonly Problem[] {
  const missing = command.arguments.slice(rest.length).filter(({ required }) => required)
  const problems: Problem[] = missing.map(({ name, summary }) => ({
    place: name,
    message: 'The argument is missing.',
    remedy: `${summary}.`,
  }))
  for (const [i, { name, choices }] of command.arguments.entries()) {
    const given = rest[i]
    if (given === undefined || !choices || choices.includes(given)) continue
    problems.push({
      place: name,
      message: `Unknown ${name.toLowerCase()} ${JSON.stringify(given)}.`,
      remedy: `Use ${listWords(choices, 'or')}.`,
    })
  }
  const [file] = rest
  if (command.name === 'run' && file === '')
    problems.push({ place: 'FILE', message: 'The argument is empty.', remedy: 'Pass an agent file.' })
  const last = command.arguments.at(-1)
  const extra = last?.repeatable ? [] : rest.slice(command.arguments.length)
  if (extra.length > 0) {
    const remedy = last?.name === 'PROMPT' ? 'Put the prompt in quotes.' : 'Remove it.'
    problems.push({ place: extra.join(' '), message: tooMany(command), remedy })
  }
  const [topic] = rest
  if (command.name === 'help' && topic !== undefined && topic !== agentFileTopic && !findCommand(topic))
    problems.push(commandProblem(topic, [agentFileTopic]))
  return problems
}

const seeHelp = 'Run troupe --help.'

function allFlags(): readonly FlagSpec[] {
  const all = commands.flatMap((command): readonly FlagSpec[] => flagsOf(command))
  return all.filter(({ name }, index) => all.findIndex((flag) => flag.name === name) === index)
}

/** Actions with one choice come first and are named like a part of the command: `config show takes FILE`. */
function tooMany({ name, arguments: taken }: CommandSpec): string {
  const fixed = taken.flatMap(({ choices }) => (choices?.length === 1 ? choices : []))
  const names = taken.slice(fixed.length).map((argument) => argument.name)
  const command = [name, ...fixed].join(' ')
  return names.length === 0
    ? `The command ${command} takes no arguments.`
    : `Too many arguments: ${command} takes ${listWords(names, 'and')}.`
}

function useOne(flag: string, choices: readonly string[]): string {
  const written = choices.map((choice) => `--${flag} ${choice}`)
  return `Use ${listWords(written, 'or')}.`
}

/** `a, b or c`. */
const listWords = (words: readonly string[], link: 'and' | 'or'): string =>
  words.length < 2 ? words.join() : `${words.slice(0, -1).join(', ')} ${link} ${words.at(-1)}`
