import type { JsonObject } from '../../contracts/index.ts'
import { plainJson } from '../../util/copy-json.ts'
import { type Fields, isFields, textOf } from '../shared/index.ts'
import { outsideTypes } from './kept.ts'

/** A block of content as it is read: words of one kind, or what stands for a call. */
export type ReadBlock =
  | { readonly kind: 'text' | 'reasoning'; readonly text: string; readonly index: unknown; readonly block: JsonObject }
  | { readonly kind: 'call'; readonly index: unknown; readonly block: JsonObject }

/** The types of blocks with words, and the field that has them. `redacted_thinking` has none that can be read. */
const wordFields: { readonly [type: string]: { readonly kind: 'text' | 'reasoning'; readonly field?: string } } = {
  text: { kind: 'text', field: 'text' },
  text_delta: { kind: 'text', field: 'text' },
  output_text: { kind: 'text', field: 'text' },
  thinking: { kind: 'reasoning', field: 'thinking' },
  reasoning: { kind: 'reasoning', field: 'reasoning' },
  redacted_thinking: { kind: 'reasoning' },
}
const callTypes = new Set(['tool_use', 'tool_call'])

/** Blocks of other kinds are left out: results of the provider's own tools, pictures. */
export function readContent(content: unknown): readonly ReadBlock[] {
  if (typeof content === 'string') return content === '' ? [] : [{ kind: 'text', text: content, index: undefined, block: { type: 'text' } }]
  if (!Array.isArray(content)) return []
  return content.filter(isFields).flatMap(readBlock)
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

/** The block again, with its words in it. */
export function writeBlock(block: JsonObject, text: string): JsonObject {
  const field = block.type === outsideTypes.text ? 'text' : wordFields[String(block.type)]?.field
  return field === undefined ? block : { ...block, [field]: text }
}
