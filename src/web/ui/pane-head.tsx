import type { ComponentChildren } from 'preact'
import { usePage } from '../state/page.ts'
import { IconButton } from './icon-button.tsx'

/** The first line of a view: opens the list of sessions, and has a title. */
export function PaneHead({
  title,
  detail,
  children,
}: {
  readonly title: ComponentChildren
  readonly detail?: ComponentChildren
  readonly children?: ComponentChildren
}) {
  const { settings, set, isDrawerOpen } = usePage()
  const { isSidebarOpen } = settings.value
  return (
    <header class="pane-head line">
      <IconButton icon="menu" label="Show sessions" class="only-narrow" onClick={() => (isDrawerOpen.value = true)} />
      {!isSidebarOpen && <IconButton icon="sidebar" label="Show sessions" class="only-wide" onClick={() => set({ isSidebarOpen: true })} />}
      <div class="pane-words grow">
        <h1 class="pane-title truncate">{title}</h1>
        {detail && <div class="pane-detail muted small">{detail}</div>}
      </div>
      {children}
    </header>
  )
}
