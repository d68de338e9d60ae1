import { useState } from 'preact/hooks'

interface SplitterProps {
  readonly label: string
  readonly edge: 'left' | 'right' | 'top'
  /** Its height, for an edge at the top. */
  readonly width: number
  readonly min: number
  readonly max: number
  onResize(width: number): void
}

/** The edge of a pane: drag it, or use the arrow keys. */
export function Splitter({ label, edge, width, min, max, onResize }: SplitterProps) {
  const [start, setStart] = useState<{ readonly at: number; readonly width: number } | undefined>()
  const grows = edge === 'right' ? 1 : -1
  const placeOf = (event: PointerEvent): number => (edge === 'top' ? event.clientY : event.clientX)
  const [before, after] = edge === 'top' ? ['ArrowUp', 'ArrowDown'] : ['ArrowLeft', 'ArrowRight']
  const resize = (next: number): void => onResize(Math.round(Math.min(max, Math.max(min, next))))
  return (
    // biome-ignore lint/a11y/useSemanticElements: a splitter with a value can be focused, a line cannot
    <div
      class={`splitter splitter-${edge}`}
      role="separator"
      tabIndex={0}
      aria-label={label}
      aria-orientation={edge === 'top' ? 'horizontal' : 'vertical'}
      aria-valuenow={width}
      aria-valuemin={min}
      aria-valuemax={max}
      data-dragging={start ? '' : undefined}
      onPointerDown={(event) => {
        event.currentTarget.setPointerCapture(event.pointerId)
        setStart({ at: placeOf(event), width })
      }}
      onPointerMove={(event) => {
        if (start) resize(start.width + grows * (placeOf(event) - start.at))
      }}
      onLostPointerCapture={() => setStart(undefined)}
      onKeyDown={(event) => {
        if (event.key === before) resize(width - grows * 24)
        if (event.key === after) resize(width + grows * 24)
      }}
    />
  )
}
