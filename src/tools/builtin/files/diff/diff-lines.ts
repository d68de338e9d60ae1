/** A run of lines that differ: `oldCount` lines from `oldStart` on became `newCount` lines from `newStart` on. Counted from 0. */
export interface Difference {
  readonly oldStart: number
  readonly oldCount: number
  readonly newStart: number
  readonly newCount: number
}

/** How much work a difference is worth. Beyond it, what is left counts as replaced: still right, only less fine. */
const mostWork = 3_000_000
/** Changes within one stretch, before it is split at lines that occur once. The traces take this much squared. */
const mostChanges = 700

/** Longer texts are only compared from both ends. */
const mostLines = 300_000

/** Which lines differ between two texts: in order, with at least one equal line between two of them. */
export function diffLines(older: readonly string[], newer: readonly string[]): readonly Difference[] {
  const numbers = new Map<string, number>()
  const numberOf = (line: string): number => {
    const known = numbers.get(line)
    if (known !== undefined) return known
    numbers.set(line, numbers.size)
    return numbers.size - 1
  }
  const differ = new Differ(Int32Array.from(older, numberOf), Int32Array.from(newer, numberOf))
  differ.compare({ oldStart: 0, oldEnd: older.length, newStart: 0, newEnd: newer.length })
  return differ.differences
}

interface Stretch {
  readonly oldStart: number
  readonly oldEnd: number
  readonly newStart: number
  readonly newEnd: number
}

class Differ {
  readonly differences: Difference[] = []
  readonly #older: Int32Array
  readonly #newer: Int32Array
  #work = mostWork

  constructor(older: Int32Array, newer: Int32Array) {
    this.#older = older
    this.#newer = newer
  }

  compare(whole: Stretch): void {
    let { oldStart, oldEnd, newStart, newEnd } = whole
    while (oldStart < oldEnd && newStart < newEnd && this.#older[oldStart] === this.#newer[newStart]) {
      oldStart++
      newStart++
    }
    while (oldStart < oldEnd && newStart < newEnd && this.#older[oldEnd - 1] === this.#newer[newEnd - 1]) {
      oldEnd--
      newEnd--
    }
    if (oldStart === oldEnd && newStart === newEnd) return
    const stretch = { oldStart, oldEnd, newStart, newEnd }
    const isPlain = oldStart === oldEnd || newStart === newEnd || oldEnd - oldStart + newEnd - newStart > mostLines
    if (isPlain) this.#replace(stretch)
    else if (!this.#shortest(stretch) && !this.#split(stretch)) this.#replace(stretch)
  }

  #replace({ oldStart, oldEnd, newStart, newEnd }: Stretch): void {
    const last = this.differences.at(-1)
    if (last && last.oldStart + last.oldCount === oldStart && last.newStart + last.newCount === newStart) {
      const joined = { ...last, oldCount: oldEnd - last.oldStart, newCount: newEnd - last.newStart }
      this.differences[this.differences.length - 1] = joined
    } else this.differences.push({ oldStart, oldCount: oldEnd - oldStart, newStart, newCount: newEnd - newStart })
  }

  /** The shortest way from old to new (Myers), where it is short enough to be found in time. */
  #shortest(stretch: Stretch): boolean {
    const oldLength = stretch.oldEnd - stretch.oldStart
    const newLength = stretch.newEnd - stretch.newStart
    const limit = Math.min(mostChanges, oldLength + newLength)
    const reached = new Int32Array(2 * limit + 3)
    const traces: Int32Array[] = []
    for (let changes = 0; changes <= limit; changes++) {
      // What was reached with one change less, from diagonal -changes-1 to changes+1.
      traces.push(reached.slice(limit - changes, limit + changes + 3))
      for (let diagonal = -changes; diagonal <= changes; diagonal += 2) {
        const down = at(reached, limit + 1 + diagonal + 1)
        const right = at(reached, limit + 1 + diagonal - 1)
        let x = diagonal === -changes || (diagonal !== changes && right < down) ? down : right + 1
        let y = x - diagonal
        const from = x
        while (x < oldLength && y < newLength && this.#older[stretch.oldStart + x] === this.#newer[stretch.newStart + y]) {
          x++
          y++
        }
        reached[limit + 1 + diagonal] = x
        this.#work -= 1 + x - from
        if (x >= oldLength && y >= newLength) {
          this.#walkBack(stretch, traces)
          return true
        }
      }
      if (this.#work < 0) return false
    }
    return false
  }

