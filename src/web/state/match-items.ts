/** Something that can be found by its words. */
export interface Findable {
  readonly group: string
  readonly name: string
  readonly detail?: string
}

export interface FoundGroup<Item> {
  readonly group: string
  readonly items: readonly Item[]
}

/** Items that have every word of the text, in groups: the group with the best match comes first. Without text: all, in their order. */
export function matchItems<Item extends Findable>(items: readonly Item[], text: string, limit: number): readonly FoundGroup<Item>[] {
  const words = text.toLowerCase().split(/\s+/).filter(Boolean)
  const ranked = items.flatMap((item) => {
    const rank = words.reduce((worst, word) => Math.max(worst, rankOf(item, word)), 0)
    return rank === noMatch ? [] : [{ item, rank }]
  })
  const groups = Map.groupBy(
    ranked.toSorted((a, b) => a.rank - b.rank),
    ({ item }) => item.group,
  )
  return [...groups].map(([group, those]) => ({ group, items: those.slice(0, limit).map(({ item }) => item) }))
}

const noMatch = 4

/** 0: the name begins with it. 1: a word of the name. 2: inside of the name. 3: in the detail. */
function rankOf({ name, detail = '' }: Findable, word: string): number {
  const at = ` ${name.toLowerCase()}`.search(new RegExp(`[\\s/_.-]${escaped(word)}`))
  if (at >= 0) return Math.min(at, 1)
  if (name.toLowerCase().includes(word)) return 2
  return detail.toLowerCase().includes(word) ? 3 : noMatch
}

const escaped = (text: string): string => text.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&')
