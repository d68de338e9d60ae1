import type { NodeId } from '../../view/index.ts'
import type { TimelineState } from './timeline-state.ts'

interface TreeActions {
  readonly selected: NodeId | undefined
  readonly rowsOnPage: number
  select(index: number): void
}

const zoomStep = 1.6

/** The keys of the tree. Those with Ctrl, ⌘ or Alt belong to the page and the browser. */
export function treeKeys(state: TimelineState, { selected, rowsOnPage, select }: TreeActions): (event: KeyboardEvent) => void {
  return (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return
    const { value: rows } = state.rows
    const index = rows.findIndex(({ id }) => id === selected)
    const row = rows[index]
    const isOpen = row !== undefined && row.children > 0 && !state.collapsed.value.has(row.id)
    const actions: { readonly [key: string]: () => void } = {
      ArrowDown: () => select(Math.min(rows.length - 1, index + 1)),
      ArrowUp: () => select(Math.max(0, index - 1)),
      PageDown: () => select(Math.min(rows.length - 1, index + rowsOnPage)),
      PageUp: () => select(Math.max(0, index - rowsOnPage)),
      Home: () => select(0),
      End() {
        select(rows.length - 1)
        state.follows.value = true
      },
      ArrowRight() {
        if (isOpen) select(index + 1)
        else if (row && row.children > 0) state.toggle(row.id, true)
      },
      ArrowLeft() {
        if (isOpen && row) state.toggle(row.id, false)
        else if (row?.parent) select(rows.indexOf(row.parent))
      },
      Enter() {
        if (row) state.isDetailsOpen.value = true
      },
      Escape() {
        state.isDetailsOpen.value = false
      },
      '+': () => state.zoom(zoomStep),
      '=': () => state.zoom(zoomStep),
      '-': () => state.zoom(1 / zoomStep),
      '0': () => state.fit(),
      f: () => state.fit(),
      '/'() {
        state.isFilterOpen.value = true
      },
    }
    const action = event.shiftKey && event.key !== '+' ? undefined : actions[event.key]
    if (!action) return
    event.preventDefault()
    action()
  }
}
