import type { TreeEntry, TreeFilter, Trees } from '../../contracts/index.ts'
import { textMatcher } from '../shared/search-match.ts'
import { searchTerms } from '../shared/search-terms.ts'
import { matchesFilter } from '../shared/tree-filter.ts'
import { entryOf, type MemoryTrees } from './memory-trees.ts'
import { newestMatch } from './memory-turns.ts'

export function memoryIndex(trees: MemoryTrees): Trees {
  return {
    get: (treeId) => entryOf(trees.find(treeId)),
    list: (filter = {}) => list(trees, filter),
    update(treeId, { title, labels }) {
      const tree = trees.find(treeId)
      if (!tree || tree.events.length === 0) return undefined
      if (title !== undefined) {
        tree.summary = { ...tree.summary, title }
        tree.hasOwnTitle = true
      }
      if (labels !== undefined) tree.identity = { ...tree.identity, labels }
      trees.reportChange(tree)
      return entryOf(tree)
    },
    watch: (changed) => trees.watch(changed),
    driver: (treeId) => trees.find(treeId)?.driver,
    // Its drivers are in this process.
    abandoned: () => [],
    find: (key) => entryOf(trees.findByKey(key)),
    delete(treeId) {
      const tree = trees.find(treeId)
      if (tree === undefined) return { ok: false, refusal: 'missing' }
      if (tree.driver !== undefined) return { ok: false, refusal: 'driven', driver: tree.driver }
      trees.remove(tree)
      return { ok: true }
    },
  }
}

function list(trees: MemoryTrees, filter: TreeFilter): readonly TreeEntry[] {
  const terms = searchTerms(filter.search ?? '')
  const matcher = textMatcher(terms)
  const entries = [...trees.all()].flatMap((tree) => {
    const entry = entryOf(tree)
    if (entry === undefined || !matchesFilter(entry, filter)) return []
    if (terms.length === 0) return entry
    const match = newestMatch(tree, matcher)
    return match ? { ...entry, match } : []
  })
  return entries.sort((one, other) => other.createdAt - one.createdAt).slice(0, filter.limit)
}
