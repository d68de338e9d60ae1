import type { BlobId } from './ids.ts'
import type { JsonObject } from './json.ts'

export interface TextPart {
  readonly type: 'text'
  readonly text: string
  readonly metadata?: JsonObject
}
/**
 * `data` is base64, or an `https:` or `data:` URL. Journal and inbox contain `blob:ID` instead of base64: the bytes are in the
 * blob store. A request to a model contains base64 again.
 */
export interface ImagePart {
  readonly type: 'image'
  readonly mediaType: string
  readonly data: string
  /** Size of a stored part. */
  readonly bytes?: number
}
export interface FilePart {
  readonly type: 'file'
  readonly mediaType: string
  readonly data: string
  readonly name?: string
  /** Size of a stored part. */
  readonly bytes?: number
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
  /** The whole result as text. It contains a line for each part that is not text. */
  readonly content: string
  /** Present if the result has parts that are not text. */
  readonly parts?: readonly OutputPart[]
}

/** A part of a result, as it is recorded. */
export type OutputPart =
  | { readonly type: 'text'; readonly text: string }
  | StoredPart
  | { readonly type: 'link'; readonly uri: string; readonly name?: string; readonly mediaType?: string }

/** An image, audio or file whose bytes are in the blob store. */
export interface StoredPart {
  readonly type: 'image' | 'audio' | 'file'
  readonly mediaType: string
  readonly blob: BlobId
  /** Size. */
  readonly bytes: number
  readonly name?: string
  /** Base64. Only in a request to a model, and only if the model should read this part; otherwise `content` mentions it. */
  readonly data?: string
}

/** `metadata` belongs to the provider (signatures, cache marks) and goes back to it unchanged. */
export type Message =
  | { readonly role: 'user'; readonly parts: readonly InputPart[] }
  | { readonly role: 'assistant'; readonly parts: readonly ReplyPart[] }
  | { readonly role: 'tool'; readonly results: readonly CallResult[] }
