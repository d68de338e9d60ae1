// Globs without regular expressions: patterns come from models and from files of other people, and matching one costs
// at most its length times that of the path, whatever it is. Many of them together are held by an `Effort`.

/** A path as it is matched: names, letter by letter. */
export type PathLetters = readonly (readonly string[])[]

export const lettersOf = (path: string): PathLetters => path.split('/').map((name) => [...name])

export interface PathGlob {
  /** Where the effort is used up, nothing matches. */
  matches(path: PathLetters, effort: Effort): boolean
}

/** How much was done, in comparisons, and how much may be. */
export class Effort {
  #done = 0
  #most = Number.POSITIVE_INFINITY

  get done(): number {
    return this.#done
  }

  get isSpent(): boolean {
    return this.#done >= this.#most
  }

  /** From here on so much, and no more. */
  allow(more: number): void {
    this.#most = this.#done + more
  }

  add(steps: number): void {
    this.#done += steps
  }
}

type Token =
  | { readonly kind: 'letter'; readonly letter: string }
  | { readonly kind: 'any' }
  | { readonly kind: 'star' }
  | { readonly kind: 'set'; readonly isNot: boolean; readonly ranges: readonly (readonly [string, string])[] }

type Segment = { readonly kind: 'folders' } | { readonly kind: 'name'; readonly tokens: readonly Token[] }

const mostAlternatives = 64

/** `*`, `?`, `[a-z]`, `**` over folders and, unless switched off, `{a,b}`. */
export function pathGlobOf(pattern: string, { hasBraces = true }: { readonly hasBraces?: boolean } = {}): PathGlob {
  const alternatives = (hasBraces ? expanded(pattern) : [pattern]).map(segmentsOf)
  return {
    matches: (path, effort) => alternatives.some((segments) => matchesAll(segments, path, effort)),
  }
}

const segmentsOf = (pattern: string): readonly Segment[] =>
  pattern.split('/').map((part) => (part === '**' ? { kind: 'folders' } : { kind: 'name', tokens: tokensOf(part) }))

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

/** A set that is never closed is a bracket. */
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

/** Goes back to the last `**` only: whatever an earlier one could take, the last can. */
function matchesAll(segments: readonly Segment[], names: PathLetters, effort: Effort): boolean {
  return wildcard(segments, names, {
    isStar: (segment) => segment.kind === 'folders',
    fits: (segment, name) => segment.kind === 'name' && matchesName(segment.tokens, name, effort),
    effort,
  })
}

function matchesName(tokens: readonly Token[], name: readonly string[], effort: Effort): boolean {
  return wildcard(tokens, name, { isStar: (token) => token.kind === 'star', fits: matchesLetter, effort })
}

function matchesLetter(token: Token, letter: string): boolean {
  if (token.kind === 'letter') return token.letter === letter
  if (token.kind === 'set') return token.ranges.some(([low, high]) => low <= letter && letter <= high) !== token.isNot
  return true
}

interface Rules<Pattern, Item> {
  isStar(pattern: Pattern): boolean
  fits(pattern: Pattern, item: Item): boolean
  readonly effort: Effort
}

function wildcard<Pattern, Item>(
  patterns: readonly Pattern[],
  items: readonly Item[],
  { isStar, fits, effort }: Rules<Pattern, Item>,
): boolean {
  let [at, item] = [0, 0]
  let star: { readonly at: number; item: number } | undefined
  while (item < items.length) {
    effort.add(1)
    if (effort.isSpent) return false
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

/** `a.{ts,js}` as `a.ts` and `a.js`; what has too many forms is taken as it stands. */
function expanded(pattern: string): readonly string[] {
  let forms = [pattern]
  for (;;) {
    const next = forms.flatMap(withoutFirstBrace)
    if (next.length > mostAlternatives) return [pattern]
    if (next.length === forms.length && next.every((form, index) => form === forms[index])) return forms
    forms = next
  }
}

/** The innermost pair first, so that nested ones come out, too. */
function withoutFirstBrace(pattern: string): readonly string[] {
  const found = /\{([^{}]*,[^{}]*)\}/.exec(pattern)
  if (!found) return [pattern]
  const [before, after] = [pattern.slice(0, found.index), pattern.slice(found.index + found[0].length)]
  return (found[1] ?? '').split(',').map((form) => before + form + after)
}

/** A pattern without a slash is for names anywhere; one with a slash for paths from the root, or from the folder that is looked through. */
export function pathFilter(pattern: string, folder: string, effort: Effort): (path: string) => boolean {
  const plain = pattern.replace(/^(?:\.?\/)+/, '')
  const glob = pathGlobOf(plain)
  const matches = (path: string): boolean => glob.matches(lettersOf(path), effort)
  if (!plain.includes('/')) return (path) => matches(path.slice(path.lastIndexOf('/') + 1))
  return (path) => matches(path) || (folder !== '.' && path.startsWith(`${folder}/`) && matches(path.slice(folder.length + 1)))
}
