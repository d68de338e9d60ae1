import { parseArgs } from 'node:util'
import { type Problem, TroupeError } from '../contracts/index.ts'
import { nearestNames } from '../util/nearest-names.ts'
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
} from './options.ts'

export type OutputForm = 'answer' | 'json' | 'stream-json'

/** What is wanted on standard error. */
export interface Wishes {
  readonly quiet: boolean
  readonly verbose: boolean
  readonly logFormat: LogFormat
  readonly color: ColourChoice
}

export interface RunInvocation {
  readonly kind: 'run'
  readonly file: string
  /** `-` is standard input. */
  readonly prompt?: string
  readonly output: OutputForm
  readonly wishes: Wishes
  /** Instead of the file's, in the order of trying. */
  readonly models: readonly string[]
  /** Each `limits.maxToolTurns=5`. */
  readonly overrides: readonly string[]
  readonly dryRun: boolean
  readonly dataDir?: string
}
export interface DemoInvocation {
  readonly kind: 'demo'
  readonly output: OutputForm
  readonly wishes: Wishes
}
/** A command, agent files in general, or one of them with what the command line says over it. */
export type HelpTopic =
  | { readonly kind: 'command'; readonly command: CommandSpec }
  | { readonly kind: 'agent-file' }
  | { readonly kind: 'agent'; readonly file: string; readonly models: readonly string[]; readonly settings: readonly string[] }
export type Invocation =
  | RunInvocation
  | DemoInvocation
  | { readonly kind: 'help'; readonly about?: HelpTopic }
  | { readonly kind: 'version' }

export type ParsedArguments =
  | { readonly ok: true; readonly invocation: Invocation }
  /** How the caller wants even this to be told. */
  | {
      readonly ok: false
      readonly error: TroupeError
      readonly output: OutputForm
      readonly wishes: Wishes
      /** Not looked into here; they may be wrong as well. */
      readonly overrides: readonly string[]
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
export function parseArguments(argv: readonly string[]): ParsedArguments {
  const words = split(argv)
  const has = (name: string): boolean => words.flags.some((flag) => flag.name === name)
  const { command, rest } = commandOf(words.positionals)
  if (has('version')) return { ok: true, invocation: { kind: 'version' } }
  if (has('help')) return { ok: true, invocation: { kind: 'help', ...(command && { about: helpOn(command, rest, words) }) } }

  const problems = command
    ? [...flagProblems(command, words), ...argumentProblems(command, rest)]
    : [...unknownFlags(words), commandProblem(words.positionals[0])]
  if (!command || problems.length > 0) {
    const count = problems.length === 1 ? 'The command line has a problem.' : `The command line has ${problems.length} problems.`
    const remedy = command ? `Usage: ${usageOf(command)}. More: troupe help ${command.name}` : 'See what there is: troupe --help'
    return {
      ok: false,
      error: new TroupeError('usage', count, { remedy, problems }),
      output: outputOf(words),
      wishes: wishesOf(words),
      overrides: valuesOf(words, 'override').filter((setting) => setting !== '' && !setting.startsWith('-')),
    }
  }
  return { ok: true, invocation: invocationOf(command.name as CommandName, rest, words) }
}

function invocationOf(name: CommandName, rest: readonly string[], words: Words): Invocation {
  switch (name) {
    case 'run': {
      const [file = '', prompt] = rest
      const dataDir = valuesOf(words, 'data-dir').at(-1)
      return {
        kind: 'run',
        file,
        ...(prompt !== undefined && { prompt }),
        output: outputOf(words),
        wishes: wishesOf(words),
        models: valuesOf(words, 'model'),
        overrides: valuesOf(words, 'override'),
        dryRun: words.flags.some((flag) => flag.name === 'dry-run'),
        ...(dataDir !== undefined && { dataDir }),
      }
    }
    case 'demo':
      return { kind: 'demo', output: outputOf(words), wishes: wishesOf(words) }
    case 'help': {
      const [topic] = rest
      if (topic === agentFileTopic) return { kind: 'help', about: { kind: agentFileTopic } }
      const command = findCommand(topic ?? '')
      return { kind: 'help', ...(command && { about: { kind: 'command', command } }) }
    }
    default:
      return name satisfies never
  }
}

/** `run FILE --help` is about that agent. */
function helpOn(command: CommandSpec, [file]: readonly string[], words: Words): HelpTopic {
  if (command.name !== 'run' || file === undefined || file === '') return { kind: 'command', command }
  return { kind: 'agent', file, models: valuesOf(words, 'model'), settings: valuesOf(words, 'override') }
}

function outputOf({ flags }: Words): OutputForm {
  const wanted = (['json', 'stream-json'] as const).find((name) => flags.some((flag) => flag.name === name))
  return wanted ?? 'answer'
}

function wishesOf(words: Words): Wishes {
  const has = (name: string): boolean => words.flags.some((flag) => flag.name === name)
  const color = valuesOf(words, 'color').at(-1)
  return {
    quiet: has('quiet'),
    verbose: has('verbose'),
    logFormat: valuesOf(words, 'log-format').at(-1) === 'json' ? 'json' : 'text',
    color: colourChoices.find((choice) => choice === color) ?? 'auto',
  }
}

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
  if (first === undefined) return { place: 'troupe', message: 'A command is missing.', remedy: 'Try: troupe demo' }
  const known = [...commands.map(({ name }) => name), ...more]
  return {
    place: first,
    message: more.length > 0 ? 'There is no help about it.' : 'There is no such command.',
    remedy: suggestion(first, known),
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
      : { message: `${command.name} has no such flag.`, remedy: flagRemedy(flag.written, known) }
    const tell = (problem: Omit<Problem, 'place'>): void =>
      void problems.set(`${flag.written} ${problem.message}`, { place: flag.written, ...problem })
    if (wrong) tell(wrong)
    // Of two that clash, one is told.
    else if (clash !== undefined && flag.name < clash)
      tell({ message: `It cannot be combined with --${clash}.`, remedy: 'Leave one of them out.' })
  }
  return [...problems.values()]
}

