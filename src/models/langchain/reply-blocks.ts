import type { Json, JsonObject } from '../../contracts/index.ts'
import { isRecord } from '../../util/is-record.ts'
import { plainJson } from '../../util/json-values.ts'
import { type Fields, textOf } from '../../util/unknown-fields.ts'

// Signatures, block types and ids of a reply are stored with its parts and returned to the model that wrote it. Another model may
// reject them.

/** One block of content without its text. One text may consist of several. */
export interface KeptBlock {
  readonly chars: number
  readonly block: JsonObject
}

export interface Kept {
  readonly from: string
  /** The blocks of a text or a reasoning. */
  readonly blocks?: readonly KeptBlock[]
  /** The block of a call in the content. */
  readonly call?: JsonObject
  /** Data of the whole message. */
  readonly message?: { readonly additional_kwargs?: JsonObject; readonly response_metadata?: JsonObject }
}

/** Types for reasoning that is not part of the content. A summary has ids and is stored as a whole; a text is rebuilt. */
export const outsideTypes = { summary: 'beside:summary', text: 'beside:text' } as const

export function keptMetadata(kept: Kept): JsonObject {
  return { langchain: kept as unknown as Json }
}

export function keptIn(metadata: JsonObject | undefined, id: string): Kept | undefined {
  const kept = metadata?.langchain
  return isRecord(kept) && kept.from === id ? (kept as unknown as Kept) : undefined
}

/** A block of content: a text, a reasoning or a call. */
export type ReadBlock =
  | { readonly kind: 'text' | 'reasoning'; readonly text: string; readonly index: unknown; readonly block: JsonObject }
  | { readonly kind: 'call'; readonly index: unknown; readonly block: JsonObject }

/** The types of blocks with text, and the field that contains it. `redacted_thinking` has none. */
const wordFields: { readonly [type: string]: { readonly kind: 'text' | 'reasoning'; readonly field?: string } } = {
  text: { kind: 'text', field: 'text' },
  text_delta: { kind: 'text', field: 'text' },
  output_text: { kind: 'text', field: 'text' },
  thinking: { kind: 'reasoning', field: 'thinking' },
  reasoning: { kind: 'reasoning', field: 'reasoning' },
  redacted_thinking: { kind: 'reasoning' },
}
const callTypes = new Set(['tool_use', 'tool_call'])

/** Other blocks are dropped: results of the provider's own tools, images. */
export function readContent(content: unknown): readonly ReadBlock[] {
  if (typeof content === 'string') return content === '' ? [] : [{ kind: 'text', text: content, index: undefined, block: { type: 'text' } }]
  if (!Array.isArray(content)) return []
  return content.filter(isRecord).flatMap(readBlock)
}

function readBlock(given: Fields): readonly ReadBlock[] {
  const type = textOf(given.type) ?? ''
  const known = Object.hasOwn(wordFields, type) ? wordFields[type] : undefined
  const { index, ...rest } = given
  if (known) {
    const text = known.field === undefined ? undefined : given[known.field]
    const shape = plainJson(known.field === undefined ? rest : { ...rest, [known.field]: undefined }) ?? {}
    return [
      {
        kind: known.kind,
        text: typeof text === 'string' ? text : '',
        index,
        block: type === 'text_delta' ? { ...shape, type: 'text' } : shape,
      },
    ]
  }
  return callTypes.has(type) ? [{ kind: 'call', index, block: plainJson(rest) ?? {} }] : []
}

/** The block with its text. */
export function writeBlock(block: JsonObject, text: string): JsonObject {
  const field = block.type === outsideTypes.text ? 'text' : wordFields[String(block.type)]?.field
  return field === undefined ? block : { ...block, [field]: text }
}

/** Names are replaced, not appended. */
const whole = new Set(['id', 'type', 'index', 'name'])

/** Merges the next chunk of an object: texts are appended, list items are matched by their `index`. */
export function mergeDelta(left: JsonObject, right: JsonObject): JsonObject {
  const merged: Record<string, Json | undefined> = { ...left }
  for (const [key, value] of Object.entries(right)) {
    const known = merged[key]
    if (value === undefined || value === null) continue
    merged[key] = known === undefined || known === null || whole.has(key) ? value : mergeValues(known, value)
  }
  return merged
}

function mergeValues(left: Json, right: Json): Json {
  if (typeof left === 'string' && typeof right === 'string') return left + right
  if (Array.isArray(left) && Array.isArray(right)) return mergeLists(left, right)
  return isRecord(left) && isRecord(right) ? mergeDelta(left, right) : right
}

function mergeLists(left: readonly Json[], right: readonly Json[]): readonly Json[] {
  const merged = [...left]
  for (const item of right) {
    const index = isRecord(item) && item.index !== undefined ? item.index : undefined
    const place = index === undefined ? -1 : merged.findIndex((known) => isRecord(known) && known.index === index)
    const known = merged[place]
    if (isRecord(known) && isRecord(item)) merged[place] = mergeDelta(known, item)
    else merged.push(item)
  }
  return merged
}
