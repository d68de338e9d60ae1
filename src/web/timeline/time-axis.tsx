import { useRef, useState } from 'preact/hooks'
import { duration } from '../../view/index.ts'
import { labelPixels, type Range, shareIn, type TimeScale, ticksOf } from './time-scale.ts'
import type { TimelineState } from './timeline-state.ts'

/** A shorter drag is a click. */
const minDragPixels = 5

/** Ticks, breaks, and a part of the time by dragging. Keys do the same, so it is hidden from screen readers. */
export function TimeAxis({ state, width }: { readonly state: TimelineState; readonly width: number }) {
  const track = useRef<HTMLDivElement>(null)
  const [drag, setDrag] = useState<{ readonly from: number; readonly to: number } | undefined>()
  const { value: scale } = state.scale
  const { value: range } = state.range
  // A label that would be cut is left out.
  const ticks = ticksOf(scale, range, width).filter(
    ({ position, label }) => (1 - shareIn(range, position)) * width > labelPixels(label) - 8,
  )
  const shareAt = ({ clientX }: PointerEvent): number => {
    const box = track.current?.getBoundingClientRect()
    return box ? Math.min(1, Math.max(0, (clientX - box.left) / Math.max(1, box.width))) : 0
  }
  return (
    <div class="timeline-axis" aria-hidden="true">
      {/* biome-ignore lint/a11y/noStaticElementInteractions: keys of the tree do the same */}
      <div
        ref={track}
        class="timeline-track"
        title="Drag to zoom in, double-click to fit"
        onPointerDown={(event) => {
          event.currentTarget.setPointerCapture(event.pointerId)
          const at = shareAt(event)
          setDrag({ from: at, to: at })
        }}
        onPointerMove={(event) => {
          if (drag) setDrag({ ...drag, to: shareAt(event) })
        }}
        onPointerCancel={() => setDrag(undefined)}
        onPointerUp={() => {
          if (drag && Math.abs(drag.to - drag.from) * width >= minDragPixels) state.select(drag.from, drag.to)
          setDrag(undefined)
        }}
        onDblClick={() => state.fit()}
      >
        {ticks.map(({ position, label }) => (
          <span key={position} class="timeline-tick" style={{ transform: moved(range, position) }}>
            {label}
          </span>
        ))}
        <Breaks scale={scale} range={range} />
        {drag && (
          <span
            class="timeline-drag"
            style={{ left: `${Math.min(drag.from, drag.to) * 100}%`, width: `${Math.abs(drag.to - drag.from) * 100}%` }}
          />
        )}
      </div>
    </div>
  )
}

const percent = (range: Range, position: number): string => `${shareIn(range, position) * 100}%`

/** For what is as wide as the track. Transforms move it without a layout. */
const moved = (range: Range, position: number): string => `translateX(${percent(range, position)})`

/** Hairlines and breaks behind the rows. */
export function AxisLines({ state, width }: { readonly state: TimelineState; readonly width: number }) {
  const { value: scale } = state.scale
  const { value: range } = state.range
  return (
    <div class="timeline-lines" aria-hidden="true">
      <div class="timeline-track">
        {ticksOf(scale, range, width).map(({ position }) => (
          <span key={position} class="timeline-line" style={{ transform: moved(range, position) }} />
        ))}
        <Breaks scale={scale} range={range} />
      </div>
    </div>
  )
}

function Breaks({ scale, range }: { readonly scale: TimeScale; readonly range: Range }) {
  return scale.pieces
    .filter(({ isBreak, at, length }) => isBreak && at + length > range.from && at < range.to)
    .map(({ from, to, at, length }) => (
      <span
        key={from}
        class="timeline-break"
        title={`${duration(to - from)} idle`}
        style={{ left: percent(range, at), width: `${(length / (range.to - range.from)) * 100}%` }}
      />
    ))
}
