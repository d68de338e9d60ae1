import { joinNames } from './join-names.ts'
/** Nearest first. Ignores case and separators, and a part may be missing: `create-isue` finds `github__create_issue`. */
export function nearestNames(wanted: string, known: readonly string[], max = 3): readonly string[] {
  const words = wordsOf(wanted)
  const found: { readonly name: string; readonly distance: number }[] = []
  for (const name of new Set(known)) {
    const distance = nameDistance(words, wordsOf(name))
    if (distance !== undefined) found.push({ name, distance })
  }
  found.sort((a, b) => a.distance - b.distance || (a.name < b.name ? -1 : 1))
  return found.slice(0, max).map(({ name }) => name)
}

// Bounds the costs for a name that is a page of text: they grow with its length squared.
const maxNameLength = 64
const maxWords = 8
const maxChanges = 4

// A missing start is more likely than a missing end: `create_issue` for `github__create_issue`.
const missingStart = 1
const missingEnd = 2

function wordsOf(name: string): readonly string[] {
  const words = name
    .slice(0, maxNameLength)
    .toLowerCase()
    .split(/[^\p{L}\p{N}$]+/u)
    .filter((word) => word !== '')
  return words.length <= maxWords ? words : [...words.slice(0, maxWords - 1), words.slice(maxWords - 1).join('')]
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
      consider(partDistance(shorter, longer.slice(cut).join(''), missingStart))
      consider(partDistance(shorter, longer.slice(0, cut).join(''), missingEnd))
    }
  }
  return nearest
}

function distanceWithin(one: string, other: string): number | undefined {
  const limit = Math.min(maxChanges, Math.floor((Math.max(one.length, other.length) + 1) / 3))
  const distance = editDistance(one, other, limit)
  return distance <= limit ? distance : undefined
}

/** Parts are short and many, so they must match better than whole names. */
function partDistance(whole: string, part: string, penalty: number): number | undefined {
  const limit = Math.floor(part.length / 5)
  const distance = part.length < 3 ? limit + 1 : editDistance(whole, part, limit)
  return distance <= limit ? distance + penalty : undefined
}

/** A remedy for an unknown name: similar names, or all of them. `undefined` without names. */
export function suggestion(wanted: string, known: readonly string[]): string | undefined {
  const others = known.filter((name) => name !== wanted)
  const near = nearestNames(wanted, others)
  if (near.length > 0) return `Did you mean ${near.join(', ')}?`
  return others.length === 0 ? undefined : `Available: ${joinNames(others, maxListed)}.`
}

/** A remedy for an unknown name: the nearest name, and all names. */
export function knownNames(wanted: string, known: readonly string[], what: string): string {
  if (known.length === 0) return `No ${what}s are available.`
  const [near] = nearestNames(wanted, known)
  const all = `Available: ${joinNames(known.toSorted(), maxListed)}.`
  return near === undefined ? all : `Did you mean "${near}"? ${all}`
}

const maxListed = 20

/** The number of single-letter changes (insert, delete, replace, swap) between two texts, or `max + 1` if it is more than `max`. */
export function editDistance(one: string, other: string, max: number): number {
  const tooFar = max + 1
  if (Math.abs(one.length - other.length) > max) return tooFar
  if (one === other) return 0
  let beforeLast: number[] = []
  let last = Array.from({ length: other.length + 1 }, (_, column) => column)
  for (let row = 1; row <= one.length; row++) {
    const current = [row]
    let least = row
    for (let column = 1; column <= other.length; column++) {
      const isSame = one[row - 1] === other[column - 1]
      let cost = Math.min(at(last, column) + 1, at(current, column - 1) + 1, at(last, column - 1) + (isSame ? 0 : 1))
      const isSwap = row > 1 && column > 1 && one[row - 1] === other[column - 2] && one[row - 2] === other[column - 1]
      if (isSwap) cost = Math.min(cost, at(beforeLast, column - 2) + 1)
      current.push(cost)
      least = Math.min(least, cost)
    }
    // A swap reaches back two rows, so both must be beyond the limit.
    if (least > max && Math.min(...last) > max) return tooFar
    beforeLast = last
    last = current
  }
  return Math.min(at(last, other.length), tooFar)
}

const at = (costs: readonly number[], index: number): number => costs[index] ?? Number.POSITIVE_INFINITY
