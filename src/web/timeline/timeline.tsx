import { useEffect } from 'preact/hooks'
import { usePage } from '../state/page.ts'
import type { SessionStore } from '../state/session-store.ts'
import { IconButton } from '../ui/icon-button.tsx'
import { Tabs } from '../ui/tabs.tsx'
import { Details } from './details.tsx'
import { FilterBar } from './filter-bar.tsx'
import { JumpBar } from './jump-bar.tsx'
import { OperationTree } from './operation-tree.tsx'
import { SummaryTable } from './summary-table.tsx'
import { type TimelineState, timelineState } from './timeline-state.ts'

const growMs = { running: 200, waiting: 1_000 } as const

/** What the agents of a session did, as a tree on one time axis. */
export function Timeline({ store }: { readonly store: SessionStore }) {
  const page = usePage()
  const state = timelineState(store)
  const { value: activity } = state.activity
  useEffect(() => {
    if (activity === 'none') return
    const timer = setInterval(() => {
      if (document.visibilityState === 'visible') state.clock.value++
    }, growMs[activity])
    return () => clearInterval(timer)
  }, [state, activity])
  const isEmpty = state.all.value.length === 0
  const isTree = state.tab.value === 'timeline'
  const { value: selected } = page.selected
  return (
    <div class="timeline" data-column={state.column.value}>
      <Head state={state} isEmpty={isEmpty} />
      {isEmpty ? (
        <p class="timeline-empty">
          {store.state.value === 'loading' ? 'Loading…' : 'Nothing has run yet. Steps, tool calls and child agents appear here.'}
        </p>
      ) : isTree ? (
        <>
          <JumpBar state={state} />
          {state.isFilterOpen.value && <FilterBar state={state} />}
          <OperationTree key={store.id} state={state} />
          {state.isDetailsOpen.value && selected !== undefined && <Details state={state} id={selected} />}
        </>
      ) : (
        <SummaryTable state={state} />
      )}
    </div>
  )
}

function Head({ state, isEmpty }: { readonly state: TimelineState; readonly isEmpty: boolean }) {
  const { tab, isFilterOpen, follows, view } = state
  const toggle = (signal: { value: boolean }) => (): void => {
    signal.value = !signal.value
  }
  return (
    <header class="pane-head line timeline-head">
      <Tabs
        label="Timeline or summary"
        class="timeline-tabs"
        tabs={{ timeline: 'Timeline', summary: 'Summary' }}
        selected={tab.value}
        onSelect={(selected) => (tab.value = selected)}
      />
      {tab.value === 'timeline' && !isEmpty && (
        <>
          <IconButton icon="filter" label="Filter rows" isPressed={isFilterOpen.value} onClick={toggle(isFilterOpen)} />
          <IconButton icon="fit" label="Fit to width" isDisabled={view.value === undefined} onClick={() => state.fit()} />
          <IconButton icon="follow" label="Follow newest row" isPressed={follows.value} onClick={toggle(follows)} />
        </>
      )}
    </header>
  )
}
