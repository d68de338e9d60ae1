import { useState } from 'preact/hooks'
import type { SessionDocument } from '../api/documents.ts'
import { loadMoreSessions } from '../state/connection.ts'
import { type HashRoute, hashOf } from '../state/hash-route.ts'
import { usePage } from '../state/page.ts'
import { Icon, type IconName } from '../ui/icon.tsx'
import { IconButton } from '../ui/icon-button.tsx'
import { MenuButton } from '../ui/menu.tsx'
import { Splitter } from '../ui/splitter.tsx'
import { StatusMark } from '../ui/status-mark.tsx'
import { groupByDay } from './group-by-day.ts'
import { DeleteDialog, RenameDialog } from './session-dialogs.tsx'

/** The list of sessions, and the other pages. `onLeave`: something was chosen. */
export function Sidebar({ onLeave }: { onLeave(): void }) {
  const page = usePage()
  const [search, setSearch] = useState('')
  const { sidebarWidth } = page.settings.value
  const wanted = search.trim().toLowerCase()
  const shown = page.sessions.value.filter(({ title, agent }) => `${title} ${agent}`.toLowerCase().includes(wanted))
  return (
    <nav class="sidebar" aria-label="Sessions">
      <div class="sidebar-head">
        <span class="brand">
          <svg class="brand-mark" viewBox="0 0 32 32" aria-hidden="true">
            <rect width="32" height="32" rx="8" fill="currentColor" />
            <path d="M8 9h16M16 9v5M16 14l-6 5M16 14l6 5" stroke="#fff" stroke-width="2.4" stroke-linecap="round" fill="none" />
            <circle cx="10" cy="22" r="3" fill="#fff" />
            <circle cx="22" cy="22" r="3" fill="#fff" />
          </svg>
          Troupe
        </span>
        <IconButton icon="search" label="Search and commands (Ctrl+K)" onClick={() => (page.isPaletteOpen.value = true)} />
        <IconButton
          icon="sidebar"
          label="Hide sessions"
          onClick={() => {
            page.set({ isSidebarOpen: false })
            onLeave()
          }}
        />
      </div>
      <div class="sidebar-actions">
        <a class="button" href={hashOf({ view: 'new' })} onClick={onLeave}>
          <Icon name="plus" /> New session
        </a>
        <label class="search">
          <span class="visually-hidden">Filter sessions</span>
          <Icon name="search" />
          <input
            class="field"
            type="search"
            placeholder="Filter"
            value={search}
            onInput={({ currentTarget }) => setSearch(currentTarget.value)}
          />
        </label>
      </div>
      <ul class="session-list">
        {groupByDay(shown, page.now.value).map(({ day, sessions }) => (
          <li key={day}>
            <h2 class="session-group">{day}</h2>
            <ul class="plain-list">
              {sessions.map((session) => (
                <SessionItem key={session.sessionId} session={session} onLeave={onLeave} />
              ))}
            </ul>
          </li>
        ))}
        {shown.length === 0 && <li class="session-group">{wanted === '' ? 'No sessions yet' : 'No session matches'}</li>}
        {page.nextSessions.value !== undefined && (
          <li>
            <button type="button" class="button button-small" onClick={() => void loadMoreSessions(page)}>
              Show older sessions
            </button>
          </li>
        )}
      </ul>
      <div class="sidebar-nav">
        <NavLink to={{ view: 'approvals' }} icon="approval" label="Approvals" count={page.requests.value.length} onLeave={onLeave} />
        <NavLink to={{ view: 'agents' }} icon="agent" label="Agents" onLeave={onLeave} />
        {(page.extensions.value ?? []).length > 0 && (
          <NavLink to={{ view: 'extensions' }} icon="extension" label="Extensions" onLeave={onLeave} />
        )}
        <NavLink to={{ view: 'settings' }} icon="settings" label="Settings" onLeave={onLeave} />
      </div>
      <Splitter
        label="Width of the list of sessions"
        edge="right"
        width={sidebarWidth}
        min={200}
        max={480}
        onResize={(width) => page.set({ sidebarWidth: width })}
      />
    </nav>
  )
}

interface NavLinkProps {
  readonly to: HashRoute
  readonly icon: IconName
  readonly label: string
  readonly count?: number
  onLeave(): void
}

function NavLink({ to, icon, label, count = 0, onLeave }: NavLinkProps) {
  const { route } = usePage()
  return (
    <a class="nav-link" href={hashOf(to)} aria-current={route.value.view === to.view ? 'page' : undefined} onClick={onLeave}>
      <Icon name={icon} /> {label}
      {count > 0 && <span class="count">{count}</span>}
    </a>
  )
}

function SessionItem({ session, onLeave }: { readonly session: SessionDocument; onLeave(): void }) {
  const page = usePage()
  const [dialog, setDialog] = useState<'rename' | 'delete' | undefined>()
  const { sessionId, title, agent, status, openRequests } = session
  const isCurrent = page.route.value.view === 'session' && page.route.value.id === sessionId
  return (
    <li class="session-item">
      <a
        class="session-link"
        href={hashOf({ view: 'session', id: sessionId })}
        aria-current={isCurrent ? 'page' : undefined}
        title={`${title}\n${agent}`}
        onClick={onLeave}
      >
        <StatusMark status={openRequests > 0 ? 'suspended' : status} />
        <span class="truncate">{title || agent}</span>
        {openRequests > 0 && <span class="session-note">needs your decision</span>}
      </a>
      <MenuButton
        label={`Actions for ${title || agent}`}
        class="icon-button session-menu"
        items={[
          { label: 'Rename', icon: 'edit', onSelect: () => setDialog('rename') },
          { label: 'Delete', icon: 'trash', isDanger: true, onSelect: () => setDialog('delete') },
        ]}
      >
        <Icon name="more" />
      </MenuButton>
      {dialog === 'rename' && <RenameDialog session={session} onClose={() => setDialog(undefined)} />}
      {dialog === 'delete' && <DeleteDialog session={session} onClose={() => setDialog(undefined)} />}
    </li>
  )
}
