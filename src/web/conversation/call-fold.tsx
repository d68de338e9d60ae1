import { useSignalEffect } from '@preact/signals'
import type { ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'
import { type CallNode, duration, grouped, type NodeId } from '../../view/index.ts'
import { usePage } from '../state/page.ts'
import { Icon } from '../ui/icon.tsx'
import { StatusMark } from '../ui/status-mark.tsx'
import { callsMs, callsText, failedOf } from './call-runs.ts'
import { useView } from './conversation-view.ts'

/** So many are shown when it opens, the last ones. */
const firstShown = 100

interface CallFoldProps<Item> {
  readonly id: NodeId
  readonly calls: readonly CallNode[]
  /** What is shown when it is open. */
  readonly items: readonly Item[]
  /** Whether a node is one of them: it opens when that is selected. */
  contains(id: NodeId): boolean
  render(item: Item): ComponentChildren
}

/** Many calls in a row, as one line that opens. */
export function CallFold<Item>({ id, calls, items, contains, render }: CallFoldProps<Item>) {
  const page = usePage()
  const view = useView()
  const [limit, setLimit] = useState(firstShown)
  const open = view.open(id)
  useSignalEffect(() => {
    const { value: selected } = page.selected
    if (selected === undefined || !contains(selected)) return
    open.value = true
    setLimit(items.length)
  })
  const { value: isOpen = false } = open
  const failed = failedOf(calls)
  const earlier = Math.max(0, items.length - limit)
  return (
    <>
      <div class="call-card call-fold box">
        <button
          type="button"
          class="call-line"
          aria-expanded={isOpen}
          onClick={() => {
            view.hold()
            open.value = !isOpen
          }}
        >
          <Icon name="chevron" class="line-chevron" />
          <StatusMark status="completed" />
          <span class="grow truncate">{callsText(calls)}</span>
          {failed > 0 && <span class="call-fact tone-error">{grouped(failed)} failed</span>}
          <span class="call-time">{duration(callsMs(calls))}</span>
        </button>
      </div>
      {isOpen && (
        <div class="call-fold-items stack">
          {earlier > 0 && (
            <button type="button" class="link-button small" onClick={() => setLimit(items.length)}>
              Show {grouped(earlier)} earlier
            </button>
          )}
          {items.slice(earlier).map(render)}
        </div>
      )}
    </>
  )
}
