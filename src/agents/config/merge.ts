import type { Sourced, SourcedMap } from './sourced.ts'

/**
 * Lays one tree over another: maps by key, everything else as a whole. Associative, so it does not matter which layers are
 * laid together first.
 */
export function merge(stronger: Sourced, weaker: Sourced): Sourced {
  if (stronger.kind === 'value' || stronger.sealed) return stronger
  if (weaker.kind === 'value') return { ...stronger, sealed: true }
  return { ...stronger, entries: mergedEntries(stronger, weaker), sealed: weaker.sealed }
}

/** The order of the stronger one, then what only the weaker one has. */
function mergedEntries(stronger: SourcedMap, weaker: SourcedMap): ReadonlyMap<string, Sourced> {
  const entries = new Map(stronger.entries)
  for (const [key, below] of weaker.entries) {
    const above = entries.get(key)
    entries.set(key, above ? merge(above, below) : below)
  }
  return entries
}

/** All of them as one, strongest first; nothing where there is none. */
export function mergeAll(trees: readonly Sourced[]): Sourced | undefined {
  return trees.length === 0 ? undefined : trees.reduce(merge)
}
