import { useState } from 'preact/hooks'
import type { SessionDocument } from '../api/documents.ts'
import { hashOf } from '../state/hash-route.ts'
import { usePage } from '../state/page.ts'
import { Icon } from '../ui/icon.tsx'
import { MenuButton } from '../ui/menu.tsx'
import { StatusMark } from '../ui/status-mark.tsx'
import { DeleteDialog, RenameDialog } from './session-dialogs.tsx'

interface SessionItemProps {
  readonly session: SessionDocument
  readonly isCurrent: boolean
  onLeave(): void
}

/** A session in the sidebar. */
export function SessionItem({ session, isCurrent, onLeave }: SessionItemProps) {
  const { mayRun } = usePage()
  const [dialog, setDialog] = useState<'rename' | 'delete' | undefined>()
  const { sessionId, title, agent, status, openRequests } = session
  const close = (): void => setDialog(undefined)
  return (
    <li class="session-item">
      <a
        class="session-link"
        href={hashOf({ view: 'session', id: sessionId })}
        aria-current={isCurrent ? 'page' : undefined}
        title={`${title.slice(0, 400)}\n${agent}`}
        onClick={onLeave}
      >
        <StatusMark status={openRequests > 0 ? 'suspended' : status} />
        <span class="truncate">{title || agent}</span>
        {openRequests > 0 && <span class="session-note">needs your decision</span>}
      </a>
      {mayRun.value && (
        <MenuButton
          label={`Actions for ${title.slice(0, 80) || agent}`}
          class="icon-button session-menu"
          items={[
            { label: 'Rename', icon: 'edit', onSelect: () => setDialog('rename') },
            { label: 'Delete', icon: 'trash', isDanger: true, onSelect: () => setDialog('delete') },
          ]}
        >
          <Icon name="more" />
        </MenuButton>
      )}
      {dialog === 'rename' && <RenameDialog session={session} onClose={close} />}
      {dialog === 'delete' && <DeleteDialog session={session} onClose={close} />}
    </li>
  )
}
