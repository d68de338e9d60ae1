import type { SearchMatch, TreeEntry, TreeFilter } from '../../contracts/index.ts'
import { type TextMatcher, textMatcher } from '../shared/search-match.ts'
import { type SearchTerm, searchTerms } from '../shared/search-terms.ts'
import type { Database, Row } from './database.ts'
import { conditionOf, entryColumns, entryOf, limitOf, Values } from './tree-rows.ts'
import { indexedWord, maxIndexedWord } from './turn-rows.ts'

/** Texts that are compared at once. */
const pageTexts = 64
/** The index is asked for so many words of a search: the texts that it finds are compared with all. */
const maxAskedWords = 64

/**
 * Finds trees by the words of their texts, the newest first. The index knows which words a text has, and not where: what it finds is
 * compared with the search, as in every store.
 */
export async function searchTrees(database: Database, filter: TreeFilter): Promise<readonly TreeEntry[]> {
  const terms = searchTerms(filter.search ?? '')
  const matcher = textMatcher(terms)
  const limit = limitOf(filter) ?? Number.POSITIVE_INFINITY
  const found: TreeEntry[] = []
  let [before, beforeText]: [number | undefined, number | undefined] = [filter.before, undefined]
  while (found.length < limit) {
    const rows = await nextTexts(database, { filter: { ...filter, ...(before !== undefined && { before }) }, terms, beforeText })
    for (const row of rows) {
      // The newest text of this tree was found already.
      if (found.at(-1)?.createdAt === row.created_at) continue
      const entry = entryOf(row)
      const match = entry && matchOf(row, matcher)
      if (match) found.push({ ...entry, match })
      if (found.length >= limit) break
    }
    const last = rows.at(-1)
    if (last === undefined || rows.length < pageTexts) break
    const isFound = found.at(-1)?.createdAt === last.created_at
    before = Number(last.created_at)
    beforeText = isFound ? undefined : Number(last.text_id)
  }
  return found
}

interface Page {
  readonly filter: TreeFilter
  readonly terms: readonly SearchTerm[]
  /** Continue with earlier texts of the tree that was created at `filter.before`. */
  readonly beforeText: number | undefined
}

function nextTexts(database: Database, { filter, terms, beforeText }: Page): Promise<readonly Row[]> {
  const values = new Values()
  const { before, ...rest } = filter
  const conditions = [conditionOf(rest, values)]
  if (before !== undefined && beforeText === undefined) conditions.push(`trees.created_at < ${values.add(before)}`)
  if (before !== undefined && beforeText !== undefined)
    conditions.push(`(trees.created_at, texts.id) < (${values.add(before)}::float8, ${values.add(beforeText)}::bigint)`)
  const words = wordQuery(terms)
  if (words !== '') conditions.push(`texts.words @@ ${values.add(words)}::tsquery`)
  const literal = terms.find((term) => term.kind === 'literal' && term.text !== term.words[0])
  if (literal?.kind === 'literal') conditions.push(`position(${values.add(literal.text)} in texts.text) > 0`)
  return database.read(
    `SELECT ${entryColumns}, texts.id AS text_id, texts.kind, texts.at, texts.text
       FROM troupe.search_texts AS texts JOIN troupe.trees ON key = texts.tree
       WHERE ${conditions.join(' AND ')} ORDER BY trees.created_at DESC, texts.id DESC LIMIT ${pageTexts}`,
    values.list,
  )
}

/** Words have letters and digits only, so quotes suffice. The last one of a phrase may be the beginning of a word. */
function wordQuery(terms: readonly SearchTerm[]): string {
  const asked = terms.flatMap(({ kind, words }) =>
    words.map((word, index) => {
      const isPrefix = (kind === 'phrase' && index === words.length - 1) || word.length > maxIndexedWord
      return `'${indexedWord(word)}'${isPrefix ? ':*' : ''}`
    }),
  )
  return [...new Set(asked)].slice(0, maxAskedWords).join(' & ')
}

function matchOf({ text, kind, at }: Row, matcher: TextMatcher): SearchMatch | undefined {
  if (!matcher.matches(String(text))) return undefined
  return { kind: kind as SearchMatch['kind'], at: Number(at), ...matcher.snippetOf(String(text)) }
}
