import type { Message } from '../../contracts/index.ts'
import { textWeight } from '../../util/text-weight.ts'
import { abilityFor } from './stored-parts.ts'

/** Calls and results are many and mostly small: up to this length they are not weighed in detail. */
const small = 256

/** For an image or a file: providers count about 1,000 tokens for an image. */
export const partChars = 4_000

/** Approximate size of a message in a request, in characters. */
export function messageSize(message: Message): number {
  let size = 16
  switch (message.role) {
    case 'user':
      for (const part of message.parts) size += part.type === 'text' ? textWeight(part.text) : partChars
      return size
    case 'assistant':
      for (const part of message.parts)
        size += part.type === 'call' ? textWeight(part.input, small) + part.name.length + 16 : textWeight(part.text, small)
      return size
    case 'tool':
      for (const { content, parts } of message.results) {
        size += textWeight(content, small) + 32
        if (parts) for (const part of parts) if (abilityFor(part)) size += partChars
      }
      return size
    default:
      return message satisfies never
  }
}
