import type { ComponentChildren } from 'preact'
import { Dialog } from './dialog.tsx'

interface FormDialogProps {
  readonly title: string
  readonly heading?: string
  readonly action: string
  readonly isDisabled?: boolean
  readonly isDanger?: boolean
  /** A second answer. Default: Cancel, unless the dialog must be answered. */
  readonly other?: { readonly label: string; onClick(): void }
  readonly children: ComponentChildren
  onAct(): void
  onClose?: (() => void) | undefined
}

export function FormDialog({
  title,
  heading = title,
  action,
  isDisabled,
  isDanger = false,
  other,
  children,
  onAct,
  onClose,
}: FormDialogProps) {
  const second = other ?? (onClose && { label: 'Cancel', onClick: onClose })
  return (
    <Dialog title={title} {...(onClose && { onClose })}>
      <form
        onSubmit={(event) => {
          event.preventDefault()
          onAct()
        }}
      >
        <h2>{heading}</h2>
        {children}
        <div class="dialog-actions line">
          {second && (
            <button type="button" class="button" onClick={second.onClick}>
              {second.label}
            </button>
          )}
          <button type="submit" class={`button ${isDanger ? 'button-danger' : 'button-primary'}`} disabled={isDisabled}>
            {action}
          </button>
        </div>
      </form>
    </Dialog>
  )
}
