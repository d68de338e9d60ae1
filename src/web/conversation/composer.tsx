import type { TurnNode } from '../../view/index.ts'
import { cancelTurn, sendMessage } from '../state/actions.ts'
import { readOnly } from '../state/continuation.ts'
import { openDraft } from '../state/drafts.ts'
import { usePage } from '../state/page.ts'
import type { SessionStore } from '../state/session-store.ts'
import { ContinueThere } from '../ui/continue-there.tsx'
import { Icon } from '../ui/icon.tsx'
import { MessageBox } from './message-box.tsx'
import { speakerOf } from './speaker.ts'

export function Composer({ store }: { readonly store: SessionStore }) {
  const page = usePage()
  void store.frame.value
  const { root } = store
  const turn = root?.turns.at(-1)
  const speaker = speakerOf(root)
  if (!page.mayRun.value && page.status.value)
    return (
      <div class="composer">
        <p class="muted">Your token can only read: it lacks the scope “run”.</p>
      </div>
    )
  const there = readOnly(page, store.id)
  if (there)
    return (
      <div class="composer">
        <ContinueThere said="This session is read-only here." {...there} />
      </div>
    )
  const isOpen = turn?.status === 'running' || turn?.status === 'suspended'
  const agent = page.agents.value.find(({ name, displayName }) => name === root?.spec?.name || displayName === root?.spec?.name)
  return (
    <div class="composer">
      <MessageBox
        draft={openDraft(store.id)}
        placeholder={`Message ${speaker?.name ?? root?.name ?? ''}`.trim()}
        agent={agent}
        current={root?.spec}
        canSteer={isOpen}
        stop={isOpen && turn && <StopControls store={store} turn={turn} />}
        onSend={(message) => void sendMessage(page, store, message)}
      />
    </div>
  )
}

/** Stop asks for a last answer; once that was asked for, the turn can be ended immediately. */
function StopControls({ store, turn }: { readonly store: SessionStore; readonly turn: TurnNode }) {
  const page = usePage()
  const { cancelling } = turn
  return (
    <>
      {cancelling !== undefined && (
        <button
          type="button"
          class="button button-small button-danger"
          title="End the turn immediately, without a last answer"
          disabled={cancelling === 'interrupt'}
          onClick={() => void cancelTurn(page, store, 'interrupt')}
        >
          Interrupt
        </button>
      )}
      <button
        type="button"
        class="button message-send message-stop"
        aria-label="Stop"
        title={cancelling === undefined ? 'Stop with a last answer' : 'Stopping'}
        disabled={cancelling !== undefined}
        onClick={() => void cancelTurn(page, store, 'stop')}
      >
        <Icon name={cancelling === undefined ? 'stop' : 'running'} class={cancelling === undefined ? '' : 'spin'} />
      </button>
    </>
  )
}
