import type { CallResult, InputPart, Message, ReplyPart } from '../../contracts/index.ts'
import { CallPairs } from '../../policy/call-pairs.ts'
import { textOfParts } from '../../util/text-of-parts.ts'
import { continueWithResults, HttpError, type Returned, type WireResult } from '../http/index.ts'
import type { AssistantBlock, CountTokensBody, ReferenceBlock, ResultBlock, UserBlock, WireMessage } from './request-schema.ts'

/** The messages of a client, as a session takes them. */
export interface Conversation {
  readonly history: readonly Message[]
  readonly input: readonly InputPart[]
  /** The system prompt of the client. Empty without one. */
  readonly instructions: string
  /** Present if the conversation ends in results of calls. */
  readonly returned?: Returned
}

/** @throws HttpError if the last message is the agent's, or calls and results do not match. */
export function readMessages({ messages, system }: Pick<CountTokensBody, 'messages' | 'system'>): Conversation {
  const reader = new MessageReader()
  for (const [index, message] of messages.entries()) reader.read(message, `messages.${index}`)
  const { history, returned } = reader.end()
  const instructions = [...(system ? [plainText(system)] : []), ...reader.systemTexts].filter((text) => text !== '').join('\n\n')
  const last = history.at(-1)
  if (last?.role === 'tool') return { history, input: [continueWithResults], instructions, ...returned }
  if (last?.role !== 'user')
    throw new HttpError('invalid_request', 'The last message must be a message of the user with a text, an image or a document.', {
      parameter: 'messages',
      remedy: last?.role === 'assistant' ? 'The beginning of an answer (prefill) is not supported.' : 'Add a message.',
    })
  return { history: history.slice(0, -1), input: last.parts, instructions, ...returned }
}

/** Messages of one role in a row become one, as in Anthropic's API. */
class MessageReader {
  readonly systemTexts: string[] = []
  readonly #messages: Message[] = []
  /** Since the last message of the assistant: results of calls, and everything else. */
  #results: WireResult[] = []
  #others: InputPart[] = []
  readonly #pairs = new CallPairs(
    ({ place, message, remedy }) => {
      throw new HttpError('invalid_request', `${place}: ${message}.`, { parameter: place, remedy })
    },
    ['tool_use block', 'tool_result block'],
  )

  read(message: WireMessage, place: string): void {
    if (message.role === 'system') this.#readSystem(plainText(message.content))
    else if (message.role === 'user') this.#readUser(blocksOf(message.content), place)
    else this.#readAssistant(blocksOf(message.content), place)
  }

  end(): { readonly history: readonly Message[]; readonly returned: Pick<Conversation, 'returned'> } {
    this.#pairs.close()
    const hasReturned = this.#results.length > 0
    return { history: this.#messages, returned: hasReturned ? { returned: { results: this.#results, parts: this.#others } } : {} }
  }

  #readSystem(text: string): void {
    this.systemTexts.push(text)
    this.#others.push(...textPart(text))
  }

  #readUser(blocks: readonly UserBlock[], place: string): void {
    const results: CallResult[] = []
    const parts: InputPart[] = []
    for (const [index, block] of blocks.entries()) {
      if (block.type !== 'tool_result') {
        parts.push(...inputParts(block))
        this.#others.push(...inputParts(block))
        continue
      }
      const { id, ok, content, media } = resultOf(block)
      results.push({ id, name: this.#pairs.result(id, `${place}.content.${index}`), ok, content })
      parts.push(...media)
      this.#results.push({ id, ok, content, parts: media.filter((part) => !isAddress(part)) })
      this.#others.push(...media.filter(isAddress))
    }
    if (results.length > 0) this.#messages.push({ role: 'tool', results })
    if (parts.length === 0) return
    this.#pairs.close(place)
    const last = this.#messages.at(-1)
    if (last?.role === 'user') this.#messages.splice(-1, 1, { role: 'user', parts: [...last.parts, ...parts] })
    else this.#messages.push({ role: 'user', parts })
  }

  #readAssistant(blocks: readonly AssistantBlock[], place: string): void {
    this.#pairs.close(place)
    const parts = blocks.flatMap(replyParts)
    for (const part of parts) if (part.type === 'call') this.#pairs.call(part, place)
    if (parts.length === 0) return
    this.#results = []
    this.#others = []
    const last = this.#messages.at(-1)
    if (last?.role === 'assistant') this.#messages.splice(-1, 1, { role: 'assistant', parts: [...last.parts, ...parts] })
    else this.#messages.push({ role: 'assistant', parts })
  }
}

