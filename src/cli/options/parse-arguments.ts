import { parseArgs } from 'node:util'
import type { OverrideArguments } from '../../agents/index.ts'
import { type Problem, TroupeError } from '../../contracts/index.ts'
import { suggestion } from '../../util/nearest-names.ts'
import {
  agentFileTopic,
  type ColourChoice,
  type CommandName,
  type CommandSpec,
  colourChoices,
  commands,
  type FlagSpec,
  findCommand,
  flagsOf,
  type LogFormat,
  usageOf,
} from './command-specs.ts'
import { agentNameAsCommand, dropFlagValues, flagOfOtherPrograms } from './misplaced-arguments.ts'
import { type ProjectInvocation, projectInvocation } from './project-invocations.ts'

export type OutputForm = 'answer' | 'json' | 'stream-json'

/** How much is told on standard error. */
export type Detail = 'quiet' | 'normal' | 'verbose'

/** What is wanted on standard error. */
export interface DisplayOptions {
  readonly detail: Detail
  readonly logFormat: LogFormat
  readonly color: ColourChoice
}

export interface RunInvocation {
  readonly kind: 'run'
  readonly file: string
  /** `-` is standard input. */
  readonly prompt?: string
  readonly output: OutputForm
  readonly display: DisplayOptions
  /** What is said over the settings of the file. */
  readonly overrides: OverrideArguments
  readonly dryRun: boolean
  readonly dataDir?: string
  /** The file behind `--config`. */
  readonly configFile?: string
  /** Whether the files of the project are to be trusted as they are. */
  readonly isTrusted: boolean
  /** Patterns of what is done without asking, and of what is never done. */
  readonly allow: readonly string[]
  readonly deny: readonly string[]
  /** The run to go on with. */
  readonly resume?: string
}
export interface DemoInvocation {
  readonly kind: 'demo'
  readonly output: Exclude<OutputForm, 'stream-json'>
  readonly display: DisplayOptions
}
/** A command, agent files in general, or one of them with what the command line says over it. */
export type HelpTopic =
  | { readonly kind: 'command'; readonly command: CommandSpec }
  | { readonly kind: 'agent-file' }
  | {
      readonly kind: 'agent'
      readonly file: string
      readonly overrides: OverrideArguments
      readonly configFile?: string
    }
export type Invocation =
  | RunInvocation
  | DemoInvocation
  | ProjectInvocation
  | { readonly kind: 'help'; readonly about?: HelpTopic }
  /** Nothing was said at all. */
  | { readonly kind: 'nothing' }
  | { readonly kind: 'version' }

type ParsedArguments =
  | { readonly ok: true; readonly invocation: Invocation }
  /** How the caller wants even this to be told. */
  | {
      readonly ok: false
      readonly error: TroupeError
      readonly output: OutputForm
      readonly display: DisplayOptions
      /** Not looked into here; they may be wrong as well. */
      readonly overrides: OverrideArguments
    }

/** A command line as written, before anybody has said what of it is right. */
interface Words {
  readonly positionals: readonly string[]
  readonly flags: readonly Written[]
}
interface Written {
  readonly name: string
  readonly written: string
  readonly value: string | undefined
  readonly inline: boolean
}

/** Understands a command line, or says everything that is wrong with it. */
export function parseArguments(argv: readonly string[], isFile: (path: string) => boolean = () => false): ParsedArguments {
  if (argv.length === 0) return { ok: true, invocation: { kind: 'nothing' } }
  const words = split(argv)
  const { command, rest } = commandOf(words.positionals)
  if (has(words, 'version')) return { ok: true, invocation: { kind: 'version' } }
  if (has(words, 'help')) return { ok: true, invocation: { kind: 'help', ...(command && { about: helpOn(command, rest, words) }) } }

  const problems = command
    ? [...flagProblems(command, words), ...argumentProblems(command, dropFlagValues(rest, command, words.flags))]
    : [...unknownFlags(words), agentNameAsCommand(words.positionals, isFile) ?? commandProblem(words.positionals[0])]
  if (!command || problems.length > 0) {
    return {
      ok: false,
      error: renamedError(words) ?? problemsError(problems, command),
      output: outputOf(words),
      display: displayOptionsOf(words),
      overrides: usable(overridesOf(words)),
    }
  }
  return { ok: true, invocation: invocationOf(command.name as CommandName, rest, words) }
}

function problemsError(problems: readonly Problem[], command: CommandSpec | undefined): TroupeError {
  const count = problems.length === 1 ? 'The command line is invalid.' : `The command line has ${problems.length} errors.`
  const remedy = command ? `Usage: ${usageOf(command)}. More: troupe help ${command.name}` : seeHelp
  return new TroupeError('usage', count, { remedy, problems })
}

