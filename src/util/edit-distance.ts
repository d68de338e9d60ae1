/**
 * How many single-letter changes (insert, delete, replace, swap of neighbours) lie between two texts.
 * Answers `most + 1` as soon as it is sure to be more than `most`.
 */
export function editDistance(one: string, other: string, most: number): number {
  const tooFar = most + 1
  if (Math.abs(one.length - other.length) > most) return tooFar
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
    // A swap reaches back two rows, so one row beyond the limit is not yet the end.
    if (least > most && Math.min(...last) > most) return tooFar
    beforeLast = last
    last = current
  }
  return Math.min(at(last, other.length), tooFar)
}

const at = (costs: readonly number[], index: number): number => costs[index] ?? Number.POSITIVE_INFINITY
