import type { Json, JsonObject } from '../../contracts/index.ts'
import { isFields } from '../shared/index.ts'

// What a reply had beside its words (signatures, types of blocks, ids) is kept with its parts and handed back to the
// model that wrote it. To any other model it would be noise, or an error.

/** One block of content without its words. Several may stand behind one text. */
export interface KeptBlock {
  readonly chars: number
  readonly block: JsonObject
}

export interface Kept {
  readonly from: string
  /** The blocks that a text or a reasoning came in. */
  readonly blocks?: readonly KeptBlock[]
  /** The block that stood for a call among the content. */
  readonly call?: JsonObject
  /** What belongs to the message as a whole. */
  readonly message?: { readonly additional_kwargs?: JsonObject; readonly response_metadata?: JsonObject }
}

/**
 * The types of blocks that are none: their words stand beside the content. A summary has ids of its own there and is
 * kept as a whole; a text is written again from its words.
 */
export const outsideTypes = { summary: 'beside:summary', text: 'beside:text' } as const

export function keptMetadata(kept: Kept): JsonObject {
  return { langchain: kept as unknown as Json }
}

export function keptIn(metadata: JsonObject | undefined, id: string): Kept | undefined {
  const kept = metadata?.langchain
  return isFields(kept) && kept.from === id ? (kept as unknown as Kept) : undefined
}
