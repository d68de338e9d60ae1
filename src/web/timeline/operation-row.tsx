import { exactLine } from '../../util/exact-text.ts'
import { duration, elapsed, failedInside, type NodeId, price, tokenWords, waitingTime, workOf, workTime } from '../../view/index.ts'
import type { SessionStore } from '../state/session-store.ts'
import { Icon } from '../ui/icon.tsx'
import { noteText } from '../ui/note-text.ts'
import { StatusMark, statusTone } from '../ui/status-mark.tsx'
import { TokenWords } from '../ui/token-words.tsx'
import { factsOf, isGrowing, type RowFacts, type Segment } from './row-facts.ts'
import type { Operation } from './rows.ts'
import { positionOf, shareIn } from './time-scale.ts'
import type { columns, TimelineState } from './timeline-state.ts'

/** Equal properties and unchanged nodes: a row is not rendered again. Most rows of a run have ended. */
interface RowProps {
  readonly state: TimelineState
  readonly id: NodeId
  readonly of: Operation
  readonly level: number
  readonly position: number
  readonly siblings: number
  readonly hasRows: boolean
  readonly top: number
  readonly isSelected: boolean
  readonly isCollapsed: boolean
  /** Failed rows below, if they are not shown. */
  readonly hiddenFailures: number
}

export const rowElementId = (id: string): string => `operation-${id}`

export function OperationRow(props: RowProps) {
  const { state, id, of, level, position, siblings, hasRows, top, isSelected, isCollapsed } = props
  useNodes(state.store, of)
  const facts = factsOf(of, state.now)
  return (
    // biome-ignore lint/a11y/useFocusableInteractive: the tree has the focus, and names its active row
    <div
      id={rowElementId(id)}
      class="timeline-row"
      role="treeitem"
      aria-level={level}
      aria-posinset={position}
      aria-setsize={siblings}
      aria-selected={isSelected}
      aria-expanded={hasRows ? !isCollapsed : undefined}
      data-kind={of.kind}
      data-row={id}
      style={{ top: `${top}px` }}
    >
      <Label {...props} facts={facts} />
      <div class="timeline-track">
        {facts.segments.map((segment, i) => (
          <Bar key={i} state={state} {...segment} />
        ))}
      </div>
      <span class="timeline-spent">{spentText(facts)}</span>
      <span class="timeline-time" title={[timeText(facts), spentText(facts)].filter(Boolean).join(' · ')}>
        <Figure facts={facts} column={state.column.value} />
      </span>
    </div>
  )
}

function WorkTime({ facts }: { readonly facts: RowFacts }) {
  const waiting = waitingTime(facts.waitedMs ?? 0)
  return (
    <>
      {(isGrowing(facts) ? elapsed : duration)(workOf(facts))}
      {waiting !== '' && (
        <span class="timeline-waiting tone-warning">
          +{waiting}
          <span class="visually-hidden"> waiting</span>
        </span>
      )}
    </>
  )
}

function Figure({ facts, column }: { readonly facts: RowFacts; readonly column: keyof typeof columns }) {
  const { spent } = facts
  if (column === 'time') return <WorkTime facts={facts} />
  if (!spent || spent.usage.input + spent.usage.output === 0) return null
  if (column === 'tokens') return <TokenWords usage={spent.usage} />
  return spent.cost === 'unknown' ? '?' : price(spent.cost)
}

/** Renders the row again when one of its nodes changes. */
export function useNodes(store: SessionStore, of: Operation): void {
  if (of.kind === 'request') return
  store.use(of.kind === 'agent' ? of.agent : of.kind === 'turn' ? of.turn : of.kind === 'call' ? of.call : of.step)
  const agent = of.kind === 'call' ? of.call.child : of.kind === 'agent' ? of.agent : undefined
  const turn = agent && store.use(agent).turns.at(-1)
  if (turn) store.use(turn)
}

/** The time of an operation that may grow. */
export const timeText = (facts: RowFacts): string => workTime(facts, isGrowing(facts) ? elapsed : duration)

function spentText({ spent }: RowFacts): string {
  if (!spent || spent.usage.input + spent.usage.output === 0) return ''
  const cost = spent.cost === 'unknown' ? '' : price(spent.cost)
  return [tokenWords(spent.usage), cost].filter(Boolean).join(' · ')
}

/** Deep levels are indented less, so that names keep their room. */
const depth = (level: number): number => (level <= 7 ? level - 1 : 6 + (level - 7) * 0.3)

function Label({ of, level, facts, isCollapsed, hiddenFailures, hasRows }: RowProps & { readonly facts: RowFacts }) {
  const { name, about, problem, status, notes } = facts
  const inside = of.kind === 'call' ? failedInside(of.call) : 0
  const failed = hiddenFailures || inside
  return (
    <div
      class="timeline-label line"
      style={{ '--depth': depth(level) }}
      title={exactLine([name, problem, inside > 0 && `${inside} failed inside`, about].filter(Boolean).join(' · ').slice(0, 400))}
    >
      <span class="timeline-chevron" data-open={hasRows && !isCollapsed ? '' : undefined}>
        {hasRows && <Icon name="chevron" />}
      </span>
      <StatusMark status={status} />
      <span class="timeline-words">
        <span class="timeline-words">
          <span class="timeline-name truncate">{exactLine(name.slice(0, 200))}</span>
          {problem && <span class={`timeline-problem truncate tone-${statusTone(status)}`}>{problem}</span>}
          {failed > 0 && <span class="timeline-problem truncate tone-error">{failed} failed</span>}
          {notes.length > 0 && (
            <span class="timeline-note" role="img" aria-label={`${notes.length} notes`} title={notes.map(noteText).join('\n')}>
              <Icon name="error" />
            </span>
          )}
        </span>
        <span class="timeline-about truncate">{exactLine(about.slice(0, 200))}</span>
      </span>
    </div>
  )
}

const segmentTexts: { readonly [Kind in Segment['kind']]: string } = {
  model: 'model',
  tool: 'tool',
  child: 'agent',
  client: 'runs in the client',
  approval: 'waits for a person',
  queue: 'waits in a queue',
}

function Bar({ state, kind, from, to, isFailed, isOpen }: Segment & { readonly state: TimelineState }) {
  const [left, right] = [from, to].map((time) => shareIn(state.range.value, positionOf(state.scale.value, time))) as [number, number]
  if (left > 1 || right < 0) return null
  const [begin, end] = [Math.max(-0.01, left), Math.min(1.01, right)]
  const style = { left: `min(${begin * 100}%, 100% - 3px)`, width: `${Math.max(0, end - begin) * 100}%` }
  return (
    <span
      title={`${segmentTexts[kind]} ${duration(to - from)}`}
      class={`timeline-bar timeline-bar-${kind}${isFailed ? ' timeline-bar-failed' : ''}${isOpen ? ' timeline-bar-open' : ''}`}
      style={style}
    />
  )
}
