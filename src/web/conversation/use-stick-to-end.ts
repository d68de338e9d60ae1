import { type Signal, useSignal } from '@preact/signals'
import type { RefObject } from 'preact'
import { useLayoutEffect, useRef } from 'preact/hooks'

/** So near is at the end. */
const nearPx = 24

interface StickToEnd {
  /** The element that scrolls, and the one in it that grows. */
  readonly box: RefObject<HTMLDivElement | null>
  readonly content: RefObject<HTMLDivElement | null>
  /** The end is visible, and stays so while the content grows. */
  readonly isAtEnd: Signal<boolean>
  /** There is more below what is visible. */
  readonly isMoreBelow: Signal<boolean>
  toEnd(): void
  /** The content is about to change where the person looks: stay there. */
  hold(): void
}

/** Keeps the end of a conversation visible until the person scrolls away from it. */
export function useStickToEnd(): StickToEnd {
  const box = useRef<HTMLDivElement>(null)
  const content = useRef<HTMLDivElement>(null)
  const isAtEnd = useSignal(true)
  const isMoreBelow = useSignal(false)
  const distance = ({ scrollHeight, scrollTop, clientHeight }: HTMLElement): number => scrollHeight - scrollTop - clientHeight
  const toEnd = (): void => {
    isAtEnd.value = true
    if (box.current) box.current.scrollTop = box.current.scrollHeight
  }
  useLayoutEffect(() => {
    const { current } = box
    if (!current || !content.current) return
    let last = { top: 0, height: 0 }
    const look = (): void => {
      isMoreBelow.value = distance(current) >= nearPx
    }
    const onScroll = (): void => {
      look()
      const { scrollTop: top, scrollHeight: height } = current
      const isUp = top < last.top && height >= last.height
      last = { top, height }
      // Content that has grown since is no reason to leave the end.
      isAtEnd.value = !isUp && (isAtEnd.peek() || distance(current) < nearPx)
    }
    // It is called after layout and before the frame is painted: nothing jumps.
    const observer = new ResizeObserver(() => {
      if (isAtEnd.peek()) toEnd()
      else isAtEnd.value = distance(current) < 1
      look()
    })
    observer.observe(current)
    observer.observe(content.current)
    current.addEventListener('scroll', onScroll, { passive: true })
    return () => {
      observer.disconnect()
      current.removeEventListener('scroll', onScroll)
    }
  }, [])
  return {
    ...{ box, content, isAtEnd, isMoreBelow, toEnd },
    hold() {
      isAtEnd.value = false
    },
  }
}
