import { exactLine } from '../../util/exact-text.ts'
import { type AgentNode, type CallNode, childrenOf } from '../../view/index.ts'
import { ApprovalCard } from '../approvals/approval-card.tsx'
import { callStatus } from '../ui/call-status.ts'
import { Icon } from '../ui/icon.tsx'
import { StatusMark } from '../ui/status-mark.tsx'
import { CallTime } from './call-card.tsx'
import { CallDetails } from './call-details.tsx'
import { lastLine, openRequests } from './conversation-items.ts'
import { useView } from './conversation-view.ts'
import { useCard } from './use-card.ts'

/** Agents that were called together, side by side. What is open is below them. */
export function ChildCards({ calls }: { readonly calls: readonly CallNode[] }) {
  return (
    <div class="stack">
      <div class="children-row">
        {calls.map((call) => (
          <ChildCard key={call.id} call={call} />
        ))}
      </div>
      {calls.map((call) => (
        <ChildPanel key={call.id} call={call} />
      ))}
    </div>
  )
}

/** An agent with what it says or does now, or its result: two lines, so that nothing moves while it works. */
function ChildCard({ call }: { readonly call: CallNode }) {
  const { store } = useView()
  const { isOpen, isSelected, toggle } = useCard(call.id)
  const { child, error } = store.use(call)
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
      <span class={`child-text truncate ${error ? 'tone-error' : ''}`}>
        {exactLine(error?.message ?? ((child && lastLine(child)) || call.about))}
      </span>
    </button>
  )
}

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
        {exactLine(call.name)}
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
