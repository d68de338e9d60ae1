import { type SessionTab, usePage } from '../state/page.ts'
import type { SessionStore } from '../state/session-store.ts'
import { IconButton } from '../ui/icon-button.tsx'
import { PaneHead } from '../ui/pane-head.tsx'

interface SessionHeadProps {
  readonly store: SessionStore
  readonly tab: SessionTab
  setTab(tab: SessionTab): void
  openDrawer(): void
}

/** Title, agent, model and state of a session, and what can be done with it. */
export function SessionHead({ store, tab, setTab, openDrawer }: SessionHeadProps) {
  const page = usePage()
  const entry = page.sessions.value.find(({ sessionId }) => sessionId === store.id)
  const { isTimelineOpen } = page.settings.value
  return (
    <PaneHead title={entry?.title ?? 'Session'} openDrawer={openDrawer}>
      <div class="tabs" role="tablist" aria-label="View">
        {(['conversation', 'timeline'] as const).map((each) => (
          <button key={each} type="button" role="tab" aria-selected={tab === each} onClick={() => setTab(each)}>
            {each === 'conversation' ? 'Chat' : 'Timeline'}
          </button>
        ))}
      </div>
      <IconButton
        icon="timeline"
        label={isTimelineOpen ? 'Hide timeline' : 'Show timeline'}
        class="only-wide"
        isPressed={isTimelineOpen}
        onClick={() => page.set({ isTimelineOpen: !isTimelineOpen })}
      />
    </PaneHead>
  )
}
