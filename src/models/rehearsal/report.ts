import type { ToolSpec } from '../../contracts/index.ts'
import { stem } from '../../util/stem.ts'
import { toolDescriptions } from './about-tools.ts'
import type { Exchange, Turn } from './conversation.ts'
import { exampleRequest } from './example.ts'
import type { Move } from './plan.ts'
import { askFor } from './questions.ts'
import { failureWords, label, renderResult } from './results.ts'
import { namesIn } from './schema-view.ts'
import { conceptsOf } from './vocabulary.ts'
import { clip, readWords } from './words.ts'

// What the rehearsal says. Short, and never as if it had thought.

export type Answer = Extract<Move, { kind: 'answer' }>

/** The answer in words, with its label. */
export function report(answer: Answer, tools: readonly ToolSpec[]): string {
  return `${reportWithoutLabel(answer, tools)}\n\n${label}`
}

export function reportWithoutLabel({ turn, questions, leftOut, notReached }: Answer, tools: readonly ToolSpec[]): string {
  const told = turn.exchanges.filter((exchange, at) => !turn.exchanges.slice(at + 1).some((later) => isSameCall(later, exchange)))
  const parts = [
    ...toolDescriptions(turn.request, tools),
    ...told.map((exchange) => describe(exchange, told.length)),
    ...[...new Set(leftOut)].map((tool) => `I did not go on to ${shownName(tool)}: it builds on something that did not come.`),
    ...(notReached.length > 0 ? [`I did not get to ${joined([...new Set(notReached)].map(shownName))} in this turn.`] : []),
    ...questions.map(({ tool, missing }) => askFor(tool, missing)),
  ]
  const said = parts.length > 0 ? parts : [withNothingToReport(turn, tools)]
  return [...said, ...attachmentNote(turn)].join('\n\n')
}

const joined = (names: readonly string[]): string =>
  [names.slice(0, -1).join(', '), names.at(-1)].filter((part) => part !== '').join(' and ')

const isSameCall = (one: Exchange, other: Exchange): boolean => one.tool === other.tool && shownInput(one) === shownInput(other)

function describe(exchange: Exchange, count: number): string {
  const input = shownInput(exchange)
  const call = input === '' ? shownName(exchange.tool) : `${shownName(exchange.tool)} (${input})`
  if (!exchange.ok) return `${call} failed: ${clip(failureWords(exchange), 400)}`
  const room = count === 1 ? { characters: 4000, lines: 60 } : { characters: 1200, lines: 20 }
  return `From ${call}:\n${renderResult(exchange, room)}`
}

const shownName = (tool: string): string => (tool.startsWith('agent__') ? `the agent ${tool.slice('agent__'.length)}` : tool)

const mostShown = 5

function shownInput({ input }: Exchange): string {
  return Object.entries(input)
    .filter(([name]) => name !== 'reason' && name !== 'call_reason')
    .slice(0, mostShown)
    .map(([name, value]) => `${name}: ${clip(typeof value === 'string' ? firstLine(value) : JSON.stringify(value ?? null), 40)}`)
    .join(', ')
}

const firstLine = (text: string): string => text.slice(0, 500).split('\n', 1)[0] ?? ''

const greeting = /^\s*(?:hello|hi|hey|good (?:morning|afternoon|evening|day)|how are you|how do you do|how is it going)\b/i
const thanks = /^\s*(?:thanks?|thank you|cheers)\b/i
const approval = /^\s*(?:great|perfect|nice|cool|ok(?:ay)?|bye|goodbye)\b/i
const callOff = /^\s*(?:never ?mind|cancel|forget it|stop|leave it|no,? thanks?)\b/i
const capabilities = /\b(?:what can (?:you|i) do|what do you do|who are you|what are you|how (?:do|does) (?:you|this|it) work|help)\b/i

function withNothingToReport(turn: Turn, tools: readonly ToolSpec[]): string {
  const { request } = turn
  const isShort = request.trim().length < 80
  if (isShort && callOff.test(request)) return 'All right, I leave it.'
  if (isShort && thanks.test(request)) return 'You are welcome.'
  if (isShort && approval.test(request)) return 'Good. Ask for something else whenever you like.'
  if (request.trim() === '' && turn.attachments.length === 0) return 'There was nothing to read.'
  if (tools.length === 0) return withoutTools(request)
  const opening =
    isShort && greeting.test(request)
      ? 'Hello. This is a rehearsal: I choose tools by the words of your request.'
      : isShort && capabilities.test(request)
        ? 'I am a stand-in for a model: rules choose tools by the words of your request and fill in what you say.'
        : `I read ${quoted(request)}, but no tool here fits those words${isEnglish(request) ? '' : ', and I know English only'}.`
  return [opening, ...menu(tools)].join('\n\n')
}

const quoted = (text: string): string => (text.trim() === '' ? 'nothing' : `“${clip(text, 80)}”`)

const mostListed = 12

function menu(tools: readonly ToolSpec[]): readonly string[] {
  const listed = tools.slice(0, mostListed).map(({ name, description }) => `- ${name}: ${clip(firstSentence(description), 90)}`)
  const rest = tools.length > mostListed ? [`- … and ${tools.length - mostListed} more`] : []
  const first = simplest(tools)
  return [['What I can use:', ...listed, ...rest].join('\n'), ...(first ? [`Try: “${exampleRequest(first)}”`] : [])]
}

/** The one that asks for least, but for something. */
function simplest(tools: readonly ToolSpec[]): ToolSpec | undefined {
  const count = ({ inputSchema }: ToolSpec): number => namesIn(inputSchema.required).length
  return tools.toSorted((a, b) => (count(a) <= 1 ? 9 : count(a)) - (count(b) <= 1 ? 9 : count(b)))[0]
}

const firstSentence = (text: string): string => /^[\s\S]{1,200}?[.!?](?=\s|$)/.exec(text)?.[0] ?? text

function withoutTools(request: string): string {
  const given = /^[^:\n]{0,100}:\s*([\s\S]*)/.exec(request)?.[1] ?? request
  const sentences = given.slice(0, 20_000).match(/[^.!?\n]{2,400}[.!?]+/g) ?? []
  const wantsSummary = readWords(request.slice(0, 500)).some((word) => conceptsOf(word.stem).some((each) => summary.includes(each)))
  if (wantsSummary && sentences.length > 3)
    return `I cannot summarise, but this is how it begins: ${clip(sentences.slice(0, 3).join(' '), 500).replace(/ …$/, '')} …`
  return `I read ${quoted(request)}. I have no tools here, and without an LLM I cannot answer that myself.`
}
const summary = conceptsOf(stem('summarise'))

const common = new Set(
  'a the you are what how to for my me of and can please it with this that from make get find show list i do'.split(' '),
)

/** A guess: longer requests without any of the commonest words are in another language. */
function isEnglish(text: string): boolean {
  const words = readWords(text.slice(0, 1000)).filter(({ kind }) => kind === 'word')
  return words.length < 4 ? words.every(({ text: word }) => latin.test(word)) : words.some(({ lower }) => common.has(lower))
}

const latin = /^[\p{Script=Latin}\p{N}\p{M}_'’-]+$/u

function attachmentNote({ attachments }: Turn): readonly string[] {
  if (attachments.length === 0) return []
  return [`I cannot look at attachments (${clip(attachments.join(', '), 100)}); I went by your words.`]
}
