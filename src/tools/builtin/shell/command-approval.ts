import { basename } from 'node:path'
import type { ApprovalKey, ApprovalWish } from '../../../contracts/index.ts'
import { shellWord } from '../../../util/shell-word.ts'
import { type CommandRun, innerCommands } from './inner-commands.ts'
import { changesShellState, grantableWords, isHarmless } from './known-programs.ts'
import { type PlainCommand, plainCommands, unquoted } from './shell-words.ts'

export interface CommandRequest {
  readonly command: string
  readonly stdin: string | undefined
  /** It runs in the sandbox: read-only commands need no approval. */
  readonly isConfined: boolean
  /** Relative to the workspace; empty for the workspace itself. */
  readonly folder?: string
  /** Git finds the repository of the workspace, and its configuration runs no programs. Default false. */
  readonly isPlainRepository?: boolean
  /** Programs of the workspace that shadow those of the system. */
  readonly ownPrograms?: ReadonlySet<string>
}

/**
 * The keys that need permission. A line of plain commands needs each of them: `command:git status`. Any other line is one key,
 * the quoted script: `script:"for …"`, so that no rule or grant for a command prefix matches it by accident.
 * Another folder is part of the key: `command:(in docs) make`. Rules that ask or deny also match it without the folder, and by
 * the commands that it runs: `timeout 5 /bin/rm x` is `rm x` for them.
 */
export function commandApproval(asked: CommandRequest): ApprovalWish {
  const { command, stdin, isConfined } = asked
  const read = stdin === undefined || stdin === '' ? understood(command) : undefined
  const summary = `Run ${command}`
  const place = placeOf(asked)
  if (!read) return { summary, keys: [place(scriptKey(command, stdin))] }
  const { commands, around } = read
  const keys = [...new Map(commands.map((words) => [words.join(' '), place(keyOf(words, around))])).values()]
  const wider = commands.length === 1 ? commands.flatMap((words) => widerThan(words, isConfined)).map(place) : []
  const wish = { summary, keys, ...(wider.length > 0 && { wider }) }
  if (isAllHarmless(commands, asked)) return { ...wish, asks: false }
  if (commands.length === 1 || !commands.some(changesShellState)) return wish
  // The same words mean something else after a `cd`, so earlier grants do not apply.
  const aliases = [...new Set([...commands.flatMap((words) => innerCommands(words).commands.flatMap(namesOf)), ...around])]
  return { summary, keys: [place({ ...scriptKey(command, stdin), aliases })] }
}

function isAllHarmless(commands: readonly PlainCommand[], asked: CommandRequest): boolean {
  const { isConfined, folder = '', isPlainRepository = false, ownPrograms } = asked
  const stays = folder === '' && !commands.some(changesShellState)
  return isConfined && commands.every((words) => isHarmless(words, stays && isPlainRepository) && !ownPrograms?.has(words[0]))
}

/** For rules that ask or deny: all commands that it runs, and whether it is opaque. */
function keyOf(words: PlainCommand, around: readonly string[]): ApprovalKey {
  const own = words.join(' ')
  const { commands, isOpaque } = innerCommands(words)
  const aliases = [...new Set([...commands.flatMap(namesOf), ...around])].filter((name) => name !== own)
  const open = commands.filter(({ isOpen }) => isOpen).flatMap(plainNames)
  return {
    key: `command:${own}`,
    label: own,
    ...(aliases.length > 0 && { aliases }),
    ...((isOpaque || open.length > 0) && { isOpaque: true }),
    ...(!isOpaque && open.length > 0 && { within: open.map((name) => `${name} `) }),
  }
}

/** An open command also matches rules for the program with any arguments. */
const namesOf = (command: CommandRun): readonly string[] =>
  plainNames(command).flatMap((name) => (command.isOpen ? [name, `${name} …`] : [name]))

/** As written, and with the base name of the program. */
function plainNames({ words: [name = '', ...rest] }: CommandRun): readonly string[] {
  const program = unquoted(name) ?? name
  const names = program.includes('/') ? [name, shellWord(basename(program))] : [name]
  return names.map((each) => [each, ...rest].join(' '))
}

function scriptKey(command: string, stdin: string | undefined): ApprovalKey {
  const given = stdin === undefined || stdin === '' ? '' : ` < ${JSON.stringify(stdin)}`
  return { key: `script:${JSON.stringify(command)}${given}`, label: `exactly this: ${command}${given}`, isOpaque: true }
}

/** No plain word begins with a bracket, so these keys are unique. */
function placeOf({ folder = '' }: CommandRequest): (key: ApprovalKey) => ApprovalKey {
  if (folder === '') return (key) => key
  const where = `(in ${shellWord(folder)})`
  return ({ key, label, aliases = [], ...rest }) => {
    const colon = key.indexOf(':') + 1
    const use = key.slice(colon)
    return { ...rest, key: `${key.slice(0, colon)}${where} ${use}`, label: `${where} ${label}`, aliases: [use, ...aliases] }
  }
}

/** With the final space, `git commit` does not match `git commit-tree`. */
function widerThan(words: PlainCommand, isConfined: boolean): readonly ApprovalKey[] {
  const count = grantableWords(words, isConfined)
  if (count === 0 || words.length <= count) return []
  const begin = words.slice(0, count).join(' ')
  return [{ key: `command:${begin} `, label: `any ${begin} …`, isPrefix: true }]
}

const shells = new Set(['sh', 'bash', 'dash', 'zsh'])
const mostUnwrapped = 4

/** The plain commands of a line, and the shell commands around it. `bash -c` with a line is that line. */
function understood(
  line: string,
  around: readonly string[] = [],
): { readonly commands: readonly PlainCommand[]; readonly around: readonly string[] } | undefined {
  const commands = plainCommands(line)
  if (!commands || around.length > mostUnwrapped) return undefined
  const [first, ...others] = commands
  const inner = first && others.length === 0 ? lineFor(first) : undefined
  return first === undefined || inner === undefined ? { commands, around } : understood(inner, [...around, first.join(' ')])
}

/** `bash -lc 'git status'` → `git status`. */
function lineFor([name, option, line, ...rest]: PlainCommand): string | undefined {
  if (!shells.has(basename(name)) || (name.includes('/') && !/^\/(?:usr\/)?bin\/\w+$/.test(name))) return undefined
  if (option === undefined || !/^-l?c$/.test(option) || line === undefined || rest.length > 0) return undefined
  return unquoted(line)
}