  #walkBack(stretch: Stretch, traces: readonly Int32Array[]): void {
    const steps: Stretch[] = []
    let x = stretch.oldEnd - stretch.oldStart
    let y = stretch.newEnd - stretch.newStart
    for (let changes = traces.length - 1; changes > 0; changes--) {
      const trace = traces[changes] ?? new Int32Array()
      const diagonal = x - y
      const down = at(trace, changes + 1 + diagonal + 1)
      const right = at(trace, changes + 1 + diagonal - 1)
      const isDown = diagonal === -changes || (diagonal !== changes && right < down)
      x = isDown ? down : right
      y = x - (isDown ? diagonal + 1 : diagonal - 1)
      steps.push({
        oldStart: stretch.oldStart + x,
        oldEnd: stretch.oldStart + x + (isDown ? 0 : 1),
        newStart: stretch.newStart + y,
        newEnd: stretch.newStart + y + (isDown ? 1 : 0),
      })
    }
    for (const step of steps.reverse()) this.#replace(step)
  }

  /** Splits at lines that occur once on either side, in the longest run that keeps their order (patience). */
  #split(stretch: Stretch): boolean {
    const anchors = this.#work < 0 ? [] : this.#anchors(stretch)
    if (anchors.length === 0) return false
    let { oldStart, newStart } = stretch
    for (const { older, newer } of anchors) {
      this.compare({ oldStart, oldEnd: older, newStart, newEnd: newer })
      oldStart = older + 1
      newStart = newer + 1
    }
    this.compare({ oldStart, oldEnd: stretch.oldEnd, newStart, newEnd: stretch.newEnd })
    return true
  }

  #anchors({ oldStart, oldEnd, newStart, newEnd }: Stretch): readonly Anchor[] {
    const inOld = occurrences(this.#older, oldStart, oldEnd)
    const inNew = occurrences(this.#newer, newStart, newEnd)
    const pairs: Anchor[] = []
    for (let older = oldStart; older < oldEnd; older++) {
      const line = at(this.#older, older)
      const newer = inNew.get(line)
      if (inOld.get(line) === older && newer !== undefined && newer >= 0) pairs.push({ older, newer })
    }
    return longestRun(pairs)
  }
}

interface Anchor {
  readonly older: number
  readonly newer: number
}

/** Where each line stands that occurs once; -1 for the others. */
function occurrences(lines: Int32Array, start: number, end: number): ReadonlyMap<number, number> {
  const found = new Map<number, number>()
  for (let index = start; index < end; index++) {
    const line = at(lines, index)
    found.set(line, found.has(line) ? -1 : index)
  }
  return found
}

/** The longest run of pairs, given by their old places, whose new places rise, too. */
function longestRun(pairs: readonly Anchor[]): readonly Anchor[] {
  interface Link {
    readonly pair: Anchor
    readonly before: Link | undefined
  }
  const tops: Link[] = []
  for (const pair of pairs) {
    let low = 0
    let high = tops.length
    while (low < high) {
      const middle = (low + high) >> 1
      if ((tops[middle]?.pair.newer ?? 0) < pair.newer) low = middle + 1
      else high = middle
    }
    tops[low] = { pair, before: tops[low - 1] }
  }
  const run: Anchor[] = []
  for (let link = tops.at(-1); link !== undefined; link = link.before) run.push(link.pair)
  return run.reverse()
}

const at = (numbers: Int32Array, index: number): number => numbers[index] ?? 0
