// Parses plain command lines: a sequence of simple commands of plain words.
//
// 1. A line that is not understood completely is not plain. A shell does exactly what the result says.
// 2. Words are returned quoted where necessary: a star that the shell expands differs from a quoted star.
import { shellWord } from '../../../util/shell-word.ts'

/** Words in their simplest quoting. */
export type PlainCommand = readonly [string, ...string[]]

/** The commands of a line joined by `&&`, `||`, `;`, `|` or line ends; undefined for any other line. */
export function plainCommands(line: string): readonly PlainCommand[] | undefined {
  const tokens = tokensOf(line)
  if (!tokens) return undefined
  const commands: string[][] = [[]]
  let joined: Token | undefined
  for (const token of tokens) {
    if (token.kind === 'word') commands.at(-1)?.push(token.text)
    else if (token.kind === 'join') {
      // Only a line end may have no command before it.
      if (commands.at(-1)?.length === 0 && token.text !== '\n') return undefined
      if (commands.at(-1)?.length !== 0) commands.push([])
    }
    if (token.kind !== 'quiet') joined = token
  }
  const found = commands.filter((words): words is [string, ...string[]] => words.length > 0)
  const isOpen = joined?.kind === 'join' && joined.text !== '\n' && joined.text !== ';'
  if (found.length === 0 || isOpen || found.some(([name]) => !isPlainName(name))) return undefined
  return found
}

type Token = { readonly kind: 'word' | 'join'; readonly text: string } | { readonly kind: 'quiet' }

const gap = /[ \t]+/y
const joiner = /&&|\|\||;(?!;)|\|(?!&)|\n/y
/** Redirections between outputs, or to /dev/null. */
const quiet = /(?:[12]?>&[12]|[12]?>{1,2} *\/dev\/null|< *\/dev\/null)(?=[ \t\n;|&]|$)/y

function tokensOf(line: string): readonly Token[] | undefined {
  const tokens: Token[] = []
  let place = 0
  const take = (pattern: RegExp): string | undefined => {
    pattern.lastIndex = place
    const found = pattern.exec(line)?.[0]
    if (found !== undefined) place += found.length
    return found
  }
  while (place < line.length) {
    if (take(gap) !== undefined) continue
    if (take(quiet) !== undefined) {
      tokens.push({ kind: 'quiet' })
      continue
    }
    const join = take(joiner)
    if (join !== undefined) {
      tokens.push({ kind: 'join', text: join })
      continue
    }
    const word = wordAt(line, place)
    if (!word) return undefined
    tokens.push({ kind: 'word', text: word.text })
    place = word.end
  }
  return tokens
}

/** Characters without special meaning. */
const bare = /[\w@%+:,./=^-]+/y
/** Characters of globs; harmless in an argument. */
const pattern = /[*?[\]~]+/y
const single = /'([^'\0]*)'/y
/** Double quotes without expansions. */
const double = /"((?:[^"$`\\!\0]|\\["\\$`])*)"/y
const escaped = /\\([^\n\0])/y

function wordAt(line: string, start: number): { readonly text: string; readonly end: number } | undefined {
  const parts: { readonly text: string; readonly isLiteral: boolean }[] = []
  let place = start
  const take = (expression: RegExp, read: (found: RegExpExecArray) => string, isLiteral = true): boolean => {
    expression.lastIndex = place
    const found = expression.exec(line)
    if (!found) return false
    place += found[0].length
    parts.push({ text: read(found), isLiteral })
    return true
  }
  while (
    take(bare, ([text]) => text) ||
    take(pattern, ([text]) => text, false) ||
    take(single, (found) => found[1] ?? '') ||
    take(double, (found) => (found[1] ?? '').replaceAll(/\\(.)/g, '$1')) ||
    take(escaped, (found) => found[1] ?? '')
  );
  const next = line[place]
  if (place === start || (next !== undefined && !' \t\n;|&<>'.includes(next))) return undefined
  // `3>x` and `a>x` differ, and neither is plain.
  if (next === '<' || next === '>') return undefined
  return { text: written(parts), end: place }
}

function written(parts: readonly { readonly text: string; readonly isLiteral: boolean }[]): string {
  if (parts.every(({ isLiteral }) => isLiteral)) return shellWord(parts.map(({ text }) => text).join(''))
  return parts.map(({ text, isLiteral }) => (isLiteral ? shellWord(text) : text)).join('')
}

/** The word without quotes; undefined if the shell expands it. */
export function unquoted(word: string): string | undefined {
  if (!word.includes("'")) return /[*?[\]~]/.test(word) ? undefined : word
  const found = /^'(?:[^']|'\\'')*'$/.exec(word)
  return found ? word.slice(1, -1).replaceAll("'\\''", "'") : undefined
}

/** A word that the shell expands to file names or a home folder. */
export function expandsTo(word: string): boolean {
  const bare = word.replaceAll("\\'", '').replaceAll(/'[^']*'/g, '')
  return /[*?[\]]|(?:^|[:=])~/.test(bare)
}

const reserved = new Set('if then else elif fi do done case esac while until for select in function time coproc { } ! [[ ]]'.split(' '))

/** The name of a program, not an assignment, pattern or keyword. */
function isPlainName(name: string): boolean {
  return /^[\w@%+:,./^-]+$/.test(name) && !reserved.has(name)
}
