import type { SessionStore } from '../state/session-store.ts'

export function Composer({ store }: { readonly store: SessionStore }) {
  return <div>{store.id}</div>
}
