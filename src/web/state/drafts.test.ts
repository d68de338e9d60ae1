import { expect, it } from 'vitest'
import { emptyDraft, openDraft, readDraft } from './drafts.ts'

const maxChars = 1_000

/** As a browser that stores little. */
function memory() {
  const texts = new Map<string, string>()
  return {
    texts,
    get: (name: string) => texts.get(name),
    set(name: string, text: string | undefined) {
      texts.delete(name)
      if (text !== undefined && text.length <= maxChars) texts.set(name, text)
    },
  }
}

const attachment = (data: string) => ({ name: 'a', bytes: 3, part: { type: 'file', mediaType: 'a/b', data } as const })

it('comes back after a reload, without attachments that are too large, and leaves nothing behind when it is sent', () => {
  const storage = memory()
  const draft = openDraft('one', storage)
  draft.value = { text: 'hello', attachments: [attachment('AAAA')], settings: { maxTokens: '5' } }
  expect(readDraft(storage, 'one')).toEqual(draft.value)
  draft.value = { ...draft.value, attachments: [attachment('A'.repeat(maxChars))] }
  expect(readDraft(storage, 'one')).toEqual({ ...draft.value, attachments: [] })
  draft.value = emptyDraft
  expect([...storage.texts]).toEqual([])
})

it('is empty if what is stored cannot be read', () => {
  const storage = memory()
  for (const text of ['{"text":1,"settings":null}', 'x', '[]', '3']) {
    storage.set('draft.one', text)
    expect(readDraft(storage, 'one')).toEqual(emptyDraft)
  }
})
