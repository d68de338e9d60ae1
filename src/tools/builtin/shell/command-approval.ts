import { basename } from 'node:path'
import type { ApprovalKey, ApprovalWish } from '../../../contracts/index.ts'
import { shellWord } from '../../../util/shell-word.ts'
import { changesTheShell, grantableWords, isHarmless } from './command-lists.ts'
import { type PlainCommand, plainCommands, unquoted } from './shell-words.ts'

export interface AskedCommand {
  readonly command: string
  readonly stdin: string | undefined
  /** Walls are around it: what only looks need not be asked about. */
  readonly isConfined: boolean
  /** Where it runs, from the workspace on; nothing for the workspace itself. */
  readonly folder?: string
  /** Git finds the repository of the workspace, and looking at that runs nothing. Default false. */
  readonly isPlainRepository?: boolean
  /** Programs that stand in for those of the system, since the workspace is on the path. */
  readonly ownPrograms?: ReadonlySet<string>
}

/**
 * What has to be allowed. A line of plain commands needs each of them: `command:git status`. Anything else is one thing,
 * told whole: `script:"for …"`, in quotes, so that no rule or grant for the beginning of a command fits it by chance.
 * Another folder is another thing: `command:(in docs) make`. Rules that ask or deny know it without the folder, too.
 */
export function commandApproval(asked: AskedCommand): ApprovalWish {
  const { command, stdin, isConfined } = asked
  const commands = stdin === undefined || stdin === '' ? understood(command) : undefined
  const summary = `Run ${command}`
  const place = placeOf(asked)
  if (!commands) return { summary, keys: [place(scriptKey(command, stdin))] }
  const keys = [...new Map(commands.map((words) => [words.join(' '), place(keyOf(words))])).values()]
  const wider = commands.length === 1 ? commands.flatMap((words) => widerThan(words, isConfined)).map(place) : []
  const wish = { summary, keys, ...(wider.length > 0 && { wider }) }
  if (isAllHarmless(commands, asked)) return { ...wish, asks: false }
  if (commands.length === 1 || !commands.some(changesTheShell)) return wish
  // The same words mean something else behind a `cd`: what was allowed elsewhere is not allowed here.
  const aliases = commands.map((words) => words.join(' '))
  return { summary, keys: [place({ ...scriptKey(command, stdin), aliases })] }
}

function isAllHarmless(commands: readonly PlainCommand[], asked: AskedCommand): boolean {
  const { isConfined, folder = '', isPlainRepository = false, ownPrograms } = asked
  const stays = folder === '' && !commands.some(changesTheShell)
  return (
    isConfined &&
    commands.every((words) => isHarmless(words, { isPlainRepository: stays && isPlainRepository }) && !ownPrograms?.has(words[0]))
  )
}

const keyOf = (words: PlainCommand): ApprovalKey => ({ key: `command:${words.join(' ')}`, label: words.join(' ') })

function scriptKey(command: string, stdin: string | undefined): ApprovalKey {
  const given = stdin === undefined || stdin === '' ? '' : ` < ${JSON.stringify(stdin)}`
  return { key: `script:${JSON.stringify(command)}${given}`, label: `exactly this: ${command}${given}` }
}

/** No plain word begins with a bracket, so nothing else has the name of something in a folder. */
function placeOf({ folder = '' }: AskedCommand): (key: ApprovalKey) => ApprovalKey {
  if (folder === '') return (key) => key
  const where = `(in ${shellWord(folder)})`
  return ({ key, label, aliases = [], ...rest }) => {
    const colon = key.indexOf(':') + 1
    const use = key.slice(colon)
    return { ...rest, key: `${key.slice(0, colon)}${where} ${use}`, label: `${where} ${label}`, aliases: [use, ...aliases] }
  }
}

/** The space at the end keeps `git commit` from standing for `git commit-tree`. */
function widerThan(words: PlainCommand, isConfined: boolean): readonly ApprovalKey[] {
  const count = grantableWords(words, isConfined)
  if (count === 0 || words.length <= count) return []
  const begin = words.slice(0, count).join(' ')
  return [{ key: `command:${begin} `, label: `any ${begin} …`, isPrefix: true }]
}

const shells = new Set(['sh', 'bash', 'dash', 'zsh'])
const mostUnwrapped = 4

/** The plain commands of a line. A shell that is only given another line is that line. */
function understood(line: string, depth = 0): readonly PlainCommand[] | undefined {
  const commands = plainCommands(line)
  if (!commands || depth > mostUnwrapped) return undefined
  const [first, ...others] = commands
  if (!first || others.length > 0) return commands
  const inner = lineFor(first)
  return inner === undefined ? commands : understood(inner, depth + 1)
}

/** `bash -lc 'git status'` → `git status`. */
function lineFor([name, option, line, ...rest]: PlainCommand): string | undefined {
  if (!shells.has(basename(name)) || (name.includes('/') && !/^\/(?:usr\/)?bin\/\w+$/.test(name))) return undefined
  if (option === undefined || !/^-l?c$/.test(option) || line === undefined || rest.length > 0) return undefined
  return unquoted(line)
}
