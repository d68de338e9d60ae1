import { useComputed } from '@preact/signals'
import type { NodeId } from '../../view/index.ts'
import { usePage } from '../state/page.ts'
import { useView } from './conversation-view.ts'

interface CardState {
  readonly isOpen: boolean
  readonly isSelected: boolean
  /** Selects the node, and opens or closes its card. */
  toggle(): void
}

export function useCard(id: NodeId): CardState {
  const page = usePage()
  const view = useView()
  const open = view.open(id)
  const isOpen = open.value ?? false
  const isSelected = useComputed(() => page.selected.value === id).value
  return {
    isOpen,
    isSelected,
    toggle() {
      view.hold()
      view.chosen = id
      page.selected.value = id
      open.value = !isOpen
    },
  }
}
