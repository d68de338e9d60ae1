import { PaneHead } from '../ui/pane-head.tsx'

export function ExtensionsPage({ openDrawer }: { openDrawer(): void }) {
  return <PaneHead title="Extensions" openDrawer={openDrawer} />
}
