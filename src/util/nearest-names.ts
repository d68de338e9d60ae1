import { editDistance } from './edit-distance.ts'

/**
 * The known names that somebody may have meant, nearest first; empty when nothing is near.
 * Letter case and separators do not count, and a part of a name may be missing:
 * `nearestNames('create-isue', ['github__create_issue'])` finds it.
 */
export function nearestNames(wanted: string, known: readonly string[], most = 3): readonly string[] {
  const words = wordsOf(wanted)
  const found: { readonly name: string; readonly distance: number }[] = []
  for (const name of new Set(known)) {
    const distance = nameDistance(words, wordsOf(name))
    if (distance !== undefined) found.push({ name, distance })
  }
  found.sort((a, b) => a.distance - b.distance || (a.name < b.name ? -1 : 1))
  return found.slice(0, most).map(({ name }) => name)
}

// Beyond these a name is cut: a model may send a page of text as a name, and comparing costs length times length.
const longestName = 64
const mostWords = 8
const mostChanges = 4

// A missing beginning is forgotten more often than a missing end: `create_issue` for `github__create_issue`.
const missingBeginning = 1
const missingEnd = 2

function wordsOf(name: string): readonly string[] {
  const words = name
    .slice(0, longestName)
    .toLowerCase()
    .split(/[^\p{L}\p{N}$]+/u)
    .filter((word) => word !== '')
  return words.length <= mostWords ? words : [...words.slice(0, mostWords - 1), words.slice(mostWords - 1).join('')]
}

function nameDistance(wanted: readonly string[], known: readonly string[]): number | undefined {
  if (wanted.length === 0 || known.length === 0) return undefined
  let nearest = distanceWithin(wanted.join(''), known.join(''))
  const consider = (distance: number | undefined): void => {
    if (distance !== undefined && (nearest === undefined || distance < nearest)) nearest = distance
  }
  for (const [longer, shorter] of [
    [known, wanted.join('')],
    [wanted, known.join('')],
  ] as const) {
    for (let cut = 1; cut < longer.length; cut++) {
      consider(partDistance(shorter, longer.slice(cut).join(''), missingBeginning))
      consider(partDistance(shorter, longer.slice(0, cut).join(''), missingEnd))
    }
  }
  return nearest
}

function distanceWithin(one: string, other: string): number | undefined {
  const limit = Math.min(mostChanges, Math.floor((Math.max(one.length, other.length) + 1) / 3))
  const distance = editDistance(one, other, limit)
  return distance <= limit ? distance : undefined
}

/** Parts are short and many, so they must fit better than whole names. */
function partDistance(whole: string, part: string, penalty: number): number | undefined {
  const limit = Math.floor(part.length / 5)
  const distance = part.length < 3 ? limit + 1 : editDistance(whole, part, limit)
  return distance <= limit ? distance + penalty : undefined
}
