import type { FilePart, JsonObject, JsonSchema, Message, ReplyPart } from '../../contracts/index.ts'
import { argumentsOf, isUrl, userContent } from '../shared/index.ts'
import { type KeptBlock, keptIn, outsideTypes, writeBlock } from './reply-blocks.ts'

/** The used part of a LangChain chat model. Parameters are `never`, so that any model fits. */
export interface LangChainChatModel {
  stream(messages: never, options?: never): PromiseLike<AsyncIterable<unknown>>
  bindTools?(tools: never, options?: never): Pick<LangChainChatModel, 'stream'>
  /** Names of the settings that it accepts with a call. */
  readonly callKeys?: readonly string[]
}

/** A message in the plain form that LangChain accepts. */
export type LangChainMessage =
  | { readonly role: 'system'; readonly content: string }
  | { readonly role: 'user'; readonly content: LangChainContent }
  | {
      readonly role: 'assistant'
      readonly content: LangChainContent
      readonly tool_calls?: readonly { readonly type: 'tool_call'; readonly id: string; readonly name: string; readonly args: JsonObject }[]
      readonly additional_kwargs?: JsonObject
      readonly response_metadata?: JsonObject
    }
  | {
      readonly role: 'tool'
      readonly content: string
      readonly tool_call_id: string
      readonly name: string
      readonly status: 'success' | 'error'
    }
type LangChainContent = string | readonly JsonObject[]

/** The form of a tool that every integration accepts. */
export interface LangChainTool {
  readonly type: 'function'
  readonly function: { readonly name: string; readonly description: string; readonly parameters: JsonSchema }
}

/** A conversation in LangChain's plain form. The model with this `id` gets back its own stored data. */
export function langChainMessages(system: string, messages: readonly Message[], id: string): readonly LangChainMessage[] {
  const conversation = messages.flatMap((message): readonly LangChainMessage[] => {
    switch (message.role) {
      case 'user':
        return [{ role: 'user', content: userContent(message.parts, fileBlock) }]
      case 'assistant':
        return [assistantMessage(message.parts, id)]
      case 'tool':
        return message.results.map(({ id: callId, name, ok, content }) => ({
          role: 'tool',
          content,
          tool_call_id: callId,
          name,
          status: ok ? 'success' : 'error',
        }))
      default:
        return message satisfies never
    }
  })
  return system === '' ? conversation : [{ role: 'system', content: system }, ...conversation]
}

function fileBlock(part: FilePart): JsonObject {
  const source = isUrl(part) ? { source_type: 'url', url: part.data } : { source_type: 'base64', data: part.data }
  return { type: 'file', mime_type: part.mediaType, metadata: { filename: part.name ?? 'file' }, ...source }
}

function assistantMessage(parts: readonly ReplyPart[], id: string): LangChainMessage {
  const calls = parts.filter((part) => part.type === 'call')
  const message = parts.map((part) => keptIn(part.metadata, id)?.message).findLast((kept) => kept !== undefined)
  const blocks = parts.flatMap((part) => replyBlocks(part, id))
  const beside = blocks.filter(({ type }) => type === outsideTypes.text).map(({ text }) => text)
  const additional_kwargs = { ...message?.additional_kwargs, ...(beside.length > 0 && { reasoning_content: beside.join('') }) }
  return {
    role: 'assistant',
    content: contentOf(blocks.filter(({ type }) => type !== outsideTypes.text && type !== outsideTypes.summary)),
    ...(calls.length > 0 && {
      tool_calls: calls.map((call) => ({ type: 'tool_call', id: call.id, name: call.name, args: argumentsOf(call.input) }) as const),
    }),
    ...message,
    ...(Object.keys(additional_kwargs).length > 0 && { additional_kwargs }),
  }
}

/** Plain text stays a string, which every integration accepts. */
function contentOf(blocks: readonly JsonObject[]): LangChainContent {
  const isPlain = blocks.every((block) => block.type === 'text' && Object.keys(block).length === 2)
  return isPlain ? blocks.map(({ text }) => text).join('') : blocks
}

function replyBlocks(part: ReplyPart, id: string): readonly JsonObject[] {
  const kept = keptIn(part.metadata, id)
  if (part.type === 'call') return kept?.call ? [callBlock(kept.call, argumentsOf(part.input))] : []
  if (kept?.blocks) return split(part.text, kept.blocks)
  // Reasoning of another model is dropped.
  return part.type === 'text' && part.text !== '' ? [{ type: 'text', text: part.text }] : []
}

function split(text: string, blocks: readonly KeptBlock[]): readonly JsonObject[] {
  let start = 0
  return blocks.map(({ block, chars }) => {
    start += chars
    return writeBlock(block, text.slice(start - chars, start))
  })
}

function callBlock(block: JsonObject, input: JsonObject): JsonObject {
  return { ...block, [block.type === 'tool_use' ? 'input' : 'args']: input }
}
