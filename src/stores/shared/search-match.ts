import type { SearchMatch } from '../../contracts/index.ts'
import type { SearchTerm } from './search-terms.ts'
import { type Word, wordsOf } from './search-words.ts'

type Snippet = Pick<SearchMatch, 'snippet' | 'ranges'>
type Span = Pick<Word, 'start' | 'end'>
type Phrase = readonly string[]

const snippetChars = 160
/** So many of them come before the first match. */
const leadChars = 60

/** Compares texts with one search. A search may have thousands of terms, each with thousands of matches in a text: it never lists them. */
export interface TextMatcher {
  /** Whether the text contains every term. */
  matches(text: string): boolean
  /** The text around the first match of a term, in one line. */
  snippetOf(text: string): Snippet
}

export function textMatcher(terms: readonly SearchTerm[]): TextMatcher {
  const literals = terms.flatMap((term) => (term.kind === 'literal' ? [term.text] : []))
  const phrases = terms.flatMap((term) => (term.kind === 'phrase' ? [term.words] : []))
  const phrasesAt = phraseFinder(phrases)

  function hasPhrases(text: string): boolean {
    const missing = new Set(phrases)
    const words = missing.size > 0 ? wordsOf(text) : []
    for (const place of words.keys()) {
      for (const phrase of phrasesAt(words, place)) missing.delete(phrase)
      if (missing.size === 0) return true
    }
    return missing.size === 0
  }

  function snippetOf(text: string): Snippet {
    const words = wordsOf(text)
    const firstPlace = words.findIndex((_, place) => !phrasesAt(words, place).next().done)
    let first = words[firstPlace]?.start ?? text.length
    for (const literal of literals) {
      const earlier = text.slice(0, first + literal.length - 1).indexOf(literal)
      if (earlier !== -1) first = earlier
    }
    const from = startOfSnippet(text, first === text.length ? 0 : first)
    const to = beforeCharacter(text, Math.min(text.length, from + snippetChars))
    // A set: phrases may have words in common.
    const spans = new Set<Span>(literals.flatMap((literal) => literalSpans(text, literal, { start: from, end: to })))
    for (let place = firstPlace; place >= 0 && startOf(words, place) < to; place += 1)
      for (const phrase of phrasesAt(words, place))
        for (let next = place; next < place + phrase.length && startOf(words, next) < to; next += 1) spans.add(words[next] as Word)
    return marked(text, [...spans], { start: from, end: to })
  }

  return { matches: (text) => literals.every((literal) => text.includes(literal)) && hasPhrases(text), snippetOf }
}

const startOf = (words: readonly Word[], place: number): number => words[place]?.start ?? Number.POSITIVE_INFINITY

/** The phrases that begin at a word. Does not compare the word with each of them. */
function phraseFinder(phrases: readonly Phrase[]) {
  const single = new Map(phrases.filter(({ length }) => length === 1).map((phrase) => [phrase[0], phrase]))
  const longer = Map.groupBy(
    phrases.filter(({ length }) => length > 1),
    ([first]) => first,
  )
  const lengths = [...new Set([...single.keys()].map((word = '') => word.length))]
  return function* phrasesAt(words: readonly Word[], place: number): Generator<Phrase> {
    const word = words[place]?.word ?? ''
    for (const length of lengths) {
      const phrase = length > word.length ? undefined : single.get(word.slice(0, length))
      if (phrase) yield phrase
    }
    for (const phrase of longer.get(word) ?? []) if (isAt(words, place, phrase)) yield phrase
  }
}

function isAt(words: readonly Word[], first: number, phrase: Phrase): boolean {
  const last = phrase.length - 1
  return phrase.every((wanted, place) => {
    const word = words[first + place]?.word
    return place === last ? word?.startsWith(wanted) : word === wanted
  })
}

function literalSpans(text: string, literal: string, { start, end }: Span): readonly Span[] {
  const part = text.slice(start, end + literal.length - 1)
  const spans: Span[] = []
  for (let place = part.indexOf(literal); place !== -1; place = part.indexOf(literal, place + literal.length))
    spans.push({ start: start + place, end: start + place + literal.length })
  return spans
}

function marked(text: string, found: readonly Span[], { start: from, end: to }: Span): Snippet {
  const spans = found.toSorted((one, other) => one.start - other.start || other.end - one.end)
  const ranges: [number, number][] = []
  let snippet = isText(text.slice(0, from)) ? '…' : ''
  let place = from
  for (const { start, end } of spans) {
    // Two terms may match the same word.
    if (start < place) continue
    snippet += oneLine(text.slice(place, start))
    const begin = snippet.length
    place = Math.min(end, to)
    snippet += oneLine(text.slice(start, place))
    ranges.push([begin, snippet.length])
  }
  return { snippet: snippet + oneLine(text.slice(place, to)).trimEnd() + (isText(text.slice(to)) ? '…' : ''), ranges }
}

/** Behind a space, if there is one. */
function startOfSnippet(text: string, first: number): number {
  const earliest = Math.max(0, first - leadChars)
  const lead = text.slice(earliest, first)
  const begin = earliest === 0 ? lead.search(/\S|$/) : lead.search(/\s\S|\s$/) + 1
  return beforeCharacter(text, earliest + begin)
}

/** Not between the two halves of a character. */
const beforeCharacter = (text: string, place: number): number =>
  /^[\udc00-\udfff]/.test(text.slice(place, place + 1)) && place > 0 ? place - 1 : place

const isText = (text: string): boolean => /\S/.test(text)
const oneLine = (text: string): string => text.replace(/[\s\p{Cc}]+/gu, ' ')
