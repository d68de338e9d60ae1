import { hashOf } from '../state/hash-route.ts'
import { usePage } from '../state/page.ts'
import { StatusMark, sessionMark } from '../ui/status-mark.tsx'
import { ageText } from './age-text.ts'
import { PageSection } from './page-frame.tsx'

const shown = 5

/** The newest sessions of an agent. */
export function RecentSessions({ agent }: { readonly agent: string }) {
  const page = usePage()
  const sessions = page.sessions.value.filter((each) => each.agent === agent).slice(0, shown)
  if (sessions.length === 0) return null
  return (
    <PageSection title="Recent sessions">
      <ul class="plain-list">
        {sessions.map(({ sessionId, title, updatedAt, ...state }) => (
          <li key={sessionId}>
            <a class="recent line" href={hashOf({ view: 'session', id: sessionId })}>
              <StatusMark status={sessionMark(state)} />
              <span class="truncate">{title || agent}</span>
              <time class="muted small" dateTime={updatedAt}>
                {ageText(page.now.value - Date.parse(updatedAt))}
              </time>
            </a>
          </li>
        ))}
      </ul>
    </PageSection>
  )
}
