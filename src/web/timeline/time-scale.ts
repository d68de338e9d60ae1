import type { Span } from '../../view/index.ts'

// Wall time on one axis. Times in which nothing ran are shortened to a break, so that an hour of waiting for a person does not
// squash the seconds of work. A position is a time on the shortened axis, in milliseconds since its beginning.

interface Piece extends Span {
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

const minBreakMs = 2_000
const minBreakShare = 0.15
/** Shares of the active time: for one break, and for all of them. */
const breakShare = 0.05
const breaksShare = 0.3

/** `active`: when something ran, in any order, between `from` and `to`. The axis has headroom while something runs. */
export function createScale(active: readonly Span[], { from, to }: Span, isLive = false): TimeScale {
  const sorted = active.toSorted((a, b) => a.from - b.from)
  const threshold = Math.max(minBreakMs, lengthOf(joined(sorted, 0)) * minBreakShare)
  const near = joined([{ from, to: from }, ...sorted, { from: to, to }], threshold).filter((run) => run.to > run.from)
  const runs = near.length === 0 ? [{ from, to }] : near
  const last = runs.at(-1)
  if (isLive && last?.to === to) last.to += headroomOf(lengthOf(runs))
  const breakLength = Math.max(1, lengthOf(runs)) * Math.min(breakShare, breaksShare / (runs.length + 1))
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
  for (const run of runs) {
    if (run.from > end) add({ from: end, to: run.from }, true)
    add(run, false)
    end = run.to
  }
  if (to > end) add({ from: end, to }, true)
  return { pieces, length: Math.max(1, at) }
}

/** Joins sorted spans with at most so much time between them. */
function joined(spans: readonly Span[], gap: number): { from: number; to: number }[] {
  const all: { from: number; to: number }[] = []
  for (const span of spans) {
    const last = all.at(-1)
    if (last && span.from - last.to <= gap) last.to = Math.max(last.to, span.to)
    else all.push({ ...span })
  }
  return all
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

export function positionOf({ pieces, length }: TimeScale, time: number): number {
  const piece = pieces.findLast(({ from }) => from <= time) ?? pieces[0]
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

const minRangeMs = 1

/** The visible part of the axis as positions: of a part of the time, or of everything. */
export function rangeOf(scale: TimeScale, view: Span | undefined): Span {
  if (!view) return { from: 0, to: scale.length }
  const from = positionOf(scale, view.from)
  return { from, to: Math.max(from + minRangeMs, positionOf(scale, view.to)) }
}

export const shareIn = ({ from, to }: Span, position: number): number => (position - from) / (to - from)

/** `by` > 1 shows less. `at`: the share of the range that stays where it is. */
export function zoom(scale: TimeScale, view: Span | undefined, { by, at }: { readonly by: number; readonly at: number }): Span | undefined {
  const { from, to } = rangeOf(scale, view)
  const length = Math.max(minRangeMs, (to - from) / by)
  const fixed = from + at * (to - from)
  return viewOf(scale, fixed - at * length, length)
}

/** `by`: a share of the visible range. */
export function pan(scale: TimeScale, view: Span | undefined, by: number): Span | undefined {
  if (!view) return undefined
  const { from, to } = rangeOf(scale, view)
  return viewOf(scale, from + by * (to - from), to - from)
}

/** Moved into the axis; everything is no view. */
export function viewOf(scale: TimeScale, from: number, length: number): Span | undefined {
  if (length >= scale.length * 0.999) return undefined
  const begin = Math.min(scale.length - length, Math.max(0, from))
  return { from: timeAt(scale, begin), to: timeAt(scale, begin + length) }
}

interface Tick {
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

/** The width of small figures, with the space around them. */
export const labelPixels = (label: string): number => 8 + label.length * 6

/** As many as have room in `width` pixels, at round times since the beginning. Breaks have none and take no time. */
export function ticksOf({ pieces }: TimeScale, { from, to }: Span, width: number): readonly Tick[] {
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
