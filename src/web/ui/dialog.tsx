import type { ComponentChildren } from 'preact'
import { useLayoutEffect, useRef } from 'preact/hooks'

interface DialogProps {
  readonly title: string
  /** Escape, or a click beside the dialog. Absent: it must be answered. */
  readonly onClose?: () => void
  readonly children: ComponentChildren
  readonly class?: string
}

/** A modal dialog. It exists as long as it is rendered. */
export function Dialog({ title, onClose, children, class: more = '' }: DialogProps) {
  const ref = useRef<HTMLDialogElement>(null)
  useLayoutEffect(() => {
    const { current: dialog } = ref
    dialog?.showModal()
    // Closing returns the focus to where it was.
    return () => dialog?.close()
  }, [])
  return (
    <dialog
      ref={ref}
      class={`dialog ${more}`}
      aria-label={title}
      onCancel={(event) => {
        event.preventDefault()
        onClose?.()
      }}
      onClose={() => {
        // Browsers close a dialog at the second Escape, whatever is prevented.
        if (!ref.current) return
        if (onClose) onClose()
        else ref.current.showModal()
      }}
      onMouseDown={(event) => {
        if (event.target === ref.current) onClose?.()
      }}
    >
      {children}
    </dialog>
  )
}
