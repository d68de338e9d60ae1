import { exactLine, exactText } from '../../util/exact-text.ts'
import { type CallNode, callTimes, duration, elapsed, type Times, workOf } from '../../view/index.ts'
import { LongText } from '../markdown/long-text.tsx'
import { usePage } from '../state/page.ts'
import { callProblem, callStatus } from '../ui/call-status.ts'
import { Icon } from '../ui/icon.tsx'
import { StatusMark, statusTone } from '../ui/status-mark.tsx'
import { CallDetails } from './call-details.tsx'
import { useView } from './conversation-view.ts'
import { personWords } from './person-words.ts'
import { useCard } from './use-card.ts'

export function CallCard({ call }: { readonly call: CallNode }) {
  const { store } = useView()
  const { isOpen, isSelected, toggle } = useCard(call.id)
  store.use(call)
  return (
    <div class="call-card box" data-node={call.id} data-selected={isSelected ? '' : undefined}>
      <button type="button" class="call-line" aria-expanded={isOpen} onClick={toggle}>
        <Icon name="chevron" class="line-chevron" />
        <StatusMark status={callStatus(call)} />
        <span class="call-name truncate">{exactLine(call.name)}</span>
        <span class="grow tone-muted truncate">{exactLine(aboutOf(call))}</span>
        <CallFacts call={call} />
        <CallTime call={call} />
      </button>
      <Words call={call} />
      {isOpen && <CallDetails call={call} />}
    </div>
  )
}

/** What a person wrote about the call. It is visible without opening the call. */
function Words({ call }: { readonly call: CallNode }) {
  const said = personWords(call)
  if (!said) return null
  return (
    <p class="call-words small">
      <span class={said.kind === 'denial' ? 'tone-error' : 'muted'}>
        {said.kind === 'denial' ? 'Denied' : 'Answer'}
        {said.by !== undefined && <span class="muted"> by {exactText(said.by)}</span>}:
      </span>{' '}
      <LongText text={said.text} lines={4} characters={400} isExact />
    </p>
  )
}

const aboutOf = ({ about, progress, status }: CallNode): string =>
  (status === 'running' && progress !== undefined ? [about, progress] : [about]).filter(Boolean).join(' · ')

function CallFacts({ call }: { readonly call: CallNode }) {
  const { changes, sandbox } = call
  const problem = callProblem(call)
  const added = changes?.reduce((sum, change) => sum + change.added, 0) ?? 0
  const removed = changes?.reduce((sum, change) => sum + change.removed, 0) ?? 0
  return (
    <>
      {added > 0 && <span class="call-fact tone-ok">+{added}</span>}
      {removed > 0 && <span class="call-fact tone-error">−{removed}</span>}
      {sandbox.kind === 'outside' && <span class="call-fact tone-warning">outside the sandbox</span>}
      {problem && <span class={`call-fact tone-${statusTone(callStatus(call))}`}>{problem}</span>}
    </>
  )
}

/** Work only: the waiting time of a child has a place of its own. */
export function CallTime({ call }: { readonly call: CallNode }) {
  const text = useCallTimes(call, (times, isRunning) => (isRunning ? elapsed : duration)(workOf(times)))
  return <span class="call-time">{call.status === 'waiting' ? '' : text}</span>
}

/** The times of a call as a text, while they grow. A component that reads signals is not rendered again with its parent. */
export function useCallTimes(call: CallNode, textOf: (times: Times, isRunning: boolean) => string): string {
  const page = usePage()
  const { store } = useView()
  const { latencyMs = 0, status, span, child } = store.use(call)
  const turn = child && store.use(child).turns.at(-1)
  const isOpen = turn ? store.use(turn).ending === undefined : status === 'running'
  if (isOpen) void page.now.value
  const now = isOpen ? store.now() : undefined
  if (child) return textOf(callTimes(call, now), isOpen)
  return textOf({ durationMs: now === undefined ? latencyMs : now - span.from }, isOpen)
}
