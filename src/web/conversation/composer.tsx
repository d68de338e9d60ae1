import type { TurnNode } from '../../view/index.ts'
import { speakerOf } from '../../view/index.ts'
import { cancelTurn, sendMessage } from '../state/actions.ts'
import { readOnly } from '../state/continuation.ts'
import { openDraft } from '../state/drafts.ts'
import { usePage } from '../state/page.ts'
import type { SessionStore } from '../state/session-store.ts'
import { keysText } from '../state/shortcut-keys.ts'
import { ContinueThere } from '../ui/continue-there.tsx'
import { Icon } from '../ui/icon.tsx'
import { MenuButton } from '../ui/menu.tsx'
import { MessageBox } from './message-box.tsx'

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
        stop={isOpen && turn && <StopButton store={store} turn={turn} />}
        onSend={(message) => void sendMessage(page, store, message)}
      />
    </div>
  )
}

/** Ends the turn immediately. Its menu can ask the agent to finish by itself. */
function StopButton({ store, turn }: { readonly store: SessionStore; readonly turn: TurnNode }) {
  const page = usePage()
  const isStopping = turn.cancelling === 'interrupt'
  return (
    <span class="stop line">
      <button
        type="button"
        class="button message-send message-stop"
        aria-label="Stop"
        title={isStopping ? 'Stopping' : `Stop now; the text so far is kept (${keysText('Mod+.')})`}
        disabled={isStopping}
        onClick={() => void cancelTurn(page, store, 'interrupt')}
      >
        <Icon name={isStopping ? 'running' : 'stop'} class={isStopping ? 'spin' : ''} />
      </button>
      {turn.cancelling === undefined && (
        <MenuButton
          label="Other ways to stop"
          class="icon-button stop-menu"
          items={[{ label: 'Finish with a short answer', icon: 'check', onSelect: () => void cancelTurn(page, store, 'stop') }]}
        >
          <Icon name="chevron" class="icon-up" />
        </MenuButton>
      )}
    </span>
  )
}
