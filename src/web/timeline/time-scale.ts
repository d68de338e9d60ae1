import type { Span } from '../../view/index.ts'

// Wall time on one axis. Times in which nothing ran are shortened to a break, so that an hour of waiting for a person does not
// squash the seconds of work. A position is a time on the shortened axis, in milliseconds since its beginning.

export interface Piece extends Span {
  /** Position of its beginning, and its length on the axis. */
  readonly at: number
  readonly length: number
  readonly isBreak: boolean
  /** Time on the axis before it, without breaks. */
  readonly active: number
}

export interface TimeScale {
  readonly pieces: readonly Piece[]
  readonly length: number
}

/** A part of the axis, by time. */
export type View = Span

const minBreakMs = 2_000
const minBreakShare = 0.15
/** Of the active time: one break, and all of them. */
const breakShare = 0.05
const breaksShare = 0.3

/** `active`: when something ran, in any order. `ends`: the axis reaches at least this far. */
export function createScale(active: readonly Span[], { from, to }: Span): TimeScale {
  const runs = merged(active, from, to)
  const total = runs.reduce((sum, run) => sum + run.to - run.from, 0)
  const threshold = Math.max(minBreakMs, total * minBreakShare)
  const kept = runs.length === 0 ? [{ from, to }] : withShortGaps(runs, { from, to }, threshold)
  const shown = kept.reduce((sum, run) => sum + run.to - run.from, 0)
  const breaks = kept.length + 1
  const breakLength = Math.max(1, shown) * Math.min(breakShare, breaksShare / breaks)
  const pieces: Piece[] = []
  let at = 0
  let spent = 0
  const add = (piece: Span, isBreak: boolean): void => {
    const length = isBreak ? breakLength : piece.to - piece.from
    pieces.push({ from: piece.from, to: piece.to, at, length, isBreak, active: spent })
    at += length
    if (!isBreak) spent += length
  }
  let end = from
  for (const run of kept) {
    if (run.from > end) add({ from: end, to: run.from }, true)
    add(run, false)
    end = run.to
  }
  if (to > end) add({ from: end, to }, true)
  return { pieces, length: Math.max(1, at) }
}

/** Sorted, without overlaps, within the axis. */
function merged(spans: readonly Span[], from: number, to: number): { from: number; to: number }[] {
  const sorted = spans.toSorted((a, b) => a.from - b.from)
  const runs: { from: number; to: number }[] = []
  for (const span of sorted) {
    const begin = Math.min(to, Math.max(from, span.from))
    const end = Math.min(to, Math.max(begin, span.to))
    const last = runs.at(-1)
    if (last && begin <= last.to) last.to = Math.max(last.to, end)
    else runs.push({ from: begin, to: end })
  }
  return runs
}

function withShortGaps(runs: readonly Span[], { from, to }: Span, threshold: number): readonly Span[] {
  const kept: { from: number; to: number }[] = []
  for (const run of runs) {
    const last = kept.at(-1)
    if (last && run.from - last.to <= threshold) last.to = run.to
    else kept.push({ from: !last && run.from - from <= threshold ? from : run.from, to: run.to })
  }
  const last = kept.at(-1)
  if (last && to - last.to <= threshold) last.to = to
  return kept
}

/** Room at the end, so that the axis of a run that goes on changes rarely. */
export function withHeadroom(scale: TimeScale): TimeScale {
  const last = scale.pieces.at(-1)
  if (!last || last.isBreak) return scale
  const length = niceLength(scale.length * 1.02)
  const more = length - scale.length
  const longer = { ...last, to: last.to + more, length: last.length + more }
  return { pieces: [...scale.pieces.slice(0, -1), longer], length }
}

/** To the eye. */
export const isSameScale = (a: TimeScale, b: TimeScale): boolean =>
  a.pieces.length === b.pieces.length && isNear(a.length, b.length) && a.pieces.every(({ at }, i) => isNear(at, b.pieces[i]?.at ?? -1))

const isNear = (a: number, b: number): boolean => Math.abs(a - b) < 0.5

const niceSteps = [1, 1.25, 1.5, 2, 2.5, 3, 4, 5, 6, 8, 10]

function niceLength(ms: number): number {
  const unit = 10 ** Math.floor(Math.log10(Math.max(500, ms)))
  return unit * (niceSteps.find((step) => step * unit >= ms) ?? 10)
}

