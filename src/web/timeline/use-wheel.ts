import type { RefObject } from 'preact'
import { useEffect } from 'preact/hooks'
import type { TimelineState } from './timeline-state.ts'

const zoomPerPixel = 1.004

/** Over the bars: Ctrl or ⌘ and the wheel, or a pinch, zooms at the pointer; Shift and the wheel pans. A plain wheel scrolls rows. */
export function useWheel(state: TimelineState, scroller: RefObject<HTMLDivElement | null>): void {
  useEffect(() => {
    const { current: element } = scroller
    if (!element) return
    const onWheel = (event: WheelEvent): void => {
      const isZoom = event.ctrlKey || event.metaKey
      const isPan = event.shiftKey || Math.abs(event.deltaX) > Math.abs(event.deltaY)
      const box = element.querySelector('.timeline-axis .timeline-track')?.getBoundingClientRect()
      if (!box || event.clientX < box.left || event.clientX > box.right) return
      if (!isZoom && !isPan) return
      event.preventDefault()
      if (isZoom) {
        const pixels = Math.min(200, Math.max(-200, event.deltaY * (event.deltaMode === 1 ? 16 : 1)))
        state.zoom(zoomPerPixel ** -pixels, (event.clientX - box.left) / box.width)
      } else state.pan((event.deltaX || event.deltaY) / box.width)
    }
    // A listener that is not passive can keep the browser from zooming the page.
    element.addEventListener('wheel', onWheel, { passive: false })
    return () => element.removeEventListener('wheel', onWheel)
  }, [])
}
