import { useEffect, useRef } from 'preact/hooks'
import { usePage } from '../state/page.ts'
import { OperationRow, rowElementId } from './operation-row.tsx'
import { nameOf } from './row-facts.ts'
import type { Row } from './rows.ts'
import { AxisLines, TimeAxis } from './time-axis.tsx'
import type { TimelineState } from './timeline-state.ts'
import { treeKeys } from './tree-keys.ts'
import { useRowWindow } from './use-row-window.ts'
import { useWheel } from './use-wheel.ts'

/** The rows that are visible, of any number. The tree has the focus; its active row is the selected one. */
export function OperationTree({ state }: { readonly state: TimelineState }) {
  const page = usePage()
  const scroller = useRef<HTMLDivElement>(null)
  const { value: rows } = state.rows
  const { value: selected } = page.selected
  const { value: collapsed } = state.collapsed
  const { first, last, rowHeight, trackWidth, showRow, isVisible, rowsOnPage } = useRowWindow(state, scroller)
  useWheel(state, scroller)

  // The selection of this tree is visible already; that of the conversation may be anywhere.
  const own = useRef<string | undefined>(undefined)
  useEffect(() => {
    if (selected === undefined || selected === own.current) return
    const index = state.reveal(selected)
    if (index === -1) return
    if (!isVisible(index)) state.follows.value = false
    requestAnimationFrame(() => showRow(index))
  }, [selected])

  // Details take a part of the height.
  useEffect(() => {
    const index = state.isDetailsOpen.value ? rows.findIndex(({ id }) => id === selected) : -1
    if (index >= 0) showRow(index)
  }, [rowsOnPage])

  const select = (row: Row, opensDetails: boolean): void => {
    own.current = row.id
    page.selected.value = row.id
    state.follows.value = state.follows.value && row === state.rows.value.at(-1)
    if (opensDetails) state.isDetailsOpen.value = true
  }
  const keys = treeKeys(state, {
    selected,
    rowsOnPage,
    select(index) {
      const row = state.rows.value[index]
      if (!row) return
      select(row, false)
      showRow(index)
    },
  })
  const onClick = ({ target }: MouseEvent): void => {
    const element = target instanceof Element ? target.closest<HTMLElement>('[data-row]') : null
    const row = element && state.rows.value.find(({ id }) => id === element.dataset.row)
    if (!row) return
    if (row.children > 0 && (target as Element).closest('.timeline-chevron')) state.toggle(row.id)
    else select(row, true)
  }
  const window = rows.slice(first, last)
  const active = window.find(({ id }) => id === selected)
  return (
    <div class="timeline-scroll" ref={scroller}>
      <TimeAxis state={state} width={trackWidth} />
      <div class="timeline-body" style={{ height: `${rows.length * rowHeight}px` }}>
        <AxisLines state={state} width={trackWidth} />
        <div
          id="operations"
          class="timeline-rows"
          role="tree"
          aria-label="Operations"
          tabIndex={0}
          aria-activedescendant={active && rowElementId(active.id)}
          onKeyDown={keys}
          onClick={onClick}
        >
          {window.map((row, i) => (
            <OperationRow
              // Elements of rows that have left are used again.
              key={(first + i) % (last - first)}
              state={state}
              id={row.id}
              of={row.of}
              level={row.level}
              position={row.position}
              siblings={row.parent?.children ?? state.store.tree.roots.length}
              hasRows={row.children > 0}
              top={(first + i) * rowHeight}
              isSelected={row === active}
              isCollapsed={collapsed.has(row.id)}
              hiddenFailures={collapsed.has(row.id) ? failuresBelow(state, row) : 0}
            />
          ))}
        </div>
        {rows.length === 0 && <p class="timeline-empty">No row matches the filter.</p>}
      </div>
    </div>
  )
}

function failuresBelow(state: TimelineState, { id, level }: Row): number {
  const { rows } = state.matching.value
  const at = rows.findIndex((row) => row.id === id)
  let failures = 0
  for (let i = at + 1; i < rows.length && (rows[i]?.level ?? 0) > level; i++) {
    const row = rows[i]
    if (row && nameOf(row.of).status === 'failed') failures++
  }
  return failures
}
