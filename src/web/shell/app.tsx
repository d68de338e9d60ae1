import { useLayoutEffect } from 'preact/hooks'
import { Shortcuts } from '../commands/shortcuts.tsx'
import { AgentsPage } from '../pages/agents-page.tsx'
import { ApprovalsPage } from '../pages/approvals-page.tsx'
import { ExtensionsPage } from '../pages/extensions-page.tsx'
import { NewSessionPage } from '../pages/new-session-page.tsx'
import { SettingsPage } from '../pages/settings-page.tsx'
import { UsagePage } from '../pages/usage-page.tsx'
import { type Page, usePage } from '../state/page.ts'
import { lazy } from '../ui/lazy.tsx'
import { OfferedTokenDialog, TokenDialog } from '../ui/token-dialog.tsx'
import { Banners } from './banners.tsx'
import { Notices } from './notices.tsx'
import { SessionView } from './session-view.tsx'
import { Sidebar } from './sidebar.tsx'

/** Few people need it. */
const ConnectPage = lazy(() => import('../pages/connect-page.tsx').then((module) => module.ConnectPage))

/** The whole page: sessions on the left, the view of the route on the right. */
export function App() {
  const page = usePage()
  const { isSidebarOpen, sidebarWidth } = page.settings.value
  const { value: isDrawerOpen } = page.isDrawerOpen
  useDrawer(page)
  return (
    <>
      {/* No link: the fragment is the address of the view. */}
      <button type="button" class="button skip-link" onClick={() => document.getElementById('main')?.focus()}>
        Skip to content
      </button>
      <div
        class="shell"
        data-sidebar={isSidebarOpen ? 'open' : 'closed'}
        data-drawer={isDrawerOpen ? 'open' : 'closed'}
        style={{ '--sidebar-width': `${sidebarWidth}px` }}
      >
        <Sidebar />
        {isDrawerOpen && (
          <button type="button" class="drawer-backdrop" aria-label="Close sessions" onClick={() => (page.isDrawerOpen.value = false)} />
        )}
        <main id="main" class="pane" tabIndex={-1} inert={isDrawerOpen}>
          <Banners />
          <View />
        </main>
      </div>
      <Notices />
      <Shortcuts />
      {page.connection.value.kind === 'refused' && <TokenDialog />}
      {page.connection.value.kind === 'open' && page.offeredToken.value !== undefined && (
        <OfferedTokenDialog token={page.offeredToken.value} />
      )}
    </>
  )
}

/** The sidebar of a phone: it takes the focus, and Escape closes it. */
function useDrawer({ isDrawerOpen }: Page): void {
  const { value: isOpen } = isDrawerOpen
  // Before the page behind it is inert, which takes the focus away.
  useLayoutEffect(() => {
    if (!isOpen) return
    const opener = document.activeElement
    document.querySelector<HTMLElement>('.sidebar .only-narrow')?.focus()
    const wide = matchMedia('(min-width: 600px)')
    const close = (): void => {
      isDrawerOpen.value = false
    }
    const onKeyDown = (event: KeyboardEvent): void => {
      if (event.key === 'Escape' && !event.defaultPrevented && !document.querySelector('dialog[open]')) close()
    }
    addEventListener('keydown', onKeyDown)
    wide.addEventListener('change', close)
    return () => {
      removeEventListener('keydown', onKeyDown)
      wide.removeEventListener('change', close)
      if (opener instanceof HTMLElement) opener.focus()
    }
  }, [isOpen])
}

function View() {
  const { route } = usePage()
  switch (route.value.view) {
    case 'new':
      return <NewSessionPage agent={route.value.agent} />
    case 'session':
      return <SessionView key={route.value.id} />
    case 'approvals':
      return <ApprovalsPage />
    case 'agents':
      return <AgentsPage agent={route.value.agent} />
    case 'connect':
      return <ConnectPage />
    case 'extensions':
      return <ExtensionsPage />
    case 'usage':
      return <UsagePage by={route.value.by ?? 'day'} />
    case 'settings':
      return <SettingsPage />
    default:
      return route.value satisfies never
  }
}
