import { PaneHead } from '../ui/pane-head.tsx'

export function AgentsPage({ agent, openDrawer }: { readonly agent: string | undefined; openDrawer(): void }) {
  return <PaneHead title={agent ?? 'Agents'} openDrawer={openDrawer} />
}
