import type { CallResult, InputPart, Message, OutputPart, ReplyPart } from '../../contracts/index.ts'
import { oneLine } from '../../util/one-line.ts'
import { size } from '../../view/index.ts'

/** A part of a message, as the page shows it. */
export interface MessagePart {
  /** Before its text. May be empty. */
  readonly label: string
  readonly text: string
  /** For the line of a folded message. */
  readonly line: string
  /** In characters; of bytes, their number. */
  readonly length: number
  readonly tone?: 'error'
  readonly isJson?: true
}

const lineLength = 200

export function partsOf(message: Message): readonly MessagePart[] {
  switch (message.role) {
    case 'user':
      return message.parts.map(inputPart)
    case 'assistant':
      return message.parts.map(replyPart)
    case 'tool':
      return message.results.flatMap(resultParts)
  }
}

const beginning = (text: string): string => oneLine(text.slice(0, lineLength))

const textPart = (label: string, text: string): MessagePart => ({ label, text, line: beginning(text), length: text.length })

function inputPart(part: InputPart): MessagePart {
  if (part.type === 'text') return textPart('', part.text)
  return bytesPart([part.type, part.mediaType, 'name' in part ? part.name : undefined], bytesOf(part))
}

function replyPart(part: ReplyPart): MessagePart {
  switch (part.type) {
    case 'text':
      return textPart('', part.text)
    case 'reasoning':
      return textPart('Reasoning', part.text)
    case 'call':
      return {
        label: `Call ${part.name}`,
        text: part.input,
        line: `${part.name} ${beginning(part.input)}`,
        length: part.input.length,
        isJson: true,
      }
  }
}

function resultParts({ name, ok, content, parts = [] }: CallResult): readonly MessagePart[] {
  const result: MessagePart = {
    label: `Result of ${name}${ok ? '' : ': failed'}`,
    text: content,
    line: `${name} ${beginning(content)}`,
    length: content.length,
    ...(!ok && { tone: 'error' }),
  }
  return [result, ...parts.flatMap(sentPart)]
}

/** Text is in the content. Bytes without data were only mentioned. */
function sentPart(part: OutputPart): readonly MessagePart[] {
  if (part.type === 'text' || part.type === 'link' || part.data === undefined) return []
  return [bytesPart([part.type, part.mediaType, part.name], part.bytes)]
}

function bytesPart(words: readonly (string | undefined)[], bytes: number): MessagePart {
  const label = [...words.filter(Boolean), size(bytes)].join(' · ')
  return { label, text: '', line: label, length: bytes }
}

/** Base64 is a third longer than its bytes. */
const bytesOf = ({ data, bytes }: { readonly data: string; readonly bytes?: number }): number =>
  bytes ?? (data.startsWith('https:') ? 0 : Math.floor((data.length * 3) / 4))

/** Longer ones would take a while, and are cut anyway. */
const maxFormatted = 50_000

export function formattedJson(json: string): string {
  if (json.length > maxFormatted) return json
  try {
    return JSON.stringify(JSON.parse(json), null, 2)
  } catch {
    return json
  }
}
