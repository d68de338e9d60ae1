import { PaneHead } from '../ui/pane-head.tsx'

export function NewSessionPage({ agent, openDrawer }: { readonly agent: string | undefined; openDrawer(): void }) {
  return <PaneHead title={agent ?? 'New session'} openDrawer={openDrawer} />
}
