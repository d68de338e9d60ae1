import type { FilePart, InputPart, JsonObject, JsonSchema, Message, ReplyPart } from '../../contracts/index.ts'
import { textOfParts } from '../../util/text-of-parts.ts'
import { fieldsOf, textOf } from '../../util/unknown-fields.ts'
import { argumentsOf, userContent } from '../shared/index.ts'

/** The used part of a LlamaIndex LLM. The parameter is `never`, so that any LLM fits. */
export interface LlamaIndexLlm {
  chat(params: never): PromiseLike<unknown>
  readonly supportToolCall?: boolean
  readonly metadata?: object
}

export interface LlamaIndexMessage {
  readonly role: 'system' | 'user' | 'assistant'
  readonly content: string | readonly JsonObject[]
  readonly options?: {
    readonly toolCall?: readonly { readonly id: string; readonly name: string; readonly input: JsonObject }[]
    readonly toolResult?: { readonly id: string; readonly result: string; readonly isError: boolean }
    readonly thinking?: string
    readonly thinking_signature?: string
  }
}

export interface LlamaIndexTool {
  readonly metadata: { readonly name: string; readonly description: string; readonly parameters: JsonSchema }
}

/** A conversation in the form of LlamaIndex. The LLM with this `id` gets back its own signatures. */
export function llamaIndexMessages(system: string, messages: readonly Message[], id: string): readonly LlamaIndexMessage[] {
  const conversation = messages.flatMap((message): readonly LlamaIndexMessage[] => {
    switch (message.role) {
      case 'user':
        return [{ role: 'user', content: userContent(message.parts, fileDetail) }]
      case 'assistant':
        return [assistantMessage(message.parts, id)]
      case 'tool':
        return message.results.map(({ id: callId, ok, content }) => ({
          role: 'user',
          content,
          options: { toolResult: { id: callId, result: content, isError: !ok } },
        }))
      default:
        return message satisfies never
    }
  })
  return system === '' ? conversation : [{ role: 'system', content: system }, ...conversation]
}

/** There is no form for a file by URL: the LLM gets its address. */
export const isFileElsewhere = (part: InputPart): boolean => part.type === 'file' && /^https?:/i.test(part.data)

function fileDetail(part: FilePart): JsonObject {
  if (!isFileElsewhere(part)) return { type: 'file', mimeType: part.mediaType, data: part.data.replace(/^data:[^,]*,/i, '') }
  return { type: 'text', text: `The file ${part.name === undefined ? '' : `${part.name} `}is at ${part.data}` }
}

function assistantMessage(parts: readonly ReplyPart[], id: string): LlamaIndexMessage {
  const calls = parts.filter((part) => part.type === 'call')
  const options = {
    ...(calls.length > 0 && { toolCall: calls.map((call) => ({ id: call.id, name: call.name, input: argumentsOf(call.input) })) }),
    ...thinkingOf(parts, id),
  }
  return {
    role: 'assistant',
    content: textOfParts(parts, ''),
    ...(Object.keys(options).length > 0 && { options }),
  }
}

/** Only signed reasoning is sent back. */
function thinkingOf(parts: readonly ReplyPart[], id: string): LlamaIndexMessage['options'] {
  const signed = parts.filter((part) => part.type === 'reasoning').find(({ metadata }) => signatureIn(metadata, id) !== undefined)
  const signature = signatureIn(signed?.metadata, id)
  return signed && signature !== undefined ? { thinking: signed.text, thinking_signature: signature } : {}
}

function signatureIn(metadata: JsonObject | undefined, id: string): string | undefined {
  const { from, signature } = fieldsOf(metadata?.llamaIndex)
  return from === id ? textOf(signature) : undefined
}

export const signedBy = (id: string, signature: string): JsonObject => ({ llamaIndex: { from: id, signature } })
