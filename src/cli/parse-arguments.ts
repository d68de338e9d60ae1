import { parseArgs } from 'node:util'
import { type Problem, TroupeError } from '../contracts/index.ts'
import { nearestNames } from '../util/nearest-names.ts'
import { type CommandName, type CommandSpec, commands, commonFlags, type FlagSpec, findCommand, usageOf } from './options.ts'

export type OutputForm = 'answer' | 'json' | 'stream-json'

export interface RunInvocation {
  readonly kind: 'run'
  readonly file: string
  /** `-` is standard input. */
  readonly prompt?: string
  readonly output: OutputForm
  readonly quiet: boolean
  readonly dataDir?: string
}
export type Invocation =
  | RunInvocation
  | { readonly kind: 'demo' }
  | { readonly kind: 'help'; readonly command?: CommandSpec }
  | { readonly kind: 'version' }

export type ParsedArguments =
  | { readonly ok: true; readonly invocation: Invocation }
  /** `json`: the caller wants even this as JSON. */
  | { readonly ok: false; readonly error: TroupeError; readonly json: boolean }

/** A command line as written, before anybody has said what of it is right. */
interface Words {
  readonly positionals: readonly string[]
  readonly flags: readonly {
    readonly name: string
    readonly written: string
    readonly value: string | undefined
    readonly inline: boolean
  }[]
}

/** Understands a command line, or says everything that is wrong with it. */
export function parseArguments(argv: readonly string[]): ParsedArguments {
  const words = split(argv)
  const has = (name: string): boolean => words.flags.some((flag) => flag.name === name)
  const { command, rest } = commandOf(words.positionals)
  if (has('version')) return { ok: true, invocation: { kind: 'version' } }
  if (has('help')) return { ok: true, invocation: { kind: 'help', ...(command && { command }) } }

  const problems = command
    ? [...flagProblems(command, words), ...argumentProblems(command, rest)]
    : [...unknownFlags(words), commandProblem(words.positionals[0])]
  if (!command || problems.length > 0) {
    const count = problems.length === 1 ? 'The command line has a problem.' : `The command line has ${problems.length} problems.`
    const remedy = command ? `Usage: ${usageOf(command)}. More: troupe help ${command.name}` : 'See what there is: troupe --help'
    return { ok: false, error: new TroupeError('usage', count, { remedy, problems }), json: has('json') }
  }
  return { ok: true, invocation: invocationOf(command.name as CommandName, rest, words) }
}

function invocationOf(name: CommandName, rest: readonly string[], words: Words): Invocation {
  const has = (flag: string): boolean => words.flags.some((one) => one.name === flag)
  switch (name) {
    case 'run': {
      const [file = '', prompt] = rest
      const dataDir = words.flags.findLast((flag) => flag.name === 'data-dir')?.value
      return {
        kind: 'run',
        file,
        ...(prompt !== undefined && { prompt }),
        output: has('json') ? 'json' : has('stream-json') ? 'stream-json' : 'answer',
        quiet: has('quiet'),
        ...(dataDir !== undefined && { dataDir }),
      }
    }
    case 'demo':
      return { kind: 'demo' }
    case 'help': {
      const command = rest[0] === undefined ? undefined : findCommand(rest[0])
      return { kind: 'help', ...(command && { command }) }
    }
    default:
      return name satisfies never
  }
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
  const flags: Words['flags'][number][] = []
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

function commandProblem(first: string | undefined): Problem {
  if (first === undefined) return { place: 'troupe', message: 'A command is missing.', remedy: 'Try: troupe demo' }
  return {
    place: first,
    message: 'There is no such command.',
    remedy: suggestion(
      first,
      commands.map(({ name }) => name),
    ),
  }
}

function flagProblems(command: CommandSpec, { flags }: Words): readonly Problem[] {
  const known: readonly FlagSpec[] = [...command.flags, ...commonFlags]
  const problems = new Map<string, Problem>()
  for (const { name, written, value, inline } of flags) {
    const found = known.find((flag) => flag.name === name)
    const clash = found?.excludes?.find((other) => flags.some((flag) => flag.name === other))
    const tell = (message: string, remedy: string): void => void problems.set(written, { place: written, message, remedy })
    if (!found) tell(`${command.name} has no such flag.`, flagRemedy(written, known))
    else if (found.value === undefined && inline) tell('It is a switch and takes no value.', `Write --${name}.`)
    else if (found.value !== undefined && (value === undefined || value === '' || (!inline && value.startsWith('-')))) {
      tell('It needs a value.', `Write --${name}=${found.value}.`)
      // Of two that clash, one is told.
    } else if (clash !== undefined && name < clash) tell(`It cannot be combined with --${clash}.`, 'Leave one of them out.')
  }
  return [...problems.values()]
}

/** Where no command tells which flags there are, those that none has are wrong all the same. */
function unknownFlags({ flags }: Words): readonly Problem[] {
  const known = [...commands.flatMap((command) => command.flags), ...commonFlags]
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
  const extra = rest.slice(command.arguments.length)
  if (extra.length > 0) {
    const last = command.arguments.at(-1)
    const remedy = last?.name === 'PROMPT' ? 'Put the prompt in quotes.' : 'Leave it out.'
    problems.push({ place: extra.join(' '), message: `${command.name} takes ${count(command.arguments.length)}.`, remedy })
  }
  if (command.name === 'help' && rest[0] !== undefined && !findCommand(rest[0])) problems.push(commandProblem(rest[0]))
  return problems
}

function suggestion(wanted: string, known: readonly string[]): string {
  const near = nearestNames(wanted, known)
  return near.length > 0 ? `Did you mean ${near.join(', ')}?` : `There are ${known.join(', ')}.`
}

function allFlags(): readonly FlagSpec[] {
  return [...commonFlags, ...commands.flatMap((command): readonly FlagSpec[] => command.flags)]
}

const count = (n: number): string => (n === 0 ? 'no arguments' : n === 1 ? 'one argument' : `${n} arguments`)
