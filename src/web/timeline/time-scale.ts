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

/** `active`: when something ran, in any order. The axis has headroom while something runs. */
export function createScale(active: readonly Span[], { from, to }: Span, isLive = false): TimeScale {
  const runs = merged(active, from, to)
  const threshold = Math.max(minBreakMs, lengthOf(runs) * minBreakShare)
  const kept = runs.length === 0 ? [{ from, to }] : withShortGaps(runs, { from, to }, threshold)
  const last = kept.at(-1)
  let end = to
  if (isLive && last && last.to === to) {
    end = to + headroomOf(lengthOf(kept))
    last.to = end
  }
  const breakLength = Math.max(1, lengthOf(kept)) * Math.min(breakShare, breaksShare / (kept.length + 1))
  const pieces: Piece[] = []
  let at = 0
  let spent = 0
  const add = (piece: Span, isBreak: boolean): void => {
    const length = isBreak ? breakLength : piece.to - piece.from
    pieces.push({ from: piece.from, to: piece.to, at, length, isBreak, active: spent })
    at += length
    if (!isBreak) spent += length
  }
  let shown = from
  for (const run of kept) {
    if (run.from > shown) add({ from: shown, to: run.from }, true)
    add(run, false)
    shown = run.to
  }
  if (end > shown) add({ from: shown, to: end }, true)
  return { pieces, length: Math.max(1, at) }
}

const lengthOf = (spans: readonly Span[]): number => spans.reduce((sum, { from, to }) => sum + to - from, 0)

const headroomStep = 1.1
const minLiveMs = 1_000

/** What runs ends at 90 to 99 % of the axis, so that the axis changes in small steps and not with each frame. */
function headroomOf(ms: number): number {
  const steps = Math.ceil(Math.log(Math.max(1, ms * 1.01)) / Math.log(headroomStep))
  return Math.max(minLiveMs, headroomStep ** steps) - ms
}

/** To the eye. */
export const isSameScale = (a: TimeScale, b: TimeScale): boolean =>
  a.pieces.length === b.pieces.length && isNear(a.length, b.length) && a.pieces.every(({ at }, i) => isNear(at, b.pieces[i]?.at ?? -1))

const isNear = (a: number, b: number): boolean => Math.abs(a - b) < 0.5

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

function withShortGaps(runs: readonly Span[], { from, to }: Span, threshold: number): { from: number; to: number }[] {
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
  ...[1, 2, 5, 10, 20, 50, 100, 200, 300, 500],
  ...[1, 2, 3, 5, 10, 15, 20, 30].map((n) => n * second),
  ...[1, 2, 3, 5, 10, 15, 20, 30].map((n) => n * minute),
  ...[1, 2, 3, 6, 12, 24, 48, 96, 192].map((n) => n * hour),
]

/** Of small figures, with the space around them. */
export const labelPixels = (label: string): number => 8 + label.length * 6

/** As many as have room in `width` pixels, at round times since the beginning. Breaks have none and take no time. */
export function ticksOf({ pieces }: TimeScale, { from, to }: Range, width: number): readonly Tick[] {
  const fits = (step: number): boolean => {
    const last = Math.floor(to / step) * step
    const longest = Math.max(...[step, last, last - step].map((time) => labelPixels(tickLabel(Math.max(0, time)))))
    return (step / (to - from)) * width >= longest
  }
  const step = tickSteps.find(fits) ?? 365 * 24 * hour
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

/** `0`, `500 ms`, `1.5 s`, `2 m`, `2 m 30 s`, `1 h 5 m`. */
export function tickLabel(ms: number): string {
  if (ms < second) return ms === 0 ? '0' : `${ms} ms`
  // Neighbours must differ, also far from the beginning.
  if (ms < minute || ms % second !== 0) return `${ms / second} s`
  const [large, small, unit] = ms < hour || ms % minute !== 0 ? [minute, second, 'm'] : [hour, minute, 'h']
  const rest = Math.floor((ms % large) / small)
  return `${Math.floor(ms / large)} ${unit}${rest > 0 ? ` ${rest} ${unit === 'm' ? 's' : 'm'}` : ''}`
}
