import { effect, type Signal, signal } from '@preact/signals'
import type { InputPart } from '../../contracts/index.ts'
import { readJson, type TextStorage, tabTexts } from './browser-storage.ts'
import type { TypedSettings } from './turn-settings.ts'

// Messages that are being written: one for each session, and one for a new session.
//
// 1. A draft survives a reload and a switch of sessions.
// 2. Attachments that are too large for the storage of the browser last as long as the page.

export interface Attachment {
  readonly name: string
  /** The size of the file or text. */
  readonly bytes: number
  readonly part: InputPart
}

export interface MessageDraft {
  readonly text: string
  readonly attachments: readonly Attachment[]
  /** For the next turn. */
  readonly settings: TypedSettings
}

export const emptyDraft: MessageDraft = { text: '', attachments: [], settings: {} }

export const isEmptyDraft = ({ text, attachments }: MessageDraft): boolean => text.trim() === '' && attachments.length === 0

/** A text that consists of white space is not sent. */
export const partsOf = ({ text, attachments }: MessageDraft): readonly InputPart[] => [
  ...(text.trim() === '' ? [] : [{ type: 'text', text } as const]),
  ...attachments.map(({ part }) => part),
]

const known = new Map<string, Signal<MessageDraft>>()

/** The draft for a session by its id, or `new`. */
export function openDraft(key: string, storage = tabTexts): Signal<MessageDraft> {
  const before = known.get(key)
  if (before) return before
  const draft = signal(readDraft(storage, key))
  known.set(key, draft)
  let stored = draft.value.attachments
  effect(() => {
    const { text, attachments, settings } = draft.value
    const isBlank = text === '' && Object.keys(settings).length === 0
    storage.set(`draft.${key}`, isBlank ? undefined : JSON.stringify({ text, settings }))
    if (attachments === stored) return
    stored = attachments
    storage.set(`draft.${key}.attachments`, attachments.length === 0 ? undefined : JSON.stringify(attachments))
  })
  return draft
}

export function readDraft(storage: TextStorage, key: string): MessageDraft {
  const { text, settings } = (readJson(storage, `draft.${key}`) ?? {}) as Partial<MessageDraft>
  const attachments = readJson(storage, `draft.${key}.attachments`)
  return {
    text: typeof text === 'string' ? text : '',
    settings: typeof settings === 'object' && settings ? settings : {},
    attachments: Array.isArray(attachments) ? attachments : [],
  }
}
