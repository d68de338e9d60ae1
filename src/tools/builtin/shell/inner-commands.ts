// All commands that a command runs, as far as its words show: `timeout 5 nice rm x` also runs `rm x`.
//
// 1. The result is used only by rules that ask or deny, never to allow.
// 2. Anything that is not understood completely makes the command opaque.
// 3. Programs that read commands from files, such as `make` and `python3 x.py`, are checked by their own names.
import { basename } from 'node:path'
import { endOfOptions, type Wrapper, wordAt, wrapperOf } from './command-wrappers.ts'
import { isOpaqueCommand, isRiskyAssignment, isStandardInput, mayBecomeOption, unversioned } from './indirect-commands.ts'
import { plainCommands, unquoted } from './shell-words.ts'

interface CommandsRun {
  readonly commands: readonly CommandRun[]
  /** It may run other, unknown commands. */
  readonly isOpaque: boolean
}

export interface CommandRun {
  readonly words: readonly string[]
  /** More, unknown words follow. */
  readonly isOpen: boolean
}

export const innerCommands = (words: readonly string[]): CommandsRun => run({ words, isOpen: false }, 0)

const unknown: CommandsRun = { commands: [], isOpaque: true }
const nothing: CommandsRun = { commands: [], isOpaque: false }
const deepest = 6

const together = (runs: readonly CommandsRun[]): CommandsRun => ({
  commands: runs.flatMap(({ commands }) => commands),
  isOpaque: runs.some(({ isOpaque }) => isOpaque),
})

/** A placeholder of `find`, or a command line instead of a name. */
const noName = /\{\}|[\s;|&$`<>()]/

function run(command: CommandRun, depth: number): CommandsRun {
  const name = wordAt(command.words, 0)
  if (name === undefined || name === '' || noName.test(name) || depth > deepest) return unknown
  return together([{ commands: [command], isOpaque: false }, innerOf(basename(name).replace(gnuName, ''), command, depth + 1)])
}

/** The dynamic loader runs programs. */
const loader = /^ld[-.].*so/
/** Shell built-ins that evaluate array subscripts in variable names. */
const evaluating = new Set('test let unset read declare typeset local export readonly printf wait getopts'.split(' '))
const shells = new Set('sh bash dash zsh ksh ash rbash rzsh rksh mksh lksh oksh ksh93 yash posh hush bash-static'.split(' '))
/** GNU tools on systems with other tools of the same name. */
const gnuName = /^g(?=(?:env|nice|nohup|stdbuf|timeout|chroot|xargs|find|sed|tar|sort|split|make|time|install)$)/

function innerOf(name: string, command: CommandRun, depth: number): CommandsRun {
  const { words, isOpen } = command
  const wrapper = wrapperOf(name)
  if (wrapper) return wrapped(wrapper, command, depth)
  const verbal = wrapperOf(`${name} ${wordAt(words, 1) ?? ''}`)
  if (verbal) return wrapped(verbal, { words: words.slice(1), isOpen }, depth)
  if (shells.has(name) || shells.has(unversioned(name))) return byShell(words, depth)
  if (name === 'eval') return isOpen ? unknown : line(words.slice(1), depth)
  if (name === 'trap') return trapped(command, depth)
  if (name === 'xargs') return byXargs(command, depth)
  if (name === 'find') return byFind(command, depth)
  const isEvaluated = evaluating.has(name) && words.some((word) => /[$`]/.test(word))
  return isOpaqueCommand(name, words, isOpen) || loader.test(name) || isEvaluated ? unknown : nothing
}

