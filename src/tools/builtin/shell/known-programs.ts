// What is known about programs. Words of a command are as `shell-words.ts` tells them.
import { expandsTo, unquoted } from './shell-words.ts'

const set = (names: string): ReadonlySet<string> => new Set(names.split(' '))

/** Programs that only look, whatever they are told. */
const readOnlyPrograms = set(
  'ls cat cd pwd echo printf head tail wc stat du df date uname whoami id basename dirname realpath readlink grep egrep fgrep cut tr nl cmp diff true false test seq which type tac rev comm fold md5sum sha1sum sha256sum',
)
const readOnlyVerbs = set('status log diff show ls-files rev-parse describe blame shortlog')
/** Options of git's looking verbs that neither write a file nor run a program. */
const readOnlyOptions =
  /^(?:-[0-9]+|-n|-[abpsSuwz]|--(?:short|branch|porcelain|stat|numstat|shortstat|name-only|name-status|oneline|graph|all|cached|staged|abbrev-ref|show-toplevel|patch|no-color|no-pager|reverse|follow|merges|no-merges|date=\w+|format=[^;]*|pretty=\w+|max-count=\d+|since=\S+|until=\S+|author=\S+|tags|always|dirty|word-diff)|--)$/

/** Words of the shell itself after which the same line means something else: where it is, what a name stands for, what runs. */
const shellStateCommands = set(
  'cd pushd popd dirs export declare typeset local readonly unset set shopt alias unalias source . eval exec trap hash enable read mapfile readarray getopts umask ulimit builtin command let shift bind complete wait',
)

/** `printf -v` sets a variable, for example where programs are looked for. */
export function changesShellState([name, option = '']: readonly string[]): boolean {
  if (name === 'printf') return unquoted(option)?.startsWith('-') ?? true
  return name !== undefined && shellStateCommands.has(name)
}

export interface Looking {
  /** Git finds the repository of the workspace, and that runs nothing. */
  readonly isPlainRepository: boolean
}

/** Behind walls there is nothing to ask about it. A word that stands for names of files could stand for an option. */
export function isHarmless(words: readonly string[], { isPlainRepository }: Looking): boolean {
  if (words.some(expandsTo)) return false
  const [name, verb, ...options] = words.map((word) => unquoted(word) ?? word)
  if (name === undefined) return false
  // `test -v 'a[$(x)]'` runs x.
  if (name === 'test' && words.some((word) => /[$`]/.test(word))) return false
  if (readOnlyPrograms.has(name)) return name === 'cd' || !changesShellState(words)
  if (name !== 'git' || verb === undefined || !isPlainRepository || !readOnlyVerbs.has(verb)) return false
  return options.every((option) => !option.startsWith('-') || readOnlyOptions.test(option))
}

/**
 * What may be granted with whatever follows: no option of these runs a program, and none reads or writes anything but what
 * its name says. Everything else is granted word by word: nobody knows all options of all programs.
 */
const anyArguments = set('mkdir touch')
const anyArgumentsAfter: { readonly [program: string]: ReadonlySet<string> } = { git: set('add commit status rev-parse ls-files') }
/** Behind walls also what reads or writes wherever it is told to. */
const anyArgumentsInSandbox = new Set([...readOnlyPrograms, 'tsc'].filter((name) => name !== 'printf'))

/** How much of a command may be granted for all that begins like it: so many words, or none. */
export function grantableWords(words: readonly string[], isConfined: boolean): number {
  const [name, verb] = words
  if (name === undefined || changesShellState(words)) return 0
  if (anyArguments.has(name) || (isConfined && anyArgumentsInSandbox.has(name))) return 1
  const verbs = Object.hasOwn(anyArgumentsAfter, name) ? anyArgumentsAfter[name] : undefined
  return verb !== undefined && verbs?.has(verb) ? 2 : 0
}