function valueProblem({ name, value: wanted, choices }: FlagSpec, { value, inline }: Written): Omit<Problem, 'place'> | undefined {
  if (wanted === undefined) return inline ? { message: 'It is a switch and takes no value.', remedy: `Write --${name}.` } : undefined
  if (value === undefined || value === '' || (!inline && value.startsWith('-') && value !== '-'))
    return { message: 'It needs a value.', remedy: `Write --${name}=${choices?.join('|') ?? wanted}.` }
  if (choices && !choices.includes(value))
    return { message: `It takes ${choices.join(' or ')}, not ${JSON.stringify(value)}.`, remedy: `Write --${name}=${choices.join('|')}.` }
  return undefined
}

/** Where no command tells which flags there are, those that none has are wrong all the same. */
function unknownFlags({ flags }: Words): readonly Problem[] {
  const known = allFlags()
  return flags
    .filter(({ name }) => !known.some((flag) => flag.name === name))
    .map(({ written }) => ({
      place: written,
      message: 'There is no such flag.',
      remedy: suggestion(
        written,
        known.map(({ name }) => `--${name}`),
      ),
    }))
}

function flagRemedy(written: string, known: readonly FlagSpec[]): string {
  const names = known.map(({ name }) => `--${name}`)
  return `${suggestion(written, names)} If it belongs to the prompt, put -- before the prompt.`
}

function argumentProblems(command: CommandSpec, rest: readonly string[]): readonly Problem[] {
  const missing = command.arguments.slice(rest.length).filter(({ required }) => required)
  const problems: Problem[] = missing.map(({ name, summary }) => ({ place: name, message: 'It is missing.', remedy: `Give ${summary}.` }))
  const [file] = rest
  if (command.name === 'run' && file === '')
    problems.push({ place: 'FILE', message: 'It is empty.', remedy: 'Give the agent, a .ai file.' })
  const extra = rest.slice(command.arguments.length)
  if (extra.length > 0) {
    const last = command.arguments.at(-1)
    const remedy = last?.name === 'PROMPT' ? 'Put the prompt in quotes.' : 'Leave it out.'
    problems.push({ place: extra.join(' '), message: `${command.name} takes ${count(command.arguments.length)}.`, remedy })
  }
  const [topic] = rest
  if (command.name === 'help' && topic !== undefined && topic !== agentFileTopic && !findCommand(topic))
    problems.push(commandProblem(topic, [agentFileTopic]))
  return problems
}

function suggestion(wanted: string, known: readonly string[]): string {
  const near = nearestNames(wanted, known)
  return near.length > 0 ? `Did you mean ${near.join(', ')}?` : `There are ${known.join(', ')}.`
}

function allFlags(): readonly FlagSpec[] {
  const all = commands.flatMap((command): readonly FlagSpec[] => flagsOf(command))
  return all.filter(({ name }, index) => all.findIndex((flag) => flag.name === name) === index)
}

const count = (n: number): string => (n === 0 ? 'no arguments' : n === 1 ? 'one argument' : `${n} arguments`)
