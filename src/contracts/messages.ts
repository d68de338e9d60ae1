import type { JsonObject } from './json.ts'

export interface TextPart {
  readonly type: 'text'
  readonly text: string
  readonly metadata?: JsonObject
}
/** `data` is base64, or an `https:` or `data:` URL. */
export interface ImagePart {
  readonly type: 'image'
  readonly mediaType: string
  readonly data: string
}
export interface FilePart {
  readonly type: 'file'
  readonly mediaType: string
  readonly data: string
  readonly name?: string
}
export type InputPart = TextPart | ImagePart | FilePart

export interface ReasoningPart {
  readonly type: 'reasoning'
  readonly text: string
  readonly metadata?: JsonObject
}
/** A call as the model wrote it: `id` is the provider's, `input` the unparsed JSON text. */
export interface CallPart {
  readonly type: 'call'
  readonly id: string
  readonly name: string
  readonly input: string
  readonly metadata?: JsonObject
}
export type ReplyPart = TextPart | ReasoningPart | CallPart

/** The result of a call, for the model. `id` is the provider's id of the call. */
export interface CallResult {
  readonly id: string
  readonly name: string
  readonly ok: boolean
  readonly content: string
}

/** `metadata` belongs to the provider (signatures, cache marks) and goes back to it unchanged. */
export type Message =
  | { readonly role: 'user'; readonly parts: readonly InputPart[] }
  | { readonly role: 'assistant'; readonly parts: readonly ReplyPart[] }
  | { readonly role: 'tool'; readonly results: readonly CallResult[] }