/** `media`: images and documents. In a history they follow the result, which has text only. */
function resultOf({ tool_use_id: id, content = '', is_error: isError }: ResultBlock) {
  const all = blocksOf(content).flatMap(inputParts).map(readable)
  return { id, ok: isError !== true, content: textOfParts(all), media: all.filter((part) => part.type !== 'text') }
}

/** A document of text in a result is part of its text. */
function readable(part: InputPart): InputPart {
  if (part.type === 'text' || part.mediaType !== 'text/plain' || isAddress(part)) return part
  const text = Buffer.from(part.data, 'base64').toString()
  return { type: 'text', text: 'name' in part && part.name !== undefined ? `${part.name}\n\n${text}` : text }
}

/** The provider of the model fetches it. */
const isAddress = (part: InputPart): boolean => part.type !== 'text' && /^\w+:/.test(part.data)

const blocksOf = <Block>(content: string | readonly Block[]): readonly (Block | TextBlock)[] =>
  typeof content === 'string' ? [{ type: 'text', text: content }] : content

interface TextBlock {
  readonly type: 'text'
  readonly text: string
}

const plainText = (content: string | readonly TextBlock[]): string =>
  typeof content === 'string' ? content : content.map(({ text }) => text).join('\n\n')

const textPart = (text: string): readonly InputPart[] => (text === '' ? [] : [{ type: 'text', text }])

function inputParts(block: Exclude<UserBlock, ResultBlock> | ReferenceBlock): readonly InputPart[] {
  switch (block.type) {
    case 'text':
      return textPart(block.text)
    case 'image':
      return [imagePart(block)]
    case 'document':
      return documentParts(block)
    case 'search_result':
      return textPart(`${block.title} (${block.source})\n\n${plainText(block.content)}`)
    case 'tool_reference':
      return textPart(`Loaded: ${block.tool_name}`)
    default:
      return block satisfies never
  }
}

function imagePart({ source }: Extract<UserBlock, { type: 'image' }>): InputPart {
  if (source.type === 'base64') return { type: 'image', mediaType: source.media_type, data: source.data }
  return { type: 'image', mediaType: 'image/*', data: source.url }
}

function documentParts({ source, title, context }: Extract<UserBlock, { type: 'document' }>): readonly InputPart[] {
  const name = title ? { name: title } : {}
  const about = context ? textPart(context) : []
  const asText = (text: string): InputPart => ({
    type: 'file',
    mediaType: 'text/plain',
    data: Buffer.from(text).toString('base64'),
    ...name,
  })
  switch (source.type) {
    case 'base64':
      return [...about, { type: 'file', mediaType: source.media_type, data: source.data, ...name }]
    case 'url':
      return [...about, { type: 'file', mediaType: 'application/pdf', data: source.url, ...name }]
    case 'text':
      return source.data === '' ? about : [...about, asText(source.data)]
    case 'content':
      return [...about, ...blocksOf(source.content).flatMap((block) => (block.type === 'text' ? textPart(block.text) : [imagePart(block)]))]
    default:
      return source satisfies never
  }
}

/** Thinking is left out: its signature is valid for the provider that made it, and Troupe cannot know which one that was. */
function replyParts(block: AssistantBlock): readonly ReplyPart[] {
  switch (block.type) {
    case 'text':
      return block.text === '' ? [] : [{ type: 'text', text: block.text }]
    case 'tool_use':
      return [{ type: 'call', id: block.id, name: block.name, input: JSON.stringify(block.input ?? {}) }]
    case 'thinking':
    case 'redacted_thinking':
      return []
    default:
      return block satisfies never
  }
}
