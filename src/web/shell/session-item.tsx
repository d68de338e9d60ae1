import type { SessionDocument } from '../api/documents.ts'
import { folderOf } from '../state/continuation.ts'
import { hashOf } from '../state/hash-route.ts'
import { usePage } from '../state/page.ts'
import { Icon } from '../ui/icon.tsx'
import { MenuButton } from '../ui/menu.tsx'
import { StatusMark } from '../ui/status-mark.tsx'
import { useSessionDialogs } from './session-dialogs.tsx'

interface SessionItemProps {
  readonly session: SessionDocument
  readonly isCurrent: boolean
}

export function SessionItem({ session, isCurrent }: SessionItemProps) {
  const { mayRun } = usePage()
  const { items, dialog } = useSessionDialogs(session)
  const { sessionId, title, agent, status, openRequests, continue: continues } = session
  const folder = folderOf(session)
  return (
    <li class="session-item">
      <a
        class="session-link"
        href={hashOf({ view: 'session', id: sessionId })}
        aria-current={isCurrent ? 'page' : undefined}
        title={[title.slice(0, 400), agent, folder?.path].filter(Boolean).join('\n')}
      >
        <StatusMark status={openRequests > 0 ? 'suspended' : status} />
        <span class="truncate">{title || agent}</span>
        {openRequests > 0 && continues?.here !== false && <span class="session-note tone-warning small">needs your decision</span>}
        {continues?.here === false && (
          <span class="session-note tone-muted small truncate">{[folder?.name, 'read-only'].filter(Boolean).join(' · ')}</span>
        )}
      </a>
      {mayRun.value && session.project !== 'elsewhere' && (
        <MenuButton label={`Actions for ${title.slice(0, 80) || agent}`} class="icon-button session-menu" items={items}>
          <Icon name="more" />
        </MenuButton>
      )}
      {dialog}
    </li>
  )
}