export function positionOf({ pieces, length }: TimeScale, time: number): number {
  let low = 0
  let high = pieces.length - 1
  while (low < high) {
    const middle = (low + high + 1) >> 1
    if ((pieces[middle]?.from ?? 0) <= time) low = middle
    else high = middle - 1
  }
  const piece = pieces[low]
  if (!piece) return 0
  const share = piece.to === piece.from ? 0 : (time - piece.from) / (piece.to - piece.from)
  return Math.min(length, Math.max(0, piece.at + Math.min(1, share) * piece.length))
}

export function timeAt({ pieces }: TimeScale, position: number): number {
  const piece = pieces.findLast(({ at }) => at <= position) ?? pieces[0]
  if (!piece) return 0
  const share = piece.length === 0 ? 0 : (position - piece.at) / piece.length
  return piece.from + Math.min(1, Math.max(0, share)) * (piece.to - piece.from)
}

/** The visible part of the axis as positions. Without a view, everything. */
export interface Range {
  readonly from: number
  readonly to: number
}

const minRangeMs = 1

export function rangeOf(scale: TimeScale, view: View | undefined): Range {
  if (!view) return { from: 0, to: scale.length }
  const from = positionOf(scale, view.from)
  return { from, to: Math.max(from + minRangeMs, positionOf(scale, view.to)) }
}

export const shareIn = ({ from, to }: Range, position: number): number => (position - from) / (to - from)

/** `by` > 1 shows less. `at`: the share of the range that stays where it is. */
export function zoom(scale: TimeScale, view: View | undefined, { by, at }: { readonly by: number; readonly at: number }): View | undefined {
  const { from, to } = rangeOf(scale, view)
  const length = Math.max(minRangeMs, (to - from) / by)
  const fixed = from + at * (to - from)
  return viewOf(scale, fixed - at * length, length)
}

/** `by`: a share of the visible range. */
export function pan(scale: TimeScale, view: View | undefined, by: number): View | undefined {
  if (!view) return undefined
  const { from, to } = rangeOf(scale, view)
  return viewOf(scale, from + by * (to - from), to - from)
}

/** Moved into the axis; everything is no view. */
export function viewOf(scale: TimeScale, from: number, length: number): View | undefined {
  if (length >= scale.length * 0.999) return undefined
  const begin = Math.min(scale.length - length, Math.max(0, from))
  return { from: timeAt(scale, begin), to: timeAt(scale, begin + length) }
}

export interface Tick {
  readonly position: number
  readonly label: string
}

const second = 1_000
const minute = 60 * second
const hour = 60 * minute
const tickSteps = [
  ...[1, 2, 5, 10, 20, 50, 100, 200, 500],
  ...[1, 2, 5, 10, 15, 30].map((n) => n * second),
  ...[1, 2, 5, 10, 15, 30].map((n) => n * minute),
  ...[1, 2, 3, 6, 12, 24, 48, 96, 192].map((n) => n * hour),
]

/** At most about `count` ticks in the range, at round times since the beginning. Breaks have none and take no time. */
export function ticksOf({ pieces }: TimeScale, { from, to }: Range, count: number): readonly Tick[] {
  const step = tickSteps.find((each) => (to - from) / each <= count) ?? 365 * 24 * hour
  const ticks: Tick[] = []
  for (const { at, length, isBreak, active } of pieces) {
    if (isBreak || at > to || at + length < from) continue
    const first = Math.ceil((active + Math.max(0, from - at)) / step) * step
    const last = active + Math.min(length, to - at)
    for (let time = first; time <= last; time += step) {
      // The end of a piece and the beginning of the next have the same time.
      if (time !== active || active === 0) ticks.push({ position: at + time - active, label: tickLabel(time) })
    }
  }
  return ticks
}

/** `0 ms`, `500 ms`, `1.5 s`, `2 m`, `2 m 30 s`, `1 h 5 m`. */
export function tickLabel(ms: number): string {
  if (ms < second) return `${ms} ms`
  // Neighbours must differ, also far from the beginning.
  if (ms < minute || ms % second !== 0) return `${ms / second} s`
  const [large, small, unit] = ms < hour || ms % minute !== 0 ? [minute, second, 'm'] : [hour, minute, 'h']
  const rest = Math.floor((ms % large) / small)
  return `${Math.floor(ms / large)} ${unit}${rest > 0 ? ` ${rest} ${unit === 'm' ? 's' : 'm'}` : ''}`
}
