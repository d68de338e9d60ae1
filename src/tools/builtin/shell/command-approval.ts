import { basename } from 'node:path'
import type { ApprovalKey, ApprovalWish } from '../../../contracts/index.ts'
import { grantableWords, isHarmless } from './command-lists.ts'
import { type PlainCommand, plainCommands, unquoted } from './shell-words.ts'

export interface AskedCommand {
  readonly command: string
  readonly stdin: string | undefined
  /** Walls are around it: what only looks need not be asked about. */
  readonly isConfined: boolean
}

/**
 * What has to be allowed. A line of plain commands needs each of them: `command:git status`. Anything else is one thing,
 * told whole: `script:"for …"`, in quotes, so that no rule or grant for the beginning of a command fits it by chance.
 */
export function commandApproval({ command, stdin, isConfined }: AskedCommand): ApprovalWish | undefined {
  const commands = stdin === undefined || stdin === '' ? understood(command) : undefined
  const summary = `Run ${command}`
  if (!commands) return { summary, keys: [scriptKey(command, stdin)] }
  if (isConfined && commands.every(isHarmless)) return undefined
  const keys = [...new Map(commands.map((words) => [words.join(' '), keyOf(words)])).values()]
  const [only] = commands
  const wider = commands.length === 1 && only ? widerThan(only) : []
  return { summary, keys, ...(wider.length > 0 && { wider }) }
}

const keyOf = (words: PlainCommand): ApprovalKey => ({ key: `command:${words.join(' ')}`, label: words.join(' ') })

function scriptKey(command: string, stdin: string | undefined): ApprovalKey {
  const given = stdin === undefined || stdin === '' ? '' : ` < ${JSON.stringify(stdin)}`
  return { key: `script:${JSON.stringify(command)}${given}`, label: `exactly this: ${command}${given}` }
}

/** The space at the end keeps `git commit` from standing for `git commit-tree`. */
function widerThan(words: PlainCommand): readonly ApprovalKey[] {
  const count = grantableWords(words)
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
