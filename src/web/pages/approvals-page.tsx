import { ApprovalCard } from '../approvals/approval-card.tsx'
import { readOnly } from '../state/continuation.ts'
import { hashOf } from '../state/hash-route.ts'
import { usePage } from '../state/page.ts'
import { ContinueThere } from '../ui/continue-there.tsx'
import { Icon } from '../ui/icon.tsx'
import { PageFrame } from './page-frame.tsx'

/** Everything that waits for a person, by session. */
export function ApprovalsPage() {
  const page = usePage()
  const { requests, folder } = page
  const bySession = Map.groupBy(requests.value, ({ session }) => session.sessionId)
  return (
    <PageFrame title="Approvals" class="approvals-column">
      {[...bySession].map(([sessionId, open]) => {
        const there = readOnly(page, sessionId)
        return (
          <section key={sessionId} class="approval-group stack">
            <h2 class="truncate">
              <a class="approval-session" href={hashOf({ view: 'session', id: sessionId })}>
                {open[0]?.session.title || open[0]?.session.agent}
              </a>
            </h2>
            {there && <ContinueThere {...there} />}
            {open.map(({ request }) => (
              <ApprovalCard key={request.id} sessionId={sessionId} request={request} />
            ))}
          </section>
        )
      })}
      {bySession.size === 0 && (
        <div class="approval-none">
          <Icon name="approval" />
          <p>Nothing waits for you.</p>
          <p class="muted">Requests of all sessions {folder.value === 'here' ? 'of this folder ' : ''}appear here.</p>
        </div>
      )}
    </PageFrame>
  )
}
