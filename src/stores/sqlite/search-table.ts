import type { DatabaseSync } from 'node:sqlite'
import { type SearchMatch, type TreeEntry, type TreeFilter, TroupeError } from '../../contracts/index.ts'
import { type TextMatcher, textMatcher } from '../shared/search-match.ts'
import { type SearchTerm, searchTerms } from '../shared/search-terms.ts'
import type { IndexPosition, searchIndex } from './search-index.ts'
import { isBusy, isMediumFailure } from './sqlite-errors.ts'
import type { TreeTable } from './tree-table.ts'

interface Parts {
  readonly trees: TreeTable
  readonly index: ReturnType<typeof searchIndex>
}

/** A search that has begun. */
export interface TextSearch {
  readonly terms: readonly SearchTerm[]
  readonly matcher: TextMatcher
  /** What the index is asked. Empty if it has none of the terms. */
  readonly expression: string
  /** Texts that are not in the index: up to where they were looked through, and which of them match. */
  scanned: number
  readonly later: number[]
}

export function textSearch(search = ''): TextSearch {
  const terms = searchTerms(search)
  return { terms, matcher: textMatcher(terms), expression: matchExpression(terms), scanned: 0, later: [] }
}

/** Texts that are looked through at once. */
const slice = { texts: 256, chars: 256 * 1024 } as const

/** Finds trees by the words of their texts. Writes nothing: a store that only reads can search, too. */
export function searchTable(database: DatabaseSync, { trees, index }: Parts) {
  const text = database.prepare('SELECT kind, at, text FROM search_texts WHERE id = ?')

  function matchAt(id: number, { matcher }: TextSearch): SearchMatch | undefined {
    const row = text.get(id)
    return row && { kind: row.kind as SearchMatch['kind'], at: Number(row.at), ...matcher.snippetOf(String(row.text)) }
  }

  /** Looks through texts that are not in the index yet. Whether there may be more. */
  function scan(search: TextSearch, max: { readonly texts: number; readonly chars: number }): boolean {
    let [texts, chars] = [0, 0]
    for (const { id, text } of index.laterTexts(Math.max(search.scanned, index.position()?.last ?? 0))) {
      if (search.matcher.matches(String(text))) search.later.push(Number(id))
      search.scanned = Number(id)
      texts += 1
      chars += String(text).length
      if (texts >= max.texts || chars >= max.chars) return true
    }
    return false
  }

  function find(filter: TreeFilter, search: TextSearch): readonly TreeEntry[] {
    const position = index.position()
    try {
      return trees.search(filter, textQuery(search, position)).map(({ entry, textId }) => {
        const match = matchAt(textId, search)
        return match ? { ...entry, match } : entry
      })
    } catch (error) {
      if (!isBusy(error) && !isMediumFailure(error)) checkIndex(database, search, position)
      throw error
    }
  }

  return {
    /** Looks through a part of the texts that are not in the index yet. Whether there may be more: a damaged index is reported before. */
    scanNext(search: TextSearch): boolean {
      const isFirst = search.scanned === 0
      const hasMore = search.expression !== '' && scan(search, slice)
      if (hasMore && isFirst) checkIndex(database, search, index.position())
      return hasMore
    },
    list(filter: TreeFilter, search: TextSearch): readonly TreeEntry[] {
      if (search.terms.length === 0) return trees.list(filter)
      // One state for all statements: another process may replace the index.
      database.exec('BEGIN')
      try {
        if (search.expression !== '') scan(search, { texts: Number.POSITIVE_INFINITY, chars: Number.POSITIVE_INFINITY })
        return find(filter, search)
      } finally {
        if (database.isTransaction) database.exec('ROLLBACK')
      }
    },
  }
}

/** Words contain no quotes. Empty for terms that an index does not have. */
function matchExpression(terms: readonly SearchTerm[]): string {
  const phrases = terms.filter(({ words }) => words.length > 0)
  return phrases.map(({ kind, words }) => `"${words.join(' ')}"${kind === 'phrase' ? '*' : ''}`).join(' ')
}

export interface TextQuery {
  /** Selects `found_tree` and `found_text`, the newest text of it. */
  readonly sql: string
  readonly values: readonly string[]
}

function textQuery({ expression, terms, later }: TextSearch, position: IndexPosition | undefined): TextQuery {
  const conditions: TextQuery[] = []
  if (expression !== '') {
    const indexed = position && `SELECT rowid FROM ${position.table} WHERE ${position.table} MATCH ? UNION ALL `
    const values = position ? [expression, JSON.stringify(later)] : [JSON.stringify(later)]
    conditions.push({ sql: `id IN (${indexed ?? ''}SELECT value FROM json_each(?))`, values })
  }
  // The index finds several characters in this order also with something between them. A single one it finds exactly.
  const [first, ...others] = terms.flatMap((term) => (term.kind === 'literal' && term.text !== term.words[0] ? [term.text] : []))
  if (first !== undefined) conditions.push({ sql: 'instr(text, ?) > 0', values: [first] })
  if (others.length > 0)
    conditions.push({ sql: 'NOT EXISTS (SELECT 1 FROM json_each(?) WHERE instr(text, value) = 0)', values: [JSON.stringify(others)] })
  const where = conditions.map(({ sql }) => sql).join(' AND ')
  return {
    sql: `SELECT tree AS found_tree, max(id) AS found_text FROM search_texts WHERE ${where} GROUP BY tree`,
    values: conditions.flatMap(({ values }) => values),
  }
}

/** Throws `index_damaged` if the index alone fails, too. */
function checkIndex(database: DatabaseSync, { expression }: TextSearch, position: IndexPosition | undefined): void {
  if (position === undefined || expression === '') return
  try {
    database.prepare(`SELECT count(*) FROM ${position.table} WHERE ${position.table} MATCH ?`).get(expression)
  } catch (cause) {
    if (isBusy(cause) || isMediumFailure(cause)) throw cause
    throw new TroupeError('index_damaged', 'The search index is damaged.', { remedy: 'Run `troupe store reindex`.', cause })
  }
}
