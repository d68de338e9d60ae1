import { signal } from '@preact/signals'
import { expect, test } from 'vitest'
import type { PendingMessage } from './session-store.ts'
import { keepUnsent } from './unsent.ts'

test('messages that were not accepted come back with their id, as failed; accepted ones do not', () => {
  const values = new Map<string, string>()
  const storage = {
    getItem: (key: string) => values.get(key) ?? null,
    setItem: (key: string, value: string) => void values.set(key, value),
    removeItem: (key: string) => void values.delete(key),
  }
  const reloaded = () => {
    const pending = signal<readonly PendingMessage[]>([])
    keepUnsent('one', pending, storage)
    return pending
  }
  const before = reloaded()
  before.value = [
    { clientId: 'a', parts: [{ type: 'text', text: 'hello' }], mode: 'queue', settings: undefined, state: { kind: 'sending' } },
  ]
  expect(reloaded().value).toMatchObject([{ clientId: 'a', parts: [{ text: 'hello' }], state: { kind: 'failed' } }])
  before.value = []
  expect(reloaded().value).toEqual([])
  values.set('troupe.unsent.one', '{"not": "a list"}')
  expect(reloaded().value).toEqual([])
})
