import { useEffect, useRef } from 'preact/hooks'
import { grouped } from '../../view/index.ts'
import { Icon } from '../ui/icon.tsx'
import { IconButton } from '../ui/icon-button.tsx'
import { choicesOf, type Filter, isFiltering, noFilter, statusGroups } from './filter.ts'
import type { TimelineState } from './timeline-state.ts'

/** Text, agent, tool and status; Escape clears and closes. */
export function FilterBar({ state }: { readonly state: TimelineState }) {
  const input = useRef<HTMLInputElement>(null)
  useEffect(() => input.current?.focus(), [])
  const { value: filter } = state.filter
  const { agents, tools } = choicesOf(state.all.value)
  const { matches } = state.matching.value
  const close = (): void => {
    state.setFilter(noFilter)
    state.isFilterOpen.value = false
    document.getElementById('operations')?.focus()
  }
  const choose = (key: 'agent' | 'tool' | 'status', choices: readonly string[]) => (
    <select
      class="field"
      aria-label={`Filter by ${key}`}
      value={filter[key]}
      data-set={filter[key] === '' ? undefined : ''}
      onChange={(event) => state.setFilter({ [key]: event.currentTarget.value } as Partial<Filter>)}
    >
      <option value="">any {key}</option>
      {choices.map((choice) => (
        <option key={choice} value={choice}>
          {choice}
        </option>
      ))}
    </select>
  )
  return (
    <search
      class="timeline-filter line"
      onKeyDown={(event) => {
        if (event.key === 'Escape') close()
      }}
    >
      <div class="search">
        <Icon name="search" />
        <input
          ref={input}
          class="field"
          type="search"
          aria-label="Filter by text"
          placeholder="Filter"
          value={filter.text}
          onInput={(event) => state.setFilter({ text: event.currentTarget.value })}
        />
      </div>
      {choose('agent', agents)}
      {choose('tool', tools)}
      {choose('status', statusGroups)}
      <span class="timeline-count line">
        <output class="muted">
          {isFiltering(filter) && `${grouped(matches)} of `}
          {grouped(state.all.value.length)}
        </output>
        <IconButton icon="close" label="Clear filter" onClick={close} />
      </span>
    </search>
  )
}
