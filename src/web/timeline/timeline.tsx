import type { SessionStore } from '../state/session-store.ts'

export function Timeline({ store }: { readonly store: SessionStore }) {
  return <div>{store.frame.value}</div>
}
