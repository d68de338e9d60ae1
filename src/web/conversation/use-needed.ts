import { useComputed } from '@preact/signals'
import type { SessionStore } from '../state/session-store.ts'
import { neededBy } from './conversation-items.ts'

/** What a session needs from a person. Renders only when that changes: requests come from any depth. */
export const useNeeded = (store: SessionStore): ReturnType<typeof neededBy> =>
  useComputed(() => {
    void store.frame.value
    return store.root && neededBy(store.root)
  }).value
