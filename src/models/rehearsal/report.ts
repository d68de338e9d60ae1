import type { ToolSpec } from '../../contracts/index.ts'
import { stem } from '../../util/stem.ts'
import { callOff, type Exchange, type Turn } from './conversation.ts'
import { askFor, exampleRequest, toolDescriptions } from './describe-tools.ts'
import { agentName } from './parameters.ts'
import type { Move } from './plan.ts'
import { failureText, label, renderResult } from './results.ts'
import { namesIn } from './schema-view.ts'
import { conceptsOf } from './vocabulary.ts'
import { clip, readWords } from './words.ts'

// The answers in words. Short, and never as if a model had thought.

export type Answer = Extract<Move, { kind: 'answer' }>

export function report(answer: Answer, tools: readonly ToolSpec[]): string {
  return `${reportWithoutLabel(answer, tools)}\n\n${label}`
}

export function reportWithoutLabel({ turn, questions, leftOut, notReached }: Answer, tools: readonly ToolSpec[]): string {
  const shown = turn.exchanges.filter((exchange, at) => !turn.exchanges.slice(at + 1).some((later) => isSameCall(later, exchange)))
  const parts = [
    ...toolDescriptions(turn.request, tools),
    ...shown.map((exchange) => describeExchange(exchange, shown.length)),
    ...[...new Set(leftOut)].map((tool) => `I did not go on to ${shownName(tool)}: it builds on something that did not come.`),
    ...(notReached.length > 0 ? [`I did not get to ${joined([...new Set(notReached)].map(shownName))} in this turn.`] : []),
    ...questions.map(({ tool, missing }) => askFor(tool, missing)),
  ]
  const { attachments } = turn
  const note = `I cannot look at attachments (${clip(attachments.join(', '), 100)}); I went by your words.`
  return [...(parts.length > 0 ? parts : [smallTalk(turn, tools)]), ...(attachments.length > 0 ? [note] : [])].join('\n\n')
}

const joined = (names: readonly string[]): string =>
  [names.slice(0, -1).join(', '), names.at(-1)].filter((part) => part !== '').join(' and ')

const isSameCall = (one: Exchange, other: Exchange): boolean => one.tool === other.tool && shownInput(one) === shownInput(other)

function describeExchange(exchange: Exchange, count: number): string {
  const input = shownInput(exchange)
  const call = input === '' ? shownName(exchange.tool) : `${shownName(exchange.tool)} (${input})`
  if (!exchange.ok) return `${call} failed: ${clip(failureText(exchange), 400)}`
  return `From ${call}:\n${renderResult(exchange, count === 1 ? { characters: 4000, lines: 60 } : { characters: 1200, lines: 20 })}`
}

function shownName(tool: string): string {
  const agent = agentName(tool)
  return agent === undefined ? tool : `the agent ${agent}`
}

const maxShownFields = 5

function shownInput({ input }: Exchange): string {
  const firstLine = (text: string): string => text.slice(0, 500).split('\n', 1)[0] ?? ''
  return Object.entries(input)
    .filter(([name]) => name !== 'reason' && name !== 'call_reason')
    .slice(0, maxShownFields)
    .map(([name, value]) => `${name}: ${clip(typeof value === 'string' ? firstLine(value) : JSON.stringify(value ?? null), 40)}`)
    .join(', ')
}

const greeting = /^\s*(?:hello|hi|hey|good (?:morning|afternoon|evening|day)|how are you|how do you do|how is it going)\b/i
const thanks = /^\s*(?:thanks?|thank you|cheers)\b/i
const approval = /^\s*(?:great|perfect|nice|cool|ok(?:ay)?|bye|goodbye)\b/i
const capabilities = /\b(?:what can (?:you|i) do|what do you do|who are you|what are you|how (?:do|does) (?:you|this|it) work|help)\b/i

/** The answer to a request that no tool was called for. */
function smallTalk({ request, attachments }: Turn, tools: readonly ToolSpec[]): string {
  const isShort = request.trim().length < 80
  if (isShort && callOff.test(request)) return 'All right, I leave it.'
  if (isShort && thanks.test(request)) return 'You are welcome.'
  if (isShort && approval.test(request)) return 'Good. Ask for something else whenever you like.'
  if (request.trim() === '' && attachments.length === 0) return 'There was nothing to read.'
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

const maxListed = 12

function menu(tools: readonly ToolSpec[]): readonly string[] {
  const firstSentence = (text: string): string => /^[\s\S]{1,200}?[.!?](?=\s|$)/.exec(text)?.[0] ?? text
  const listed = tools.slice(0, maxListed).map(({ name, description }) => `- ${name}: ${clip(firstSentence(description), 90)}`)
  const rest = tools.length > maxListed ? [`- … and ${tools.length - maxListed} more`] : []
  // The example is for the tool with the fewest required fields, but more than one.
  const rank = ({ inputSchema }: ToolSpec): number => (namesIn(inputSchema.required).length <= 1 ? 9 : namesIn(inputSchema.required).length)
  const [first] = tools.toSorted((a, b) => rank(a) - rank(b))
  return [['What I can use:', ...listed, ...rest].join('\n'), ...(first ? [`Try: “${exampleRequest(first)}”`] : [])]
}

function withoutTools(request: string): string {
  const given = /^[^:\n]{0,100}:\s*([\s\S]*)/.exec(request)?.[1] ?? request
  const sentences = given.slice(0, 20_000).match(/[^.!?\n]{2,400}[.!?]+/g) ?? []
  const wantsSummary = readWords(request.slice(0, 500)).some((word) => conceptsOf(word.stem).some((each) => summary.includes(each)))
  if (wantsSummary && sentences.length > 3)
    return `I cannot summarise, but this is how it begins: ${clip(sentences.slice(0, 3).join(' '), 500).replace(/ …$/, '')} …`
  return `I read ${quoted(request)}. I have no tools here, and without an LLM I cannot answer that myself.`
}
const summary = conceptsOf(stem('summarise'))

const commonWords = new Set(
  'a the you are what how to for my me of and can please it with this that from make get find show list i do'.split(' '),
)
const latin = /^[\p{Script=Latin}\p{N}\p{M}_'’-]+$/u

/** A guess: a longer request without any of the most common words is in another language. */
function isEnglish(text: string): boolean {
  const words = readWords(text.slice(0, 1000)).filter(({ kind }) => kind === 'word')
  return words.length < 4 ? words.every(({ text: word }) => latin.test(word)) : words.some(({ lower }) => commonWords.has(lower))
}
