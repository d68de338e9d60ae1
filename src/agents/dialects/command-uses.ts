/** As long as a command that anybody writes into a list. */
const mostLetters = 200
/** Words as they are told of a plain command here: quotes, variables, redirections and brackets are never part of them. */
const plainWords = /^[\w@%+:,./=^~*-]+(?: [\w@%+:,./=^~*-]+)*$/
/** With these before it, or a variable, a command is no plain one. */
const noName = /=|^~|^(?:if|then|else|elif|fi|do|done|case|esac|while|until|for|select|in|function|time|coproc)$/

/**
 * What becomes of a rule for some commands. One that loosens must fit nothing that it does not fit in the other program, one
 * that tightens everything that it fits there; one that may do either must fit exactly the same.
 */
export type Purpose = 'loosens' | 'tightens' | 'both'

/**
 * The uses of our shell that a pattern of commands stands for; `undefined` where that cannot be said here. Stars stand for
 * anything, and a last word that is one may be missing.
 */
export function commandUses(pattern: string, purpose: Purpose): readonly string[] | undefined {
  const words = pattern.trim().replaceAll(/ +/g, ' ')
  const [name = ''] = words.split(' ')
  // `a, b` is no command: two were meant.
  if (words.length > mostLetters || !plainWords.test(words) || noName.test(name) || words.includes(', ')) return undefined
  // A script, which is told in quotes, begins with anything.
  if (purpose !== 'tightens' && name.startsWith('*')) return undefined
  if (!words.endsWith(' *')) return [words]
  const isOnlyStar = words.indexOf('*') === words.length - 1
  // Some take the last word for optional where there are other stars, too, and some do not.
  if (!isOnlyStar && purpose === 'both') return undefined
  return isOnlyStar || purpose === 'tightens' ? [words.slice(0, -2), words] : [words]
}

/** What Claude's `Bash(git log:*)` lets run: its older way to write `git log *`. */
export function claudeUses(pattern: string): readonly string[] | undefined {
  const written = pattern.trim()
  if (!written.endsWith(':*')) return commandUses(written, 'loosens')
  const begin = written.slice(0, -2)
  // There its other stars are only themselves.
  return begin.includes('*') ? undefined : commandUses(`${begin} *`, 'loosens')
}
