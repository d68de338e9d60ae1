// Known programs. Words are quoted as by `shell-words.ts`.
import { expandsTo, unquoted } from './shell-words.ts'

const set = (names: string): ReadonlySet<string> => new Set(names.split(' '))

/** Read-only with any arguments. */
const readOnlyPrograms = set(
  'ls cat cd pwd echo printf head tail wc stat du df date uname whoami id basename dirname realpath readlink grep egrep fgrep cut tr nl cmp diff true false test seq which type tac rev comm fold md5sum sha1sum sha256sum',
)
const readOnlyVerbs = set('status log diff show ls-files rev-parse describe blame shortlog')
/** Options of these verbs that neither write a file nor run a program. */
const readOnlyOptions =
  /^(?:-[0-9]+|-n|-[abpsSuwz]|--(?:short|branch|porcelain|stat|numstat|shortstat|name-only|name-status|oneline|graph|all|cached|staged|abbrev-ref|show-toplevel|patch|no-color|no-pager|reverse|follow|merges|no-merges|date=\w+|format=[^;]*|pretty=\w+|max-count=\d+|since=\S+|until=\S+|author=\S+|tags|always|dirty|word-diff)|--)$/

/** Shell built-ins that change what later commands of the line mean. */
const shellStateCommands = set(
  'cd pushd popd dirs export declare typeset local readonly unset set shopt alias unalias source . eval exec trap hash enable read mapfile readarray getopts umask ulimit builtin command let shift bind complete wait',
)

/** `printf -v` sets a variable, for example PATH. */
export function changesShellState([name, option = '']: readonly string[]): boolean {
  if (name === 'printf') return unquoted(option)?.startsWith('-') ?? true
  return name !== undefined && shellStateCommands.has(name)
}

/**
 * Needs no approval in the sandbox. A glob could expand to an option, so it is not harmless. `isPlainRepository`: Git finds the
 * repository of the workspace, and its configuration runs no programs.
 */
export function isHarmless(words: readonly string[], isPlainRepository: boolean): boolean {
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
 * Commands that can be granted with any arguments: no option runs a program, or reads or writes anything but what
 * the name says. Any other command is granted exactly: its options are not all known.
 */
const anyArguments = set('mkdir touch')
const anyArgumentsAfter: { readonly [program: string]: ReadonlySet<string> } = { git: set('add commit status rev-parse ls-files') }
/** In the sandbox also commands that read or write any path. */
const anyArgumentsInSandbox = new Set([...readOnlyPrograms, 'tsc'].filter((name) => name !== 'printf'))

/** How many words form a prefix that can be granted; 0 for none. */
export function grantableWords(words: readonly string[], isConfined: boolean): number {
  const [name, verb] = words
  if (name === undefined || changesShellState(words)) return 0
  if (anyArguments.has(name) || (isConfined && anyArgumentsInSandbox.has(name))) return 1
  const verbs = Object.hasOwn(anyArgumentsAfter, name) ? anyArgumentsAfter[name] : undefined
  return verb !== undefined && verbs?.has(verb) ? 2 : 0
}
