import { exactLine } from '../../util/exact-text.ts'
import { duration, elapsed, price, tokens } from '../../view/index.ts'
import { Icon } from '../ui/icon.tsx'
import { StatusMark } from '../ui/status-mark.tsx'
import { noteText } from './note-text.ts'
import { type RowFacts, type Segment, statusOf } from './row-facts.ts'
import type { Row } from './rows.ts'
import { positionOf, type Range, shareIn, type TimeScale } from './time-scale.ts'

export interface RowProps {
  readonly row: Row
  readonly facts: RowFacts
  readonly top: number
  readonly siblings: number
  readonly isSelected: boolean
  readonly isCollapsed: boolean
  /** Failed rows below, if they are not shown. */
  readonly hiddenFailures: number
  readonly scale: TimeScale
  readonly range: Range
  onSelect(): void
  onToggle(): void
}

export const rowElementId = (id: string): string => `operation-${id}`

export function OperationRow(props: RowProps) {
  const { row, facts, top, siblings, isSelected, isCollapsed, onSelect, onToggle } = props
  const hasRows = row.children > 0
  return (
    // biome-ignore lint/a11y/useFocusableInteractive: the tree has the focus, and names its active row
    // biome-ignore lint/a11y/useKeyWithClickEvents: the tree handles the keys
    <div
      id={rowElementId(row.id)}
      class="timeline-row"
      role="treeitem"
      aria-level={row.level}
      aria-posinset={row.position}
      aria-setsize={siblings}
      aria-selected={isSelected}
      aria-expanded={hasRows ? !isCollapsed : undefined}
      data-kind={row.of.kind}
      style={{ top: `${top}px` }}
      onClick={onSelect}
    >
      <Label {...props} hasRows={hasRows} onToggle={onToggle} />
      <div class="timeline-track">
        {facts.segments.map((segment, i) => (
          <Bar key={i} segment={segment} scale={props.scale} range={props.range} />
        ))}
      </div>
      <span class="timeline-spent">{spentText(facts)}</span>
      <span class="timeline-time">{isGrowing(facts) ? elapsed(facts.durationMs) : duration(facts.durationMs)}</span>
    </div>
  )
}

const isGrowing = ({ segments }: RowFacts): boolean => segments.some(({ isOpen }) => isOpen)

function spentText({ spent }: RowFacts): string {
  if (!spent || spent.usage.input + spent.usage.output === 0) return ''
  const cost = spent.cost === 'unknown' ? '' : price(spent.cost)
  return cost === '' ? tokens(spent.usage) : `${tokens(spent.usage)} · ${cost}`
}

/** Deep levels are indented less, so that names keep their room. */
const depth = (level: number): number => (level <= 7 ? level - 1 : 6 + (level - 7) * 0.3)

function Label({ row, facts, isCollapsed, hiddenFailures, hasRows, onToggle }: RowProps & { readonly hasRows: boolean }) {
  const { name, about, problem, status, notes } = facts
  const isProblem = status !== 'completed' && status !== 'running'
  return (
    <div class="timeline-label" style={{ '--depth': depth(row.level) }} title={exactLine(`${name} ${about}`.slice(0, 400))}>
      {/* biome-ignore lint/a11y/noStaticElementInteractions: the tree handles the keys */}
      {/* biome-ignore lint/a11y/useKeyWithClickEvents: the tree handles the keys */}
      <span
        class="timeline-chevron"
        data-open={hasRows && !isCollapsed ? '' : undefined}
        onClick={(event) => {
          if (!hasRows) return
          event.stopPropagation()
          onToggle()
        }}
      >
        {hasRows && <Icon name="chevron" />}
      </span>
      <StatusMark status={statusOf(row.of)} />
      <span class="timeline-name">{exactLine(name.slice(0, 200))}</span>
      {problem && <span class={`timeline-problem ${isProblem ? `timeline-problem-${toneOf(status)}` : ''}`}>{problem}</span>}
      {hiddenFailures > 0 && <span class="timeline-problem timeline-problem-error">{hiddenFailures} failed</span>}
      {notes.length > 0 && (
        <span class="timeline-note" role="img" aria-label={`${notes.length} notes`} title={notes.map(noteText).join('\n')}>
          <Icon name="error" />
        </span>
      )}
      <span class="timeline-about">{exactLine(about.slice(0, 200))}</span>
    </div>
  )
}

const toneOf = (status: RowFacts['status']): 'error' | 'warning' =>
  status === 'failed' || status === 'declined' || status === 'unknown' ? 'error' : 'warning'

function Bar({ segment, scale, range }: { readonly segment: Segment; readonly scale: TimeScale; readonly range: Range }) {
  const { kind, from, to, isFailed, isOpen } = segment
  const left = shareIn(range, positionOf(scale, from))
  const right = shareIn(range, positionOf(scale, to))
  if (left > 1 || right < 0) return null
  const [begin, end] = [Math.max(-0.01, left), Math.min(1.01, right)]
  const style = { left: `min(${begin * 100}%, 100% - 3px)`, width: `${Math.max(0, end - begin) * 100}%` }
  return (
    <span
      class={`timeline-bar timeline-bar-${kind}${isFailed ? ' timeline-bar-failed' : ''}${isOpen ? ' timeline-bar-open' : ''}`}
      style={style}
    />
  )
}
