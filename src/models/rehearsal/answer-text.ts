import type { JsonObject, ToolSpec } from '../../contracts/index.ts'
import { type AnswerMove, label, type Missing, needs, resultText } from './plan-move.ts'
import { type Exchange, returnControl } from './read-conversation.ts'
import { clip } from './read-words.ts'

// The answers in words: short, and never as if a model had thought.

export function answerText(move: AnswerMove, tools: readonly ToolSpec[]): string {
  return `${summaryText(move, tools)}\n\n${label}`
}

/** What the calls returned, or that there was none. */
export function summaryText({ turn, missing, leftOut }: AnswerMove, tools: readonly ToolSpec[]): string {
  const exchanges = [...turn.steps.flat(), ...turn.reports]
  const parts = [
    ...(exchanges.length > 1 ? [countText(exchanges)] : []),
    ...exchanges.map((exchange) => resultLine(exchange, exchanges.length)),
    ...(leftOut.length > 0 ? [`I did not call ${joined(leftOut.map(shownName))}.`] : []),
    ...missing.map(missingText),
  ]
  const { attachments } = turn
  const unread = attachments.length > 0 ? [`I cannot read attachments (${clip(attachments.join(', '), 100)}).`] : []
  return [...(parts.length > 0 ? parts : noAnswer(tools)), ...unread].join('\n\n')
}

function countText(exchanges: readonly Exchange[]): string {
  const failed = exchanges.filter(({ ok }) => !ok).length
  const names = joined(exchanges.map(({ tool }) => shownName(tool)))
  return `I made ${exchanges.length} calls: ${names}.${failed > 0 ? ` ${failed} of them failed.` : ''}`
}

export const missingText = ({ tool, fields }: Missing): string =>
  `${needs}${shownName(tool)}: ${fields.join(', ')}. Name them in your message.`

const joined = (names: readonly string[]): string => {
  const distinct = [...new Set(names)]
  return [distinct.slice(0, -1).join(', '), distinct.at(-1)].filter((part) => part !== '').join(' and ')
}

const shownName = (tool: string): string => tool.replace(/^agent__/, 'the agent ')

function resultLine(exchange: Exchange, count: number): string {
  const input = shownInput(exchange.input)
  const call = input === '' ? shownName(exchange.tool) : `${shownName(exchange.tool)} (${input})`
  const text = resultText(exchange)
  if (!exchange.ok) return `${call} failed: ${clip(text.replace(/^Error \((\w+)\): /, '') || 'it was cut off.', 400)}`
  return `From ${call}:\n${shortened(text, count === 1 ? 4_000 : 1_200)}`
}

function shortened(text: string, most: number): string {
  if (text.length <= most) return text
  const cut = text.slice(0, most).replace(/[\ud800-\udbff]$/, '').trimEnd() // biome-ignore format: one line
  return `${cut}\n… (${text.length - cut.length} more characters)`
}

function shownInput(input: JsonObject): string {
  return Object.entries(input)
    .filter(([name]) => name !== 'reason' && name !== 'call_reason')
    .slice(0, 5)
    .map(([name, value = null]) => `${name}: ${clip(typeof value === 'string' ? value : JSON.stringify(value), 40)}`)
    .join(', ')
}

const maxShown = 8

function noAnswer(tools: readonly ToolSpec[]): readonly string[] {
  const opening = 'I am `rehearsal`, not an AI model: I choose tools by words. Connect a model to get an answer.'
  const others = tools.filter(({ name }) => name !== returnControl)
  const canLeave = others.length < tools.length
  const listed = others.slice(0, maxShown).map(({ name, description }) => `- ${name}: ${clip(description, 90)}`)
  const more = others.length > maxShown ? [`- … and ${others.length - maxShown} more`] : []
  return [
    opening,
    ...(listed.length > 0 ? [['Your message does not ask for one of these tools:', ...listed, ...more].join('\n')] : []),
    ...(canLeave ? ['Write /back to return to the assistant.'] : []),
  ]
}
