import { useMemo } from 'preact/hooks'
import { duration, grouped, type NodeId, price } from '../../view/index.ts'
import { usePage } from '../state/page.ts'
import { jumpsOf } from './jumps.ts'
import { columns, type TimelineState } from './timeline-state.ts'

/** Leads to the rows that people look for first, and chooses what the last column shows. Figures grow twice a second, not with each event. */
export function JumpBar({ state }: { readonly state: TimelineState }) {
  const page = usePage()
  const isLive = state.activity.value === 'running'
  const { value: rows } = state.all
  const { slowest, dearest, failed } = useMemo(() => jumpsOf(rows), isLive ? [page.now.value] : [rows])
  const jump = (id: NodeId | undefined): void => {
    if (id === undefined) return
    state.isDetailsOpen.value = true
    page.selected.value = id
  }
  // One after the other.
  const nextFailed = (): void => jump(failed[(failed.indexOf(page.selected.value ?? '') + 1) % failed.length])
  return (
    <div class="timeline-jumps line">
      <div class="timeline-jump-list line grow">
        {slowest && <Jump name="Slowest" fact={duration(slowest.ms)} onClick={() => jump(slowest.id)} />}
        {dearest && <Jump name="Most expensive" fact={price(dearest.cost)} onClick={() => jump(dearest.id)} />}
        {failed.length > 0 && <Jump name="Failed" fact={grouped(failed.length)} isError onClick={nextFailed} />}
      </div>
      <select
        class="timeline-column"
        aria-label="Column"
        value={state.column.value}
        onChange={({ currentTarget }) => (state.column.value = currentTarget.value as keyof typeof columns)}
      >
        {Object.entries(columns).map(([column, name]) => (
          <option key={column} value={column}>
            {name}
          </option>
        ))}
      </select>
    </div>
  )
}

interface JumpProps {
  readonly name: string
  readonly fact: string
  readonly isError?: boolean
  onClick(): void
}

const Jump = ({ name, fact, isError = false, onClick }: JumpProps) => (
  <button
    type="button"
    class="timeline-jump"
    title={`Jump to: ${name.toLowerCase()}`}
    data-error={isError ? '' : undefined}
    onClick={onClick}
  >
    {name} <strong>{fact}</strong>
  </button>
)
