import { duration } from '../../view/index.ts'
import { labelPixels, shareIn, ticksOf } from './time-scale.ts'
import type { TimelineState } from './timeline-state.ts'

interface AxisProps {
  readonly state: TimelineState
  /** The width of the bars in pixels. */
  readonly width: number
}

/** Ticks above the bars. Rows say their times, so it is hidden from screen readers. */
export function TimeAxis({ state, width }: AxisProps) {
  const { value: range } = state.range
  return (
    <div class="timeline-axis" aria-hidden="true">
      <div class="timeline-track">
        {ticksOf(state.scale.value, range, width).map(({ position, label }) => (
          <span key={position} class="timeline-tick" style={{ transform: moved(state, position) }}>
            {/* A label that would be cut is left out. */}
            {(1 - shareIn(range, position)) * width > labelPixels(label) - 8 && label}
          </span>
        ))}
        <Breaks state={state} />
      </div>
    </div>
  )
}

/** Hairlines and breaks behind the rows. */
export function AxisLines({ state, width }: AxisProps) {
  return (
    <div class="timeline-lines" aria-hidden="true">
      <div class="timeline-track">
        {ticksOf(state.scale.value, state.range.value, width).map(({ position }) => (
          <span key={position} class="timeline-tick" style={{ transform: moved(state, position) }} />
        ))}
        <Breaks state={state} />
      </div>
    </div>
  )
}

/** For what is as wide as the track. Transforms move it without a layout. */
const moved = ({ range }: TimelineState, position: number): string => `translateX(${shareIn(range.value, position) * 100}%)`

function Breaks({ state }: { readonly state: TimelineState }) {
  const { value: range } = state.range
  return state.scale.value.pieces
    .filter(({ isBreak, at, length }) => isBreak && at + length > range.from && at < range.to)
    .map(({ from, to, at, length }) => (
      <span
        key={from}
        class="timeline-break"
        title={`${duration(to - from)} idle`}
        style={{ left: `${shareIn(range, at) * 100}%`, width: `${(length / (range.to - range.from)) * 100}%` }}
      />
    ))
}
