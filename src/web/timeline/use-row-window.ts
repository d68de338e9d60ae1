import { useSignal } from '@preact/signals'
import type { RefObject } from 'preact'
import { useEffect, useLayoutEffect, useRef } from 'preact/hooks'
import { usePage } from '../state/page.ts'
import type { TimelineState } from './timeline-state.ts'

// Which rows are rendered.
//
// 1. All rows have the same height, so a position is an index.
// 2. While it follows, the last row is visible. Scrolling up by hand ends that.
// 3. Otherwise the first visible row stays where it is, also if rows are added above it.

const overscan = 6

interface RowWindow {
  readonly first: number
  readonly last: number
  readonly rowHeight: number
  readonly rowsOnPage: number
  /** Width of the bars in pixels. */
  readonly trackWidth: number
  isVisible(index: number): boolean
  showRow(index: number): void
}

export function useRowWindow(state: TimelineState, scroller: RefObject<HTMLDivElement | null>): RowWindow {
  const size = useSignal({ height: 600, track: 200, row: 30, axis: 28 })
  const scrolled = useSignal(0)
  const { density } = usePage().settings.value
  useMeasure(scroller, density, size)
  const { value: rows } = state.rows
  const { height, track, row: rowHeight, axis } = size.value
  const room = Math.max(0, height - axis)
  const end = Math.max(0, rows.length * rowHeight - room)
  const isLive = state.store.state.value === 'ready' && state.activity.value === 'running'
  // The last rows of a run come with its end.
  const wasLive = useRef(false)
  const isFollowing = state.follows.value && (isLive || wasLive.current)
  const lowest = useRef(end)
  const anchor = useRef({ index: 0, id: '' })
  const top = isFollowing ? end : Math.min(end, scrolled.value + movedBy(rows, anchor.current) * rowHeight)
  useLayoutEffect(() => {
    // Reading the position of the element would cost a layout in each frame.
    if (scroller.current && top !== scrolled.peek()) scroller.current.scrollTop = top
    scrolled.value = top
    wasLive.current = isLive
    lowest.current = end
    const index = Math.floor(top / rowHeight)
    anchor.current = { index, id: rows[index]?.id ?? '' }
  })
  /** The scroll event comes later than the next render. */
  const moved = (to: number): void => {
    anchor.current = { index: -1, id: '' }
    scrolled.value = to
  }
  useEffect(() => {
    const { current: element } = scroller
    if (!element) return
    const onScroll = (): void => {
      const { scrollTop } = element
      const isUp = scrollTop < scrolled.peek() - 1 && scrollTop < lowest.current - 2
      if (isUp && state.activity.value === 'running') state.follows.value = false
      moved(scrollTop)
    }
    element.addEventListener('scroll', onScroll, { passive: true })
    return () => element.removeEventListener('scroll', onScroll)
  }, [])
  return {
    first: Math.max(0, Math.floor(top / rowHeight) - overscan),
    last: Math.ceil((top + room) / rowHeight) + overscan,
    rowHeight,
    rowsOnPage: Math.max(1, Math.floor(room / rowHeight) - 1),
    trackWidth: track,
    isVisible: (index) => index * rowHeight >= top && (index + 1) * rowHeight <= top + room,
    showRow(index) {
      const { current: element } = scroller
      if (!element) return
      const at = index * rowHeight
      if (at < element.scrollTop) element.scrollTop = at
      else if (at + rowHeight > element.scrollTop + room) element.scrollTop = at + rowHeight - room
      moved(element.scrollTop)
    },
  }
}

/** By how many rows the first visible one has moved. A row that is gone has not. */
function movedBy(rows: readonly { readonly id: string }[], { index, id }: { readonly index: number; readonly id: string }): number {
  if (index < 0 || id === '' || rows[index]?.id === id) return 0
  const now = rows.findIndex((row) => row.id === id)
  return now === -1 ? 0 : now - index
}

interface Size {
  readonly height: number
  readonly track: number
  readonly row: number
  readonly axis: number
}

function useMeasure(scroller: RefObject<HTMLDivElement | null>, density: string, size: { value: Size }): void {
  useLayoutEffect(() => {
    const { current: element } = scroller
    if (!element) return
    const measure = (): void => {
      const axis = element.querySelector<HTMLElement>('.timeline-axis')
      const track = axis?.querySelector<HTMLElement>('.timeline-track')
      size.value = {
        height: element.clientHeight,
        track: track?.clientWidth ?? 0,
        row: Number.parseFloat(getComputedStyle(element).getPropertyValue('--row')) || 30,
        axis: axis?.offsetHeight ?? 0,
      }
    }
    measure()
    const observer = new ResizeObserver(measure)
    observer.observe(element)
    return () => observer.disconnect()
  }, [density])
}
