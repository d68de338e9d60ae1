import type { ComponentChildren } from 'preact'
import type { NodeId } from '../../view/index.ts'
import { Icon } from '../ui/icon.tsx'
import { useView } from './conversation-view.ts'

interface DisclosureProps {
  readonly id: NodeId
  /** Until a person opens or closes it. */
  readonly isOpenAtFirst?: boolean
  line(isOpen: boolean): ComponentChildren
  readonly children: ComponentChildren
}

export function Disclosure({ id, isOpenAtFirst = false, line, children }: DisclosureProps) {
  const view = useView()
  const open = view.open(id)
  const isOpen = open.value ?? isOpenAtFirst
  const toggle = (): void => {
    view.hold()
    open.value = !isOpen
  }
  return (
    <div>
      <button type="button" class="line-button" aria-expanded={isOpen} onClick={toggle}>
        <Icon name="chevron" class="line-chevron" />
        {line(isOpen)}
      </button>
      {isOpen && children}
    </div>
  )
}
