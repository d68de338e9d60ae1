import { effect, type Signal } from '@preact/signals'
import { browserStorage, type DraftStorage, writeStored } from './drafts.ts'
import type { PendingMessage } from './session-store.ts'

// Messages that the server has not accepted yet survive a reload. One that was accepted meanwhile goes when its event comes, and one that
// is sent again has the same id: it is accepted once.

const left = 'The page was left before the server accepted this message.'

export function keepUnsent(id: string, pending: Signal<readonly PendingMessage[]>, storage: DraftStorage = browserStorage()): void {
  const place = `troupe.unsent.${id}`
  pending.value = readUnsent(storage, place)
  effect(() => writeStored(storage, place, pending.value.length === 0 ? undefined : JSON.stringify(pending.value)))
}

function readUnsent(storage: DraftStorage, place: string): readonly PendingMessage[] {
  try {
    const known = JSON.parse(storage.getItem(place) ?? '[]') as readonly PendingMessage[]
    return known.map((message) => ({ ...message, state: { kind: 'failed', message: left } }))
  } catch {
    return []
  }
}
