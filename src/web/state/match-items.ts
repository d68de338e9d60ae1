/** Something that can be found by its words. */
interface Findable {
  readonly group: string
  readonly name: string
  readonly detail?: string
}

interface FoundGroup<Item> {
  readonly group: string
  readonly items: readonly Item[]
}

/** Items that have every word of the text, in groups: the group with the best match comes first. Without text: all, in their order. */
export function matchItems<Item extends Findable>(items: readonly Item[], text: string, limit: number): readonly FoundGroup<Item>[] {
  const words = text.toLowerCase().split(separators).filter(Boolean)
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
const separators = /[\s/_.-]+/

/** 0: the name begins with it. 1: a word of the name. 2: inside of the name. 3: in the detail. */
function rankOf({ name, detail = '' }: Findable, word: string): number {
  const words = ` ${name.toLowerCase().split(separators).join(' ')}`
  if (words.includes(` ${word}`)) return words.startsWith(` ${word}`) ? 0 : 1
  if (words.includes(word)) return 2
  return detail.toLowerCase().includes(word) ? 3 : noMatch
}
