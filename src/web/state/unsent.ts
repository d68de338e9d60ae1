import { effect, type Signal } from '@preact/signals'
import { readJson, tabTexts } from './browser-storage.ts'
import type { PendingMessage } from './session-store.ts'

const left = 'The page was left before the server accepted this message.'

/**
 * Messages that the server has not accepted yet survive a reload. One that was accepted meanwhile goes when its event comes, and one
 * that is sent again has the same id: it is accepted once.
 */
export function keepUnsent(id: string, pending: Signal<readonly PendingMessage[]>): void {
  const known = readJson(tabTexts, `unsent.${id}`)
  if (Array.isArray(known))
    pending.value = known.map((message) =>
      message.state?.kind === 'stored' ? message : { ...message, state: { kind: 'failed', message: left } },
    )
  effect(() => tabTexts.set(`unsent.${id}`, pending.value.length === 0 ? undefined : JSON.stringify(pending.value)))
}
