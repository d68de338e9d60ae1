import { PaneHead } from '../ui/pane-head.tsx'

export function ApprovalsPage({ openDrawer }: { openDrawer(): void }) {
  return <PaneHead title="Approvals" openDrawer={openDrawer} />
}
