// Globs without regular expressions: patterns come from models, and matching one costs at most its length times that of
// the path, whatever it is.

/** How many more comparisons may be made. Nothing matches when they are used up. */
interface Effort {
  left: number
}

type Token =
  | { readonly kind: 'letter'; readonly letter: string }
  | { readonly kind: 'any' }
  | { readonly kind: 'star' }
  | { readonly kind: 'set'; readonly isNot: boolean; readonly ranges: readonly (readonly [string, string])[] }

type Segment = { readonly kind: 'star' } | { readonly kind: 'name'; readonly tokens: readonly Token[] }

const mostAlternatives = 64

/** `*`, `?`, `[a-z]`, `**` over folders, and `{a,b}`. */
export function compileGlob(pattern: string): (path: string, effort?: Effort) => boolean {
  const alternatives = expandBraces(pattern).map(segmentsOf)
  return (path, effort = { left: Number.POSITIVE_INFINITY }) => {
    const names = path.split('/').map((name) => [...name])
    return alternatives.some((segments) => matchesPath(segments, names, effort))
  }
}

const segmentsOf = (pattern: string): readonly Segment[] =>
  pattern.split('/').map((part) => (part === '**' ? { kind: 'star' } : { kind: 'name', tokens: tokensOf(part) }))

function tokensOf(part: string): readonly Token[] {
  const letters = [...part]
  const tokens: Token[] = []
  for (let at = 0; at < letters.length; at++) {
    const letter = letters[at] ?? ''
    if (letter === '*') {
      if (tokens.at(-1)?.kind !== 'star') tokens.push({ kind: 'star' })
    } else if (letter === '?') tokens.push({ kind: 'any' })
    else if (letter === '\\' && at + 1 < letters.length) tokens.push({ kind: 'letter', letter: letters[++at] ?? '' })
    else {
      const set = letter === '[' ? setAt(letters, at) : undefined
      tokens.push(set?.token ?? { kind: 'letter', letter })
      at = set?.end ?? at
    }
  }
  return tokens
}

/** A set without an end is a literal bracket. */
function setAt(letters: readonly string[], start: number): { readonly token: Token; readonly end: number } | undefined {
  let at = start + 1
  const isNot = letters[at] === '!' || letters[at] === '^'
  if (isNot) at++
  const ranges: [string, string][] = []
  for (let isFirst = true; at < letters.length; isFirst = false, at++) {
    if (letters[at] === ']' && !isFirst) return { token: { kind: 'set', isNot, ranges }, end: at }
    if (letters[at] === '\\') at++
    const low = letters[at] ?? ''
    if (letters[at + 1] === '-' && letters[at + 2] !== undefined && letters[at + 2] !== ']') at += 2
    ranges.push([low, letters[at] ?? ''])
  }
  return undefined
}

function matchesPath(segments: readonly Segment[], names: readonly (readonly string[])[], effort: Effort): boolean {
  return matchesSequence(segments, names, {
    fits: (segment, name) => segment.kind === 'name' && matchesSequence(segment.tokens, name, { fits: matchesLetter, effort }),
    effort,
  })
}

function matchesLetter(token: Token, letter: string): boolean {
  if (token.kind === 'letter') return token.letter === letter
  if (token.kind === 'set') return token.ranges.some(([low, high]) => low <= letter && letter <= high) !== token.isNot
  return true
}

/** Backtracks to the last star only: it can match all that an earlier one could. */
function matchesSequence<Pattern extends Token | Segment, Item>(
  patterns: readonly Pattern[],
  items: readonly Item[],
  { fits, effort }: { fits(pattern: Pattern, item: Item): boolean; readonly effort: Effort },
): boolean {
  const isStar = ({ kind }: Pattern): boolean => kind === 'star'
  let [at, item] = [0, 0]
  let star: { readonly at: number; item: number } | undefined
  while (item < items.length) {
    if (--effort.left < 0) return false
    const pattern = patterns[at]
    if (pattern !== undefined && isStar(pattern)) {
      star = { at, item }
      at++
    } else if (pattern !== undefined && fits(pattern, items[item] as Item)) {
      at++
      item++
    } else if (star) {
      at = star.at + 1
      item = ++star.item
    } else return false
  }
  return patterns.slice(at).every(isStar)
}

/** `a.{ts,js}` as `a.ts` and `a.js`; a pattern with too many forms is not expanded. */
function expandBraces(pattern: string): readonly string[] {
  let forms = [pattern]
  for (;;) {
    const next = forms.flatMap(expandFirstBrace)
    if (next.length > mostAlternatives) return [pattern]
    if (next.length === forms.length && next.every((form, index) => form === forms[index])) return forms
    forms = next
  }
}

/** The innermost pair first, so that nested ones are expanded, too. */
function expandFirstBrace(pattern: string): readonly string[] {
  const found = /\{([^{}]*,[^{}]*)\}/.exec(pattern)
  if (!found) return [pattern]
  const [before, after] = [pattern.slice(0, found.index), pattern.slice(found.index + found[0].length)]
  return (found[1] ?? '').split(',').map((form) => before + form + after)
}

const effortPerPath = 1_000_000
const totalEffort = 1_000_000_000

/** A pattern without a slash matches names anywhere; one with a slash matches paths from the root or from the searched folder. */
export class PathFilter {
  readonly #matches: (path: string, effort: Effort) => boolean
  readonly #isForNames: boolean
  /** The searched folder with a slash; empty for the root. */
  readonly #prefix: string
  /** Whether some paths were not compared completely. */
  isTooSlow = false
  #left = totalEffort

  constructor(pattern: string, folder: string) {
    const relative = pattern.replace(/^(?:\.?\/)+/, '')
    this.#matches = compileGlob(relative)
    this.#isForNames = !relative.includes('/')
    this.#prefix = folder === '.' ? '' : `${folder}/`
  }

  fits(path: string): boolean {
    const allowed = Math.min(effortPerPath, this.#left)
    const effort: Effort = { left: allowed }
    const doesFit = this.#isForNames ? this.#matches(path.slice(path.lastIndexOf('/') + 1), effort) : this.#fitsPath(path, effort)
    this.#left -= allowed - effort.left
    if (effort.left < 0) this.isTooSlow = true
    return doesFit
  }

  #fitsPath(path: string, effort: Effort): boolean {
    const isBelow = this.#prefix !== '' && path.startsWith(this.#prefix)
    return this.#matches(path, effort) || (isBelow && this.#matches(path.slice(this.#prefix.length), effort))
  }
}
