import { describe, expect, it } from 'vitest'
import { type Attachment, createDrafts, emptyDraft, isEmptyDraft, partsOf } from './drafts.ts'

function memory(maxChars = 1_000) {
  const values = new Map<string, string>()
  return {
    values,
    getItem: (key: string) => values.get(key) ?? null,
    removeItem: (key: string) => void values.delete(key),
    setItem(key: string, value: string) {
      if (value.length > maxChars) throw new Error('quota')
      values.set(key, value)
    },
  }
}

const attachment = (text: string): Attachment => ({ name: 'a.txt', bytes: text.length, part: { type: 'text', text } })

describe('drafts', () => {
  it('come back after a reload, each in its session', () => {
    const storage = memory()
    const open = createDrafts(storage)
    open('one').value = { text: 'hello', attachments: [attachment('a')], settings: { maxTokens: '5' } }
    open('two').value = { ...emptyDraft, text: 'other' }
    const reloaded = createDrafts(storage)
    expect(reloaded('one').value).toEqual({ text: 'hello', attachments: [attachment('a')], settings: { maxTokens: '5' } })
    expect(reloaded('two').value.text).toBe('other')
    expect(open('one')).toBe(open('one'))
  })
  it('leave nothing behind when they are sent', () => {
    const storage = memory()
    const draft = createDrafts(storage)('one')
    draft.value = { ...emptyDraft, text: 'hello', attachments: [attachment('a')] }
    draft.value = emptyDraft
    expect([...storage.values]).toEqual([])
  })
  it('keep the text if the attachments are too large to be stored, and no older attachments', () => {
    const storage = memory()
    const draft = createDrafts(storage)('one')
    draft.value = { ...emptyDraft, text: 'hello', attachments: [attachment('a')] }
    draft.value = { ...draft.value, attachments: [attachment('a'.repeat(2_000))] }
    expect(draft.value.attachments).toHaveLength(1)
    expect(createDrafts(storage)('one').value).toEqual({ ...emptyDraft, text: 'hello' })
  })
  it('are empty if what is stored cannot be read', () => {
    const storage = memory()
    storage.setItem('troupe.draft.one', '{"text":1}')
    storage.setItem('troupe.draft.two', 'x')
    const open = createDrafts(storage)
    expect([open('one').value, open('two').value]).toEqual([emptyDraft, emptyDraft])
  })
  it('become parts, without a text of white space', () => {
    expect(isEmptyDraft({ ...emptyDraft, text: ' \n' })).toBe(true)
    expect(partsOf({ ...emptyDraft, text: ' ', attachments: [attachment('a')] })).toEqual([{ type: 'text', text: 'a' }])
  })
})
