import { effect, type Signal, signal } from '@preact/signals'
import type { InputPart } from '../../contracts/index.ts'
import type { TypedSettings } from './turn-settings.ts'

// Messages that are being written: one for each session, and one for a new session.
//
// 1. A draft survives a reload and a switch of sessions.
// 2. Attachments that are too large for the storage of the browser last as long as the page.

export interface Attachment {
  readonly name: string
  /** Of the file or text. */
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

export type DraftStorage = Pick<Storage, 'getItem' | 'setItem' | 'removeItem'>

export function createDrafts(storage: DraftStorage): (key: string) => Signal<MessageDraft> {
  const known = new Map<string, Signal<MessageDraft>>()
  return (key) => {
    const before = known.get(key)
    if (before) return before
    const draft = signal(readDraft(storage, key))
    known.set(key, draft)
    let stored: readonly Attachment[] = draft.value.attachments
    effect(() => {
      const { text, attachments, settings } = draft.value
      const isBlank = text === '' && Object.keys(settings).length === 0
      writeStored(storage, placeOf(key), isBlank ? undefined : JSON.stringify({ text, settings }))
      if (attachments === stored) return
      stored = attachments
      writeStored(storage, `${placeOf(key)}.attachments`, attachments.length === 0 ? undefined : JSON.stringify(attachments))
    })
    return draft
  }
}

const placeOf = (key: string): string => `troupe.draft.${key}`

function readDraft(storage: DraftStorage, key: string): MessageDraft {
  try {
    const { text, settings } = JSON.parse(storage.getItem(placeOf(key)) ?? '{}') as Partial<MessageDraft>
    const attachments: unknown = JSON.parse(storage.getItem(`${placeOf(key)}.attachments`) ?? '[]')
    return {
      text: typeof text === 'string' ? text : '',
      settings: typeof settings === 'object' && settings ? settings : {},
      attachments: Array.isArray(attachments) ? (attachments as readonly Attachment[]) : [],
    }
  } catch {
    return emptyDraft
  }
}

export function writeStored(storage: DraftStorage, place: string, value: string | undefined): void {
  try {
    // An older value must not come back if the new one does not fit.
    storage.removeItem(place)
    if (value !== undefined) storage.setItem(place, value)
  } catch {
    // Too large, or the browser stores nothing.
  }
}

const noStorage: DraftStorage = { getItem: () => null, setItem() {}, removeItem() {} }

export function browserStorage(): DraftStorage {
  try {
    return sessionStorage
  } catch {
    return noStorage
  }
}

let drafts: ReturnType<typeof createDrafts> | undefined

/** The draft for a session by its id, or `new`. */
export function openDraft(key: string): Signal<MessageDraft> {
  drafts ??= createDrafts(browserStorage())
  return drafts(key)
}
