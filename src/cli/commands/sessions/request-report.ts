import type { CallResult, InputPart, Message, ModelRequest, ReplyPart, ToolSpec } from '../../../contracts/index.ts'
import { size } from '../../../view/index.ts'
import { partTexts } from '../../progress/tree/call-texts.ts'
import { replyLines } from '../../terminal/markdown/render-markdown.ts'
import type { Paint } from '../../terminal/paint.ts'
import { printable } from '../../terminal/printable.ts'

// What a model was sent, for people: `sessions show --request`. Pure.

interface RequestStyle {
  readonly paint: Paint
  /** Columns of a line; infinite for a pipe. */
  readonly width: number
}

const indent = '  '

export function requestReport(request: ModelRequest, style: RequestStyle): readonly string[] {
  const { system, messages, tools, toolChoice, parameters, output } = request
  const settings = Object.entries({
    ...parameters,
    ...(toolChoice === 'none' && { toolChoice }),
    ...(output && { output: output.schema ?? 'JSON' }),
  })
  const blocks: readonly (readonly [title: string, lines: readonly string[]])[] = [
    ['System prompt', texts(system, 1, style)],
    [`Messages (${messages.length})`, messages.flatMap((message) => messageLines(message, style))],
    [`Tools (${tools.length})`, tools.flatMap((tool) => toolLines(tool, style))],
    ['Parameters', settings.flatMap(([name, value]) => texts(`${name}: ${JSON.stringify(value)}`, 1, style))],
  ]
  return blocks
    .filter(([, lines]) => lines.length > 0)
    .flatMap(([title, lines], i) => [...(i === 0 ? [] : ['']), style.paint('bold', title), ...lines])
}

function texts(text: string, depth: number, { width }: RequestStyle): readonly string[] {
  const before = indent.repeat(depth)
  const lines = replyLines(text, { width: width - before.length, maxLines: Number.POSITIVE_INFINITY })
  return text.trim() === '' ? [] : lines.map((line) => `${before}${line}`.trimEnd())
}

function messageLines(message: Message, style: RequestStyle): readonly string[] {
  const lines =
    message.role === 'tool'
      ? message.results.flatMap((result) => resultLines(result, style))
      : message.parts.flatMap((part) => texts(partText(part), 2, style))
  return [`${indent}${style.paint('cyan', message.role)}`, ...lines]
}

function partText(part: InputPart | ReplyPart): string {
  switch (part.type) {
    case 'text':
      return part.text
    case 'reasoning':
      return `(reasoning) ${part.text}`
    case 'call':
      return `→ ${part.name} ${part.input}`
    case 'image':
    case 'file':
      return `[${dataText(part)}]`
    default:
      return part satisfies never
  }
}

/** Base64 is not shown. */
function dataText({ mediaType, data, ...part }: Extract<InputPart, { readonly data: string }>): string {
  const place = /^https?:/.test(data) ? data : size(Math.floor((data.length * 3) / 4))
  return [...('name' in part && part.name !== undefined ? [part.name] : []), mediaType, place].join(' ')
}

const resultLines = ({ name, ok, content, parts }: CallResult, style: RequestStyle): readonly string[] => [
  ...texts(`← ${name}${ok ? '' : ' (failed)'}`, 2, style),
  ...texts(content, 3, style),
  ...partTexts(parts).map((text) => `${indent.repeat(3)}[${text}]`),
]

const toolLines = ({ name, description, inputSchema }: ToolSpec, style: RequestStyle): readonly string[] => [
  `${indent}${style.paint('cyan', printable(name))}`,
  ...texts(description, 2, style),
  ...texts(JSON.stringify(inputSchema), 2, style),
]
