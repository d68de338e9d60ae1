import { computed, signal, untracked } from '@preact/signals'
import { isRunning, type NodeId, type Span } from '../../view/index.ts'
import type { Page } from '../state/page.ts'
import type { SessionStore } from '../state/session-store.ts'
import { isFiltering, matcher, noFilter } from './filter.ts'
import { activeSpans } from './row-facts.ts'
import { allRows, ancestorsOf, expandedRows, matchingRows, type Row, rowOf } from './rows.ts'
import { createScale, isSameScale, pan, rangeOf, type TimeScale, zoom } from './time-scale.ts'

/** What the model saw, what it wrote, and what that used. */
type StepTab = 'request' | 'response' | 'tokens'

export const columns = { time: 'Time', tokens: 'Tokens', cost: 'Cost' } as const
type Column = keyof typeof columns

/** How a person looks at the timeline of a session. It outlives its pane. */
export class TimelineState {
  readonly store: SessionStore
  readonly tab = signal<'timeline' | 'summary'>('timeline')
  /** What the last column shows. */
  readonly column = signal<Column>('time')
  readonly collapsed = signal<ReadonlySet<NodeId>>(new Set())
  readonly filter = signal(noFilter)
  readonly isFilterOpen = signal(false)
  readonly isDetailsOpen = signal(false)
  /** The open tab in the details of a model step. */
  readonly stepTab = signal<StepTab>('response')
  /** Scrolls to the newest row while something runs. */
  readonly follows = signal(true)
  /** Without one, all of the time is shown. */
  readonly view = signal<Span | undefined>(undefined)
  /** Moves while bars grow. */
  readonly clock = signal(0)

  constructor(store: SessionStore) {
    this.store = store
  }

  readonly now = computed(() => {
    void this.clock.value
    void this.store.frame.value
    return this.store.now()
  })

  /** `waiting`: bars grow because somebody has to answer. */
  readonly activity = computed((): 'running' | 'waiting' | 'none' => {
    void this.store.frame.value
    void this.store.state.value
    const turns = this.store.tree.roots.flatMap((agent) => agent.turns.at(-1) ?? [])
    if (turns.some(isRunning)) return 'running'
    return turns.some(({ status }) => status === 'suspended') ? 'waiting' : 'none'
  })

  readonly all = computed(() => {
    void this.store.frame.value
    return allRows(this.store.tree)
  })

  readonly matching = computed(() => {
    const { value: filter } = this.filter
    const { value: rows } = this.all
    // Positions of rows are changed in place.
    return isFiltering(filter) ? matchingRows(allRows(this.store.tree), matcher(filter)) : { rows, matches: rows.length }
  })

  readonly rows = computed(() => expandedRows(this.matching.value.rows, this.collapsed.value))

  #last: TimeScale | undefined

  /** While something runs it grows with the clock, not with each frame: it has headroom. */
  readonly scale = computed((): TimeScale => {
    const { value: activity } = this.activity
    if (activity !== 'running') return createScale(...this.#spans(activity === 'none' ? 0 : this.now.value, this.all.value))
    void this.clock.value
    const scale = createScale(...untracked(() => this.#spans(this.store.now(), this.all.value)), true)
    // Rows are rendered again if it is another object.
    if (!this.#last || !isSameScale(this.#last, scale)) this.#last = scale
    return this.#last
  })

  #spans(now: number, rows: readonly Row[]): readonly [readonly Span[], Span] {
    const active = activeSpans(rows, now)
    const all = [...this.store.tree.roots.flatMap(({ turns }) => turns.map(({ span }) => span)), ...active]
    const from = all.reduce((first, span) => Math.min(first, span.from), all[0]?.from ?? 0)
    return [active, { from, to: all.reduce((last, span) => Math.max(last, span.to), Math.max(now, from + 1)) }]
  }

  readonly range = computed(() => rangeOf(this.scale.value, this.view.value))

  toggle(id: NodeId, isOpen = this.collapsed.value.has(id)): void {
    const next = new Set(this.collapsed.value)
    if (isOpen) next.delete(id)
    else next.add(id)
    this.collapsed.value = next
  }

  setFilter(changes: Partial<typeof noFilter>): void {
    this.filter.value = { ...this.filter.value, ...changes }
    // Rows that match are shown, wherever they are.
    this.collapsed.value = new Set()
  }

  /** Opens whatever hides the row of a node. Returns its place among the rows. */
  reveal(id: NodeId): number {
    const row = rowOf(this.all.value, id)
    if (!row) return -1
    const find = (): number => this.rows.value.findIndex((each) => each.id === row.id)
    if (find() === -1) {
      const hiding = new Set(ancestorsOf(row))
      this.collapsed.value = new Set([...this.collapsed.value].filter((each) => !hiding.has(each)))
    }
    if (find() === -1) this.filter.value = noFilter
    return find()
  }

  zoom(by: number, at = 0.5): void {
    this.view.value = zoom(this.scale.value, this.view.value, { by, at })
  }

  pan(by: number): void {
    this.view.value = pan(this.scale.value, this.view.value, by)
  }

  fit(): void {
    this.view.value = undefined
  }
}

const states = new WeakMap<SessionStore, TimelineState>()

export function timelineState(store: SessionStore): TimelineState {
  const state = states.get(store) ?? new TimelineState(store)
  states.set(store, state)
  return state
}

/** Shows what the model saw in a step. */
export function showModelRequest(page: Page, store: SessionStore, step: NodeId): void {
  const state = timelineState(store)
  state.tab.value = 'timeline'
  state.stepTab.value = 'request'
  state.isDetailsOpen.value = true
  page.set({ isTimelineOpen: true })
  page.tab.value = 'timeline'
  page.selected.value = step
}