function wrapped(wrapper: Wrapper, { words, isOpen }: CommandRun, depth: number): CommandsRun {
  const { operands = 0, hasAssignments = false, needsCommand = false } = wrapper
  const end = endOfOptions(words, wrapper)
  if (end === 'looks') return nothing
  if (end === undefined) return unknown
  let at = end + operands
  while (hasAssignments && (wordAt(words, at)?.includes('=') ?? false)) at += 1
  const assignments = words.slice(end + operands, at).map((word) => unquoted(word) ?? word)
  // A glob may expand to any number of words.
  if (words.slice(end, at).some((word) => unquoted(word) === undefined)) return unknown
  if (at >= words.length) return isOpen || needsCommand ? unknown : nothing
  // Some take these for the value of the option before them.
  if (needsCommand && /^(?:true|false)$/.test(wordAt(words, at) ?? '')) return unknown
  const inner = run({ words: words.slice(at), isOpen }, depth)
  return assignments.some(isRiskyAssignment) ? { ...inner, isOpaque: true } : inner
}

const ofShells: Wrapper = {
  flags: 'abcefhiklmnprtuvxBCEHPT',
  longFlags: 'login norc noprofile posix restricted verbose',
  valued: 'oO',
  longValued: 'rcfile init-file',
}

/** A command line or a file; standard input is opaque. */
function byShell(words: readonly string[], depth: number): CommandsRun {
  const end = endOfOptions(words, ofShells)
  if (typeof end !== 'number' || end >= words.length) return unknown
  const options = words.slice(1, end)
  // Shells and other programs differ in where they read the value of `-o`.
  if (options.some((word) => /^-\w+[oO]|^-[oO]\w/.test(word))) return unknown
  if (options.some((word) => /^-\w*c/.test(word))) return line(words.slice(end, end + 1), depth)
  const file = wordAt(words, end)
  return file === undefined || file.startsWith('+') || file.includes('{}') || isStandardInput(file) ? unknown : nothing
}

/** The commands of words that a shell parses as a line. */
function line(words: readonly string[], depth: number): CommandsRun {
  const texts = words.map(unquoted)
  if (texts.some((text) => text === undefined)) return unknown
  const text = texts.join(' ')
  if (text.trim() === '') return nothing
  const commands = plainCommands(text)
  return commands ? together(commands.map((each) => run({ words: each, isOpen: false }, depth))) : unknown
}

/** `trap 'rm x' EXIT` runs a line later. */
function trapped({ words, isOpen }: CommandRun, depth: number): CommandsRun {
  const end = endOfOptions(words, { looks: 'lp' })
  if (end === 'looks' || (end === words.length && !isOpen) || wordAt(words, 1) === '-') return nothing
  return end === undefined || isOpen ? unknown : line(words.slice(end, end + 1), depth)
}

const ofXargs: Wrapper = {
  flags: '0oprtx',
  longFlags: 'null no-run-if-empty verbose interactive exit open-tty',
  valued: 'adEILnPs',
  longValued: 'arg-file delimiter max-args max-procs max-chars',
}

/** Its input becomes further words, or with `-I` any word. */
function byXargs({ words, isOpen }: CommandRun, depth: number): CommandsRun {
  const end = endOfOptions(words, ofXargs)
  if (typeof end !== 'number') return unknown
  const isAnywhere = words.slice(1, end).some((word) => /^-\w*I/.test(word))
  // Its own command may come from another xargs.
  if (end >= words.length) return isOpen || isAnywhere ? unknown : nothing
  const inner = run({ words: words.slice(end), isOpen: true }, depth)
  return isAnywhere ? { ...inner, isOpaque: true } : inner
}

const running = new Set(['-exec', '-execdir', '-ok', '-okdir'])

/** Rules for `rm` apply to `-delete`. */
const deleted: CommandsRun = { commands: [{ words: ['rm'], isOpen: true }], isOpaque: false }

function byFind({ words, isOpen }: CommandRun, depth: number): CommandsRun {
  if (isOpen || words.some(mayBecomeOption)) return unknown
  return together(
    words.flatMap((word, at) => {
      const option = unquoted(word) ?? word
      if (option === '-delete') return [deleted]
      if (!running.has(option)) return []
      const rest = words.slice(at + 1)
      const end = rest.findIndex((each) => [';', '+'].includes(unquoted(each) ?? ''))
      const inner = end < 0 ? rest : rest.slice(0, end)
      return [inner.length === 0 ? unknown : run({ words: inner, isOpen: false }, depth)]
    }),
  )
}
