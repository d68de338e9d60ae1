import type { ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'
import { Icon } from './icon.tsx'

interface FoldProps {
  readonly line: ComponentChildren
  readonly isOpenAtFirst?: boolean
  readonly class?: string
  /** Called when it is open: what is folded costs nothing. */
  children(): ComponentChildren
}

/** A line that opens. */
export function Fold({ line, isOpenAtFirst = false, class: more = '', children }: FoldProps) {
  const [isOpen, setOpen] = useState(isOpenAtFirst)
  return (
    <div class={`fold ${more}`} data-open={isOpen ? '' : undefined}>
      <button type="button" class="fold-line line" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
        <Icon name="chevron" class="line-chevron" />
        {line}
      </button>
      {isOpen && children()}
    </div>
  )
}
