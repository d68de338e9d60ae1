import { PaneHead } from '../ui/pane-head.tsx'

export function SettingsPage({ openDrawer }: { openDrawer(): void }) {
  return <PaneHead title="Settings" openDrawer={openDrawer} />
}
