import { exactLine } from '../../util/exact-text.ts'
import { type AgentNode, type CallNode, childrenOf, failedInside, taskText, waitingText } from '../../view/index.ts'
import { ApprovalCard } from '../approvals/approval-card.tsx'
import { usePage } from '../state/page.ts'
import { callStatus } from '../ui/call-status.ts'
import { Icon } from '../ui/icon.tsx'
import { StatusMark } from '../ui/status-mark.tsx'
import { CallTime, useCallTimes } from './call-card.tsx'
import { CallDetails } from './call-details.tsx'
import { firstFailure } from './call-runs.ts'
import { lastLine, openRequests } from './conversation-items.ts'
import { useView } from './conversation-view.ts'
import { useCard } from './use-card.ts'

/** Agents that were called together, side by side. What is open is below them. */
export function ChildCards({ calls }: { readonly calls: readonly CallNode[] }) {
  return (
    <div class="stack">
      <div class="children-row">
        {calls.map((call) => (
          <div key={call.id} class="child-cell">
            <ChildCard call={call} />
            <FailedInside call={call} />
          </div>
        ))}
      </div>
      {calls.map((call) => (
        <ChildPanel key={call.id} call={call} />
      ))}
    </div>
  )
}

/** An agent with its task, and what it says or does now, or its result: a line each, so that nothing moves while it works. */
function ChildCard({ call }: { readonly call: CallNode }) {
  const { store } = useView()
  const { isOpen, isSelected, toggle } = useCard(call.id)
  const { child, error, about } = store.use(call)
  const task = about || taskText(child ?? {})
  const turn = child && store.use(child).turns.at(-1)
  const step = turn && store.use(turn).steps.at(-1)
  for (const each of step ? store.use(step).open : []) store.use(each)
  return (
    <button
      type="button"
      class="child-card stack box"
      data-node={call.id}
      data-selected={isSelected ? '' : undefined}
      aria-expanded={isOpen}
      onClick={toggle}
    >
      <span class="child-line line">
        <Icon name="chevron" class="line-chevron" />
        <StatusMark status={callStatus(call)} />
        <span class="call-name truncate">{exactLine(call.name)}</span>
        <CallTime call={call} />
      </span>
      {task !== '' && <span class="child-text child-task truncate">{exactLine(task)}</span>}
      <span class={`child-text truncate ${error ? 'tone-error' : ''}`}>{exactLine(error?.message ?? (child ? lastLine(child) : ''))}</span>
      <ChildFacts call={call} hasFailures={failedInside(call) > 0} />
    </button>
  )
}

/** Leads to the first call that failed in the agent, or below it. */
function FailedInside({ call }: { readonly call: CallNode }) {
  const page = usePage()
  const { store } = useView()
  const { child } = store.use(call)
  if (child) store.use(child)
  const failed = failedInside(call)
  if (failed === 0) return null
  return (
    <button
      type="button"
      class="child-failed link-button small tone-error"
      onClick={() => {
        const first = firstFailure(call)
        if (first) page.selected.value = first.id
      }}
    >
      {failed} failed inside
    </button>
  )
}

/** Room for the link to what failed, and the waiting time. */
function ChildFacts({ call, hasFailures }: { readonly call: CallNode; readonly hasFailures: boolean }) {
  const waiting = useCallTimes(call, waitingText)
  if (!waiting && !hasFailures) return null
  return <span class="child-text tone-warning">{waiting}</span>
}

/** `researcher · Find trains to Oslo`. */
const titleOf = ({ name, about, child }: CallNode): string => [name, about || taskText(child ?? {})].filter(Boolean).join(' · ')

function ChildPanel({ call }: { readonly call: CallNode }) {
  const view = useView()
  const { store, AgentFlow } = view
  const { value: isOpen = false } = view.open(call.id)
  store.use(call)
  if (!isOpen) return call.child ? <HiddenRequests agent={call.child} /> : null
  return (
    <section class="child-panel stack box" aria-label={call.name}>
      <p class="child-panel-head line">
        <Icon name="agent" />
        {exactLine(titleOf(call))}
      </p>
      {childrenOf(call).map((child) => (
        <AgentFlow key={child.id} agent={child} isNested />
      ))}
      {(!call.child || call.error) && <CallDetails call={call} />}
    </section>
  )
}

/** Requests of an agent whose card is closed: nobody should have to look for them. */
function HiddenRequests({ agent }: { readonly agent: AgentNode }) {
  const { store } = useView()
  const turn = store.use(agent).turns.at(-1)
  const isOpen = turn !== undefined && ['running', 'suspended'].includes(store.use(turn).status)
  // Requests come from any depth.
  if (isOpen) void store.frame.value
  return (
    <>
      {(isOpen ? openRequests(agent) : []).map(
        ({ request }) => request && <ApprovalCard key={request.id} sessionId={store.id} request={request} />,
      )}
    </>
  )
}
