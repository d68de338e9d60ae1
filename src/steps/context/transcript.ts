import type { InputPart, Message, ReplyPart } from '../../contracts/index.ts'
import { oneLine } from '../../util/one-line.ts'
import { cutText } from '../../util/well-formed.ts'
import { inputPartText } from '../output/part-text.ts'

export const transcript = (messages: readonly Message[]): string => messages.map(paragraph).join('\n\n')

function paragraph(message: Message): string {
  switch (message.role) {
    case 'user':
      return `## User\n${message.parts.map(inputText).join('\n')}`
    case 'assistant':
      return `## Assistant\n${message.parts.map(replyText).join('\n')}`
    case 'tool':
      return message.results.map(({ name, ok, content }) => `## Result of ${name}${ok ? '' : ' (failed)'}\n${content}`).join('\n\n')
    default:
      return message satisfies never
  }
}

const inputText = (part: InputPart): string => (part.type === 'text' ? part.text : inputPartText(part))

function replyText(part: ReplyPart): string {
  if (part.type === 'call') return `→ ${part.name} ${part.input}`
  return part.type === 'reasoning' ? `(thinking) ${part.text}` : part.text
}

const maxLines = 40
const maxLineLength = 200

/** The last texts of the model, if no model can summarise. */
export function digest(messages: readonly Message[]): string {
  const lines = messages.flatMap((message) => (message.role === 'assistant' ? message.parts.flatMap(textLines) : []))
  return lines.length === 0 ? 'The assistant has written nothing yet.' : lines.slice(-maxLines).join('\n')
}

function textLines(part: ReplyPart): readonly string[] {
  if (part.type !== 'text' || part.text.trim() === '') return []
  const line = oneLine(part.text)
  return [`- ${line.length > maxLineLength ? `${cutText(line, maxLineLength)}…` : line}`]
}