/** For those who know a command by its old name. */
function renamedError({ positionals }: Words): TroupeError | undefined {
  const [first = ''] = positionals
  const name = renamedCommands.get(first)
  return name === undefined ? undefined : new TroupeError('usage', `The command is troupe ${name}, not troupe ${first}.`)
}
const renamedCommands: ReadonlyMap<string, CommandName> = new Map([['runs', 'sessions']])

function invocationOf(name: CommandName, rest: readonly string[], words: Words): Invocation {
  switch (name) {
    case 'run': {
      const [file = '', prompt] = rest
      const dataDir = valuesOf(words, 'data-dir').at(-1)
      const configFile = valuesOf(words, 'config').at(-1)
      const resume = valuesOf(words, 'resume').at(-1)
      return {
        kind: 'run',
        file,
        ...(prompt !== undefined && { prompt }),
        output: outputOf(words),
        display: displayOptionsOf(words),
        overrides: overridesOf(words),
        dryRun: has(words, 'dry-run'),
        ...(dataDir !== undefined && { dataDir }),
        ...(configFile !== undefined && { configFile }),
        isTrusted: has(words, 'trust'),
        allow: rulesOf(words, 'allow'),
        deny: rulesOf(words, 'deny'),
        ...(resume !== undefined && { resume }),
      }
    }
    case 'demo':
      return { kind: 'demo', output: has(words, 'json') ? 'json' : 'answer', display: displayOptionsOf(words) }
    case 'help': {
      const [topic] = rest
      if (topic === agentFileTopic) return { kind: 'help', about: { kind: agentFileTopic } }
      const command = findCommand(topic ?? '')
      return { kind: 'help', ...(command && { about: { kind: 'command', command } }) }
    }
    default:
      return projectInvocation(name, {
        rest,
        display: displayOptionsOf(words),
        has: (flag) => has(words, flag),
        flagValue: (flag) => valuesOf(words, flag).at(-1),
      })
  }
}

/** `run FILE --help` is about that agent. */
function helpOn(command: CommandSpec, [file]: readonly string[], words: Words): HelpTopic {
  if (command.name !== 'run' || file === undefined || file === '') return { kind: 'command', command }
  const configFile = valuesOf(words, 'config').at(-1)
  return {
    kind: 'agent',
    file,
    overrides: overridesOf(words),
    ...(configFile !== undefined && { configFile }),
  }
}

function overridesOf(words: Words): Required<OverrideArguments> {
  const settingFlags = new Set(allFlags().flatMap(({ name, sets }) => (sets === undefined ? [] : [name])))
  return {
    settings: valuesOf(words, 'override'),
    models: valuesOf(words, 'model'),
    flags: words.flags.flatMap(({ name, value }) => (value !== undefined && settingFlags.has(name) ? [{ name, value }] : [])),
  }
}

/** Without those that lack a value, which is told already. */
function usable({ settings, flags }: Required<OverrideArguments>): OverrideArguments {
  const isValue = (value: string): boolean => value !== '' && !value.startsWith('-')
  return { settings: settings.filter(isValue), flags: flags.filter(({ value }) => isValue(value)) }
}

function outputOf(words: Words): OutputForm {
  return (['json', 'stream-json'] as const).find((name) => has(words, name)) ?? 'answer'
}

function displayOptionsOf(words: Words): DisplayOptions {
  const color = valuesOf(words, 'color').at(-1)
  return {
    detail: has(words, 'quiet') ? 'quiet' : has(words, 'verbose') ? 'verbose' : 'normal',
    logFormat: valuesOf(words, 'log-format').at(-1) === 'json' ? 'json' : 'text',
    color: colourChoices.find((choice) => choice === color) ?? 'auto',
  }
}

const has = ({ flags }: Words, name: string): boolean => flags.some((flag) => flag.name === name)

/** Spaces around a rule do not count, as in agent files and configuration. */
const rulesOf = (words: Words, name: 'allow' | 'deny'): readonly string[] => valuesOf(words, name).map((rule) => rule.trim())

function valuesOf({ flags }: Words, name: string): readonly string[] {
  return flags.flatMap((flag) => (flag.name === name && flag.value !== undefined ? [flag.value] : []))
}

function split(argv: readonly string[]): Words {
  const known = new Map<string, FlagSpec>(allFlags().map((flag) => [flag.name, flag]))
  const options = Object.fromEntries(
    [...known.values()].map(({ name, short, value }) => [
      name,
      { type: value === undefined ? ('boolean' as const) : ('string' as const), ...(short !== undefined && { short }) },
    ]),
  )
  const { tokens } = parseArgs({ args: [...argv], options, strict: false, allowPositionals: true, tokens: true })
  const positionals: string[] = []
  const flags: Written[] = []
  for (const token of tokens) {
    if (token.kind === 'positional') positionals.push(token.value)
    if (token.kind === 'option')
      flags.push({ name: token.name, written: token.rawName, value: token.value, inline: token.inlineValue === true })
  }
  return { positionals, flags }
}

