import type { InputPart, Message } from '../../contracts/index.ts'
import { textWeight } from '../../util/text-weight.ts'
import type { Conversation } from './read-messages.ts'

/** For estimates, as everywhere in Troupe before a provider has counted. */
export const charsPerToken = 4

/** For an image or a document: providers count about 1,000 tokens for an image. */
const mediaChars = 4000
const messageChars = 16

/**
 * An estimate of the first request for these messages, and for what is sent beside them as JSON. It includes neither the prompt
 * nor the tools of the agent, which callers do not see.
 */
export function estimateTokens({ history, input, instructions }: Conversation, others: readonly object[]): number {
  const messages = [...history, { role: 'user', parts: input } as const]
  const chars = messages.reduce((sum, message) => sum + messageChars + sizeOf(message), 0)
  const beside = textWeight(instructions) + total(others, (each) => textWeight(JSON.stringify(each)))
  return Math.ceil((chars + beside) / charsPerToken)
}

function sizeOf(message: Message): number {
  switch (message.role) {
    case 'user':
      return total(message.parts, partSize)
    case 'assistant':
      return total(message.parts, (part) => (part.type === 'call' ? textWeight(part.input) + part.name.length : textWeight(part.text)))
    case 'tool':
      return total(message.results, ({ content }) => textWeight(content))
    default:
      return message satisfies never
  }
}

/** Text files are sent as text. */
function partSize(part: InputPart): number {
  if (part.type === 'text') return textWeight(part.text)
  return part.mediaType === 'text/plain' ? textWeight(Buffer.from(part.data, 'base64').toString()) : mediaChars
}

const total = <Item>(items: readonly Item[], size: (item: Item) => number): number => items.reduce((sum, item) => sum + size(item), 0)
