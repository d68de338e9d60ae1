import { answerNeeded, turnEndTexts } from '../../policy/limit-texts.ts'
import { elapsed, type TurnNode, turnTimes, workTime } from '../../view/index.ts'
import { sendHeld } from '../state/actions.ts'
import { isReleased, readOnly } from '../state/continuation.ts'
import { usePage } from '../state/page.ts'
import { Icon } from '../ui/icon.tsx'
import { conversationItems } from './conversation-items.ts'
import { useView } from './conversation-view.ts'
import { useNeeded } from './use-needed.ts'
import { PendingMessageView, UserMessage } from './user-message.tsx'

/** Below the conversation: messages that wait, and what the agent does. It stays where it is while an answer grows. */
export function Tray() {
  const page = usePage()
  const { store } = useView()
  const { root } = store
  const mayRun = page.mayRun.value && !readOnly(page, store.id)
  if (!root) void store.frame.value
  const turn = root && store.use(root).turns.at(-1)
  if (turn) store.use(turn)
  const isOpen = turn !== undefined && turn.ending === undefined
  const items = root && (isOpen || root.holdsMessages) ? conversationItems(root) : []
  const waiting = items.filter((item) => item.kind === 'message' && item.state !== 'read')
  return (
    <div class="tray">
      {(isOpen || waiting.length > 0) && (
        <div class="tray-messages">
          {waiting.map((item) => item.kind === 'message' && <UserMessage key={item.id} message={item.message} state={item.state} />)}
          {root?.holdsMessages && waiting.length > 0 && mayRun && (
            <button type="button" class="button button-small" onClick={() => void sendHeld(page, store)}>
              <Icon name="arrowUp" /> Send now
            </button>
          )}
          {isOpen && store.pending.value.map((message) => <PendingMessageView key={message.clientId} message={message} />)}
        </div>
      )}
      {isOpen && <TurnProgress turn={turn} />}
    </div>
  )
}

function TurnProgress({ turn }: { readonly turn: TurnNode }) {
  const page = usePage()
  const { store } = useView()
  const { status, reason, waits, inQueue, cancelling } = store.use(turn)
  const needs = useNeeded(store)
  const isReadOnly = readOnly(page, store.id) !== undefined
  const hasStopped = isReleased(page, store.id) && needs === undefined && status === 'running'
  const isWaiting = hasStopped || needs !== undefined || (status === 'suspended' && !waits?.isChildRunning)
  if (!isWaiting) void page.now.value
  const text = (): string => {
    if (cancelling !== undefined) return cancelling === 'stop' ? 'Finishing with a short answer' : 'Stopping'
    if (needs !== undefined) return `Waiting for you: ${needs === 'answer' ? answerNeeded : turnEndTexts.approval.status}`
    if (hasStopped) return `The process of this turn has ended${isReadOnly ? '' : '. A message continues it'}`
    if (inQueue) return `Waiting in the queue ${inQueue.queue}`
    if (reason === 'client') return 'Waiting for the client: it runs tools and sends their results'
    return isWaiting ? 'Waiting for your message' : 'Working'
  }
  return (
    <p class="tray-progress tone-muted small">
      <span class={isWaiting ? 'pulse pulse-waiting' : 'pulse'} />
      {text()}
      {!isWaiting && ` · ${workTime(turnTimes(turn, store.now()), elapsed)}`}
    </p>
  )
}
