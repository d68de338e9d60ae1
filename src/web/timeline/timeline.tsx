import { useEffect } from 'preact/hooks'
import { usePage } from '../state/page.ts'
import type { SessionStore } from '../state/session-store.ts'
import { IconButton } from '../ui/icon-button.tsx'
import { Tabs } from '../ui/tabs.tsx'
import { Details } from './details.tsx'
import { FilterBar } from './filter-bar.tsx'
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
    <div class="timeline">
      <Head state={state} isEmpty={isEmpty} />
      {isEmpty ? (
        <p class="timeline-empty">
          {store.state.value === 'loading' ? 'Loading…' : 'Nothing has run yet. Steps, tool calls and child agents appear here.'}
        </p>
      ) : isTree ? (
        <>
          {state.isLegendOpen.value && <Legend />}
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
  const isTree = state.tab.value === 'timeline'
  return (
    <header class="pane-head line timeline-head">
      <Tabs
        label="Timeline or summary"
        class="timeline-tabs"
        tabs={{ timeline: 'Timeline', summary: 'Summary' }}
        selected={state.tab.value}
        onSelect={(tab) => (state.tab.value = tab)}
      />
      {isTree && !isEmpty && <Tools state={state} />}
    </header>
  )
}

function Tools({ state }: { readonly state: TimelineState }) {
  const { isFilterOpen, isLegendOpen, follows, view } = state
  const toggle = (signal: { value: boolean }) => (): void => {
    signal.value = !signal.value
  }
  return (
    <>
      <IconButton icon="filter" label="Filter rows" isPressed={isFilterOpen.value} onClick={toggle(isFilterOpen)} />
      <IconButton icon="fit" label="Fit to width" isDisabled={view.value === undefined} onClick={() => state.fit()} />
      <IconButton icon="follow" label="Follow newest row" isPressed={follows.value} onClick={toggle(follows)} />
      <IconButton icon="question" label="Legend" isPressed={isLegendOpen.value} onClick={toggle(isLegendOpen)} />
    </>
  )
}

const fills = [
  ['model', 'model'],
  ['tool', 'tool'],
  ['child', 'agent'],
  ['approval', 'waits for a person'],
  ['queue', 'waits in a queue'],
] as const

function Legend() {
  return (
    <ul class="timeline-legend plain-list">
      {fills.map(([kind, label]) => (
        <li key={kind}>
          <span class={`timeline-bar timeline-bar-${kind}`} />
          {label}
        </li>
      ))}
      <li>
        <span class="timeline-bar timeline-bar-tool timeline-bar-failed" />
        failed
      </li>
    </ul>
  )
}
