import type { SessionDocument } from '../api/documents.ts'
import { folderName } from '../state/continuation.ts'
import { hashOf } from '../state/hash-route.ts'
import { usePage } from '../state/page.ts'
import { Icon } from '../ui/icon.tsx'
import { MenuButton } from '../ui/menu.tsx'
import { StatusMark, sessionMark } from '../ui/status-mark.tsx'
import { useSessionDialogs } from './session-dialogs.tsx'

interface SessionItemProps {
  readonly session: SessionDocument
  readonly isCurrent: boolean
}

export function SessionItem({ session, isCurrent }: SessionItemProps) {
  const { mayRun } = usePage()
  const { items, dialog } = useSessionDialogs(session)
  const { sessionId, title, agent, openRequests, project, workspace, continue: continues } = session
  const folder = project === 'elsewhere' ? workspace : undefined
  return (
    <li class="session-item">
      <a
        class="session-link"
        href={hashOf({ view: 'session', id: sessionId })}
        aria-current={isCurrent ? 'page' : undefined}
        title={[title.slice(0, 400), agent, folder].filter(Boolean).join('\n')}
      >
        <StatusMark status={sessionMark(session)} />
        <span class="truncate">{title || agent}</span>
        {openRequests > 0 && continues?.here !== false && <span class="session-note tone-warning small">needs your decision</span>}
        {continues?.here === false && (
          <span class="session-note tone-muted small truncate">
            {folder === undefined ? 'read-only' : `${folderName(folder)} · read-only`}
          </span>
        )}
      </a>
      {mayRun.value && project !== 'elsewhere' && (
        <MenuButton label={`Actions for ${title.slice(0, 80) || agent}`} class="icon-button session-menu" items={items}>
          <Icon name="more" />
        </MenuButton>
      )}
      {dialog}
    </li>
  )
}
