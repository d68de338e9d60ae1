import { useLayoutEffect, useRef, useState } from 'preact/hooks'

/** A part of `box` that its first button opens: `first` gets the focus, and it closes when a press or the focus is elsewhere. */
export function usePopover(first: string) {
  const [isOpen, setOpen] = useState(false)
  const box = useRef<HTMLDivElement>(null)
  useLayoutEffect(() => {
    if (!isOpen) return
    const target = box.current?.querySelector<HTMLElement>(first)
    target?.focus()
    // What scrolls may cut it off.
    target?.parentElement?.scrollIntoView({ block: 'nearest' })
    const outside = (event: Event): void => {
      if (!box.current?.contains(event.target as Node)) setOpen(false)
    }
    document.addEventListener('pointerdown', outside)
    document.addEventListener('focusin', outside)
    return () => {
      document.removeEventListener('pointerdown', outside)
      document.removeEventListener('focusin', outside)
    }
  }, [isOpen])
  return {
    box,
    isOpen,
    toggle: () => setOpen(!isOpen),
    /** Returns the focus to the button. */
    close() {
      setOpen(false)
      box.current?.querySelector('button')?.focus()
    },
  }
}