/** An agent file in place of a command is run: so a file that begins with `#!/usr/bin/env troupe` is a program. */
function commandOf(positionals: readonly string[]): { readonly command: CommandSpec | undefined; readonly rest: readonly string[] } {
  const [first, ...rest] = positionals
  if (first === undefined) return { command: undefined, rest: [] }
  if (first.endsWith('.ai')) return { command: findCommand('run'), rest: positionals }
  return { command: findCommand(first), rest }
}

function commandProblem(first: string | undefined, more: readonly string[] = []): Problem {
  if (first === undefined) return { place: 'troupe', message: 'The command is missing.', remedy: 'Try: troupe demo' }
  const known = [...commands.map(({ name }) => name), ...more]
  return {
    place: first,
    message: more.length > 0 ? 'Unknown help topic.' : 'Unknown command.',
    remedy: suggestion(first, known) ?? seeHelp,
  }
}

function flagProblems(command: CommandSpec, { flags }: Words): readonly Problem[] {
  const known = flagsOf(command)
  const problems = new Map<string, Problem>()
  for (const flag of flags) {
    const found = known.find(({ name }) => name === flag.name)
    const clash = found?.excludes?.find((other) => flags.some(({ name }) => name === other))
    const wrong = found
      ? valueProblem(found, flag)
      : { message: `Unknown flag of ${command.name}.`, remedy: flagRemedy(flag.written, command) }
    const tell = (problem: Omit<Problem, 'place'>): void =>
      void problems.set(`${flag.written} ${problem.message}`, { place: flag.written, ...problem })
    if (wrong) tell(wrong)
    // Of two that clash, one is told.
    else if (clash !== undefined && flag.name < clash)
      tell({ message: `Cannot be combined with --${clash}.`, remedy: 'Remove one of them.' })
  }
  return [...problems.values()]
}

function valueProblem({ name, value: wanted, choices }: FlagSpec, { value, inline }: Written): Omit<Problem, 'place'> | undefined {
  if (wanted === undefined) return inline ? { message: 'This flag takes no value.', remedy: `Write --${name}.` } : undefined
  if (value === undefined || value === '' || (!inline && value.startsWith('-') && value !== '-'))
    return { message: 'This flag needs a value.', remedy: `Write --${name}=${choices?.join('|') ?? wanted}.` }
  if (choices && !choices.includes(value))
    return { message: `Expected ${choices.join(' or ')}, got ${JSON.stringify(value)}.`, remedy: `Write --${name}=${choices.join('|')}.` }
  return undefined
}

/** Where no command tells which flags there are, those that none has are wrong all the same. */
function unknownFlags({ flags }: Words): readonly Problem[] {
  const known = allFlags()
  return flags
    .filter(({ name }) => !known.some((flag) => flag.name === name))
    .map(({ written }) => ({
      place: written,
      message: 'Unknown flag.',
      remedy:
        suggestion(
          written,
          known.map(({ name }) => `--${name}`),
        ) ?? seeHelp,
    }))
}

function flagRemedy(written: string, command: CommandSpec): string {
  const known = command.name === 'run' ? flagOfOtherPrograms(written) : undefined
  if (known !== undefined) return known
  const meant = suggestion(
    written,
    flagsOf(command).map(({ name }) => `--${name}`),
  )
  const takesPrompt = command.arguments.some(({ name }) => name === 'PROMPT')
  return [meant ?? seeHelp, ...(takesPrompt ? ['If it is part of the prompt, write -- before the prompt.'] : [])].join(' ')
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
      message: `Expected ${choices.join(' or ')}, got ${JSON.stringify(given)}.`,
      remedy: `Usage: ${usageOf(command)}`,
    })
  }
  const [file] = rest
  if (command.name === 'run' && file === '')
    problems.push({ place: 'FILE', message: 'The argument is empty.', remedy: 'Pass an agent file.' })
  const last = command.arguments.at(-1)
  const extra = last?.repeatable ? [] : rest.slice(command.arguments.length)
  if (extra.length > 0) {
    const remedy = last?.name === 'PROMPT' ? 'Put the prompt in quotes.' : 'Leave it out.'
    problems.push({ place: extra.join(' '), message: `${command.name} takes ${count(command.arguments.length)}.`, remedy })
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

const count = (n: number): string => (n === 0 ? 'no arguments' : n === 1 ? 'one argument' : `${n} arguments`)
