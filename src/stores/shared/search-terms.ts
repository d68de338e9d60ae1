import { maxSearchChars } from '../../contracts/index.ts'
import { literalRun, storable, wordsOf } from './search-words.ts'

/** What a text must contain. */
export type SearchTerm =
  /** These words in a row. The last one may be the beginning of a word. */
  | { readonly kind: 'phrase'; readonly words: readonly string[] }
  /** This text as it is. `words`: characters of it that an index has, in a row. */
  | { readonly kind: 'literal'; readonly text: string; readonly words: readonly string[] }

/** For one search. Further ones may be anywhere in a text: an index takes time for each of them at each match of the others. */
const maxJoinedWords = 64

/** The terms of a search. Nothing in it is an operator. Empty if it is blank. */
export function searchTerms(search: string): readonly SearchTerm[] {
  const chunks = new Set(storable(search.slice(0, maxSearchChars)).split(/\s+/))
  const terms = withoutLongPhrases([...chunks].filter((chunk) => chunk !== '').flatMap(termsOf))
  return [...new Map(terms.map((term) => [JSON.stringify(term), term])).values()]
}

function termsOf(chunk: string): readonly SearchTerm[] {
  if (wordsOf(chunk).length === 0) return [{ kind: 'literal', text: chunk, words: [] }]
  // A pattern with a group splits into the parts between its matches and, at the odd places, the matches.
  return chunk.split(literalRun()).flatMap((part, index): readonly SearchTerm[] => {
    const words = wordsOf(part).map(({ word }) => word)
    if (index % 2 === 1) return [{ kind: 'literal', text: part, words }]
    return words.length === 0 ? [] : [{ kind: 'phrase', words }]
  })
}

function withoutLongPhrases(terms: readonly SearchTerm[]): readonly SearchTerm[] {
  let left = maxJoinedWords
  return terms.flatMap((term): readonly SearchTerm[] => {
    if (term.words.length < 2) return [term]
    const [words, others] = [term.words.slice(0, left), term.words.slice(left)]
    left -= words.length
    if (term.kind === 'literal') return [{ ...term, words }]
    return [...(words.length === 0 ? [] : [{ ...term, words }]), ...others.map((word) => ({ ...term, words: [word] }))]
  })
}
