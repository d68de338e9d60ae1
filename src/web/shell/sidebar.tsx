import { useComputed } from '@preact/signals'
import { useState } from 'preact/hooks'
import { paletteKeys } from '../commands/commands.ts'
import { attempt } from '../state/actions.ts'
import { loadMoreSessions } from '../state/connection.ts'
import { answerable, folderName } from '../state/continuation.ts'
import { type HashRoute, hashOf } from '../state/hash-route.ts'
import { usePage } from '../state/page.ts'
import { useSessionSearch } from '../state/session-search.ts'
import { keysText } from '../state/shortcut-keys.ts'
import { Icon, type IconName } from '../ui/icon.tsx'
import { IconButton } from '../ui/icon-button.tsx'
import { Splitter } from '../ui/splitter.tsx'
import { groupByDay } from './group-by-day.ts'
import { SessionItem } from './session-item.tsx'

export function Sidebar() {
  const page = usePage()
  const [search, setSearch] = useState('')
  const { sidebarWidth } = page.settings.value
  const closeDrawer = (): void => {
    page.isDrawerOpen.value = false
  }
  const onClick = ({ target }: MouseEvent): void => {
    if (target instanceof Element && target.closest('a')) closeDrawer()
  }
  return (
    <nav class="sidebar" aria-label="Sessions" onKeyDown={moveBetweenSessions} onClick={onClick}>
      <div class="sidebar-head line">
        <span class="brand line grow">
          <svg class="brand-mark" viewBox="0 0 32 32" aria-hidden="true">
            <rect width="32" height="32" rx="8" fill="currentColor" />
            <path d="M8 9h16M16 9v5M16 14l-6 5M16 14l6 5" stroke="#fff" stroke-width="2.4" stroke-linecap="round" fill="none" />
            <circle cx="10" cy="22" r="3" fill="#fff" />
            <circle cx="22" cy="22" r="3" fill="#fff" />
          </svg>
          Troupe
        </span>
        <IconButton
          icon="search"
          label={`Search and commands (${keysText(paletteKeys)})`}
          onClick={() => page.show({ kind: 'palette', text: '' })}
        />
        <IconButton icon="sidebar" label="Hide sessions" class="only-wide" onClick={() => page.set({ isSidebarOpen: false })} />
        <IconButton icon="close" label="Close sessions" class="only-narrow" onClick={closeDrawer} />
      </div>
      <div class="sidebar-actions stack">
        <a class="button" href={hashOf({ view: 'new' })}>
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
        <FolderSwitch />
      </div>
      <SessionList search={search} />
      <div class="sidebar-nav stack">
        <NavLink to={{ view: 'approvals' }} icon="approval" label="Approvals" count={answerable(page).length} />
        <NavLink to={{ view: 'agents' }} icon="agent" label="Agents" />
        {(page.extensions.value ?? []).length > 0 && <NavLink to={{ view: 'extensions' }} icon="extension" label="Extensions" />}
        <NavLink to={{ view: 'usage' }} icon="usage" label="Usage" />
        <NavLink to={{ view: 'settings' }} icon="settings" label="Settings" />
      </div>
      <Splitter
        label="Sidebar width"
        edge="right"
        width={sidebarWidth}
        min={200}
        max={480}
        onResize={(width) => page.set({ sidebarWidth: width })}
      />
    </nav>
  )
}

/** The folder of the server, and whether to show the sessions of others. */
function FolderSwitch() {
  const { status, folder } = usePage()
  const { workspace, demo } = status.value ?? {}
  if (workspace === undefined || demo) return null
  return (
    <div class="folder-switch line small">
      <span class="muted truncate grow" title={workspace}>
        {folderName(workspace)}
      </span>
      <label class="line">
        <input
          type="checkbox"
          checked={folder.value === 'all'}
          onChange={({ currentTarget }) => (folder.value = currentTarget.checked ? 'all' : 'here')}
        />
        All folders
      </label>
    </div>
  )
}

function SessionList({ search }: { readonly search: string }) {
  const page = usePage()
  const { sessions, isOpen } = useSessionSearch(search)
  // The clock moves twice a second; the groups change at midnight.
  const today = useComputed(() => new Date(page.now.value).setHours(0, 0, 0, 0))
  const hasSearch = search.trim() !== ''
  const { value: route } = page.route
  return (
    <ul class="session-list grow plain-list">
      {groupByDay(sessions, today.value).map(({ day, sessions: those }) => (
        <li key={day}>
          <h2 class="group-title">{day}</h2>
          <ul class="plain-list">
            {those.map((session) => (
              <SessionItem
                key={session.sessionId}
                session={session}
                isCurrent={route.view === 'session' && route.id === session.sessionId}
              />
            ))}
          </ul>
        </li>
      ))}
      {isOpen && <li class="group-title">Searching older sessions…</li>}
      {sessions.length === 0 && !isOpen && page.status.value && (
        <li class="group-title">{hasSearch ? 'No session matches' : 'No sessions yet'}</li>
      )}
      {page.nextSessions.value !== undefined && !hasSearch && (
        <li>
          <button type="button" class="button button-small session-more" onClick={() => void attempt(page, () => loadMoreSessions(page))}>
            Show older sessions
          </button>
        </li>
      )}
    </ul>
  )
}

/** Arrow keys move between the filter and the sessions. */
function moveBetweenSessions(event: KeyboardEvent): void {
  const { target, key, currentTarget } = event
  const isFilter = target instanceof HTMLInputElement
  if (!(target instanceof HTMLElement) || !(isFilter || target.matches('.session-link'))) return
  const links = [...(currentTarget as HTMLElement).querySelectorAll<HTMLElement>('.session-link')]
  const at = links.indexOf(target)
  const next = { ArrowDown: at + 1, ArrowUp: at - 1, ...(!isFilter && { Home: 0, End: links.length - 1 }) }[key]
  if (next === undefined) return
  event.preventDefault()
  if (next === -1) (currentTarget as HTMLElement).querySelector<HTMLElement>('.search input')?.focus()
  else links[next]?.focus()
}

interface NavLinkProps {
  readonly to: HashRoute
  readonly icon: IconName
  readonly label: string
  readonly count?: number
}

function NavLink({ to, icon, label, count = 0 }: NavLinkProps) {
  const { route } = usePage()
  return (
    <a class="nav-link line" href={hashOf(to)} aria-current={route.value.view === to.view ? 'page' : undefined}>
      <Icon name={icon} /> {label}
      {count > 0 && <span class="count">{count}</span>}
    </a>
  )
}
