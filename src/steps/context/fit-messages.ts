import type { CallResult, Message } from '../../contracts/index.ts'
import { messageSize, partChars } from '../../core/index.ts'

export const charsOf = (messages: readonly Message[]): number => messages.reduce((sum, message) => sum + messageSize(message), 0)

/** Start of the newest messages that fit `room`, after the first `going`. Never separates results from their calls. */
export function startOfNewest(messages: readonly Message[], room: number, going = 1): number {
  let start = messages.length
  let size = 0
  for (let index = messages.length - 1; index >= going; index--) {
    const message = messages[index]
    if (!message) break
    size += messageSize(message)
    if (size > room) break
    if (message.role !== 'tool') start = index
  }
  return start
}

/** Start of the calls whose results the model has not read yet; the end if there are none. */
export function startOfUnread(messages: readonly Message[]): number {
  const last = messages.findLastIndex(({ role }) => role === 'assistant')
  return last > 0 && messages[last + 1]?.role === 'tool' ? last : messages.length
}

const minResultChars = 600
const maxResultChars = 16_000

/** Cuts results as little as necessary. May still exceed `room`. */
export function withShorterResults(
  messages: readonly Message[],
  room: number,
  cut: (content: string, most: number) => string,
): readonly Message[] {
  let fitting = messages
  for (let most = maxResultChars; charsOf(fitting) > room && most >= minResultChars; most /= 2) {
    const shorter = (result: CallResult): CallResult => {
      const { parts, ...text } = result
      const left = parts === undefined || most < partChars ? text : result
      return left.content.length > most ? { ...left, content: cut(left.content, most) } : left
    }
    fitting = messages.map((message) => (message.role === 'tool' ? { ...message, results: message.results.map(shorter) } : message))
  }
  return fitting
}
