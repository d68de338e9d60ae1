import { useCallback, useEffect, useRef, useState } from 'preact/hooks'
import { AgentsPage } from '../pages/agents-page.tsx'
import { ApprovalsPage } from '../pages/approvals-page.tsx'
import { ExtensionsPage } from '../pages/extensions-page.tsx'
import { NewSessionPage } from '../pages/new-session-page.tsx'
import { SettingsPage } from '../pages/settings-page.tsx'
import { usePage } from '../state/page.ts'
import { Banners } from './banners.tsx'
import { Notices } from './notices.tsx'
import { SessionView } from './session-view.tsx'
import { Shortcuts } from './shortcuts.tsx'
import { Sidebar } from './sidebar.tsx'
import { TokenDialog } from './token-dialog.tsx'

/** The whole page: sessions on the left, the view of the route on the right. */
export function App() {
  const page = usePage()
  const { isSidebarOpen, sidebarWidth } = page.settings.value
  const { isDrawerOpen, openDrawer, closeDrawer } = useDrawer()
  return (
    <>
      <a class="skip-link" href="#main">
        Skip to content
      </a>
      <div
        class="shell"
        data-sidebar={isSidebarOpen ? 'open' : 'closed'}
        data-drawer={isDrawerOpen ? 'open' : 'closed'}
        style={{ '--sidebar-width': `${sidebarWidth}px` }}
      >
        <Sidebar onLeave={closeDrawer} />
        {isDrawerOpen && <button type="button" class="drawer-backdrop" aria-label="Close sessions" onClick={closeDrawer} />}
        <main id="main" class="pane" tabIndex={-1} inert={isDrawerOpen}>
          <Banners />
          <View openDrawer={openDrawer} />
        </main>
      </div>
      <Notices />
      <Shortcuts />
      {page.connection.value.kind === 'refused' && <TokenDialog />}
    </>
  )
}

/** The sidebar of a phone: it takes the focus, and Escape closes it. */
function useDrawer() {
  const [isOpen, setOpen] = useState(false)
  const opener = useRef<Element | null>(null)
  useEffect(() => {
    if (!isOpen) return
    document.querySelector<HTMLElement>('.sidebar .only-narrow')?.focus()
    const wide = matchMedia('(min-width: 600px)')
    const close = (): void => setOpen(false)
    const onKeyDown = (event: KeyboardEvent): void => {
      if (event.key === 'Escape' && !event.defaultPrevented && !document.querySelector('dialog[open]')) close()
    }
    addEventListener('keydown', onKeyDown)
    wide.addEventListener('change', close)
    return () => {
      removeEventListener('keydown', onKeyDown)
      wide.removeEventListener('change', close)
      if (opener.current instanceof HTMLElement) opener.current.focus()
    }
  }, [isOpen])
  return {
    isDrawerOpen: isOpen,
    openDrawer() {
      opener.current = document.activeElement
      setOpen(true)
    },
    closeDrawer: useCallback(() => setOpen(false), []),
  }
}

function View({ openDrawer }: { openDrawer(): void }) {
  const { route } = usePage()
  switch (route.value.view) {
    case 'new':
      return <NewSessionPage agent={route.value.agent} openDrawer={openDrawer} />
    case 'session':
      return <SessionView key={route.value.id} openDrawer={openDrawer} />
    case 'approvals':
      return <ApprovalsPage openDrawer={openDrawer} />
    case 'agents':
      return <AgentsPage agent={route.value.agent} openDrawer={openDrawer} />
    case 'extensions':
      return <ExtensionsPage openDrawer={openDrawer} />
    case 'settings':
      return <SettingsPage openDrawer={openDrawer} />
    default:
      return route.value satisfies never
  }
}
