import { useEffect } from 'preact/hooks'
import { Composer } from '../conversation/composer.tsx'
import { Conversation } from '../conversation/conversation.tsx'
import { DemoStrip } from '../pages/demo-strip.tsx'
import { ModelBanner } from '../pages/model-banner.tsx'
import { hashOf } from '../state/hash-route.ts'
import { usePage } from '../state/page.ts'
import type { SessionStore } from '../state/session-store.ts'
import { Timeline } from '../timeline/timeline.tsx'
import { Icon } from '../ui/icon.tsx'
import { PaneHead } from '../ui/pane-head.tsx'
import { Splitter } from '../ui/splitter.tsx'
import { SessionHead } from './session-head.tsx'

/** A session: its conversation and its timeline, side by side or as tabs. */
export function SessionView() {
  const page = usePage()
  const { value: tab } = page.tab
  const store = page.session.value
  // Another session begins with its conversation.
  useEffect(() => {
    page.tab.value = 'conversation'
  }, [])
  const { isTimelineOpen, timelineWidth } = page.settings.value
  if (!store) return null
  if (store.state.value === 'deleted') return <NoSession />
  return (
    <div
      class="workspace"
      data-timeline={isTimelineOpen ? 'open' : 'closed'}
      data-tab={tab}
      style={{ '--timeline-width': `${timelineWidth}px` }}
    >
      <section class="pane pane-conversation" aria-label="Conversation">
        <SessionHead store={store} />
        <SessionModel store={store} />
        <Conversation store={store} />
        {page.status.value?.demo && <DemoStrip store={store} />}
        <Composer store={store} />
      </section>
      {(isTimelineOpen || tab === 'timeline') && (
        <section class="pane pane-timeline" aria-label="Timeline">
          <Splitter
            label="Timeline width"
            edge="left"
            width={timelineWidth}
            min={320}
            max={1100}
            onResize={(width) => page.set({ timelineWidth: width })}
          />
          <Timeline store={store} />
        </section>
      )}
    </div>
  )
}

function SessionModel({ store }: { readonly store: SessionStore }) {
  void store.frame.value
  return <ModelBanner models={store.root?.spec?.models ?? []} />
}

const NoSession = () => (
  <section class="pane grow" aria-label="Conversation">
    <PaneHead title="Session" />
    <div class="conv-gone">
      <Icon name="trash" />
      <h2>This session does not exist</h2>
      <p class="muted">It was deleted, or the address is wrong.</p>
      <a class="button" href={hashOf({ view: 'new' })}>
        Start a new session
      </a>
    </div>
  </section>
)
