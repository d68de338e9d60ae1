import type { JsonObject, ModelRequest, ToolSpec } from '../../contracts/index.ts'
import { canonicalJson } from '../../util/json-values.ts'
import { chooseTool, type KnownTool, knownTool } from './choose-tool.ts'
import { fillInput } from './fill-input.ts'
import { type Conversation, type Exchange, readConversation, returnControl, type Turn } from './read-conversation.ts'
import { clip, readWords } from './read-words.ts'

interface PlannedCall {
  readonly tool: ToolSpec
  readonly input: JsonObject
}

/** A tool that was asked for, and the required fields that the request does not fill. */
export interface Missing {
  readonly tool: string
  readonly fields: readonly string[]
}

export interface AnswerMove {
  readonly kind: 'answer'
  readonly turn: Turn
  readonly missing: readonly Missing[]
  /** Tools that were not called: no step was left, or a call before them failed. */
  readonly leftOut: readonly string[]
}

type Move = { readonly kind: 'call'; readonly calls: readonly PlannedCall[] } | AnswerMove

const maxSteps = 4
const maxCalls = 6

/** What to do next: the next step of what the words of the turn ask for, or the answer. */
export function planMove({ messages, tools: specs, toolChoice }: Pick<ModelRequest, 'messages' | 'tools' | 'toolChoice'>): Move {
  const conversation = readConversation(messages)
  const { turn } = conversation
  const mayCall = toolChoice === 'auto' && turn.steps.length < maxSteps && !turn.isRefused && !conversation.isShortened
  const back = specs.find(({ name }) => name === returnControl)
  if (back && mayCall && asksToLeave(turn)) return { kind: 'call', calls: [{ tool: back, input: { report: leavingReport(conversation) } }] }
  const known = specs.filter(({ name }) => name !== returnControl).map(knownTool)
  const missing: Missing[] = []
  const leftOut: string[] = []
  const made = new Set<string>()
  let done = 0
  for (const steps of plannedSteps(conversation, known)) {
    let results: readonly string[] = []
    let hasFailed = false
    // The steps that were made are those of the turn, in order: each is planned again, and the first other one is next.
    for (const step of steps) {
      const calls: readonly PlannedCall[] = hasFailed ? [] : callsOf(step, { results, missing, made })
      const exchanges: readonly Exchange[] | undefined = calls.length > 0 ? turn.steps[done] : undefined
      if (calls.length > 0 && !exchanges && mayCall) return { kind: 'call', calls }
      if (exchanges) {
        done += 1
        results = exchanges.filter(({ ok }) => ok).map(resultText)
        hasFailed = exchanges.some(({ ok }) => !ok)
      } else if (hasFailed || calls.length > 0) {
        leftOut.push(...step.map(({ tool }) => tool.spec.name))
        hasFailed = true
      }
    }
  }
  return { kind: 'answer', turn, missing, leftOut: turn.isRefused ? [] : leftOut }
}

interface Planning {
  readonly results: readonly string[]
  readonly missing: Missing[]
  readonly made: Set<string>
}

function callsOf(step: readonly Clause[], { results, missing, made }: Planning): readonly PlannedCall[] {
  const calls: PlannedCall[] = []
  for (const { tool, text, spent } of step.slice(0, maxCalls)) {
    const filled = fillInput(tool, { text, spent, results })
    const { spec, reasonField } = tool
    if (filled.kind === 'missing') missing.push({ tool: spec.name, fields: filled.fields })
    else if (!made.has(`${spec.name} ${canonicalJson(filled.input)}`)) {
      made.add(`${spec.name} ${canonicalJson(filled.input)}`)
      const reason = reasonField === undefined ? {} : { [reasonField]: `Asked for: ${clip(text, 70)}` }
      calls.push({ tool: spec, input: { ...filled.input, ...reason } })
    }
  }
  return calls
}

/** A result without the label of a rehearsal that it may come from. */
export const resultText = ({ content }: Exchange): string => content.replace(label, '').trim()

/** At the end of every answer. */
export const label = '(rehearsal: rules, no LLM)'

const leaving = [
  /^\/(?:back|return|exit|quit)\b/,
  /^(?:please )?(?:(?:go|take me|bring me|send me|let me go|i want to go) )?back(?: to (?:the |my )?\w+)?(?: please)?\W*$/,
  /\b(?:return|back|switch|talk|speak) to (?:the |my )?(?:assistant|orchestrator)\b/,
  /^(?:i am |i'm |we are |we're )?(?:done|finished)\W*$/,
  /^(?:that is|that's) (?:all|it)\b.{0,30}$/,
  /^(?:bye|goodbye|exit|quit|stop|leave|never ?mind|cancel)\b.{0,30}$/,
]

/** Whether the last message of a turn asks to leave a conversation that was handed over. */
function asksToLeave({ requests, steps }: Turn): boolean {
  const text = requests.at(-1)?.trim().toLowerCase().slice(0, 200) ?? ''
  // A call that failed is not made again.
  const hasTried = steps.flat().some(({ tool }) => tool === returnControl)
  return !hasTried && leaving.some((pattern) => pattern.test(text))
}

function leavingReport({ earlier, turn }: Conversation): string {
  const results = [...earlier, turn].flatMap(({ steps }) => steps.flat()).filter(({ ok }) => ok)
  const last = results.at(-1)
  return ['The person ended the conversation.', ...(last ? [`Last result: ${clip(resultText(last), 1_000)}`] : [])].join(' ')
}

interface Clause {
  readonly text: string
  readonly tool: KnownTool
  /** Positions of the words that named it. */
  readonly spent: ReadonlySet<number>
}

type Steps = readonly (readonly Clause[])[]

const sequels = /[\s,;.]+(?:and then|then|after that|afterwards)[\s,]+/i
const links = /(?<=[.!?;])\s+|\n+|,?\s+and\s+|,\s+/gi
const maxRead = 8_000

/** What the person asks for, by message, in steps: "then" begins one. */
function plannedSteps({ turn, earlier, wasShortened }: Conversation, tools: readonly KnownTool[]): readonly Steps[] {
  return turn.requests.map((said, index) => {
    const text = index === 0 && clausesIn(said.slice(0, maxRead), tools).length === 0 ? withQuestions(said, earlier) : said
    if (text.trim().startsWith('/')) return []
    const allowed = tools.filter((tool) => !isForLater(tool) || (!wasShortened && !cameBack(text, tool, earlier)))
    // After a colon comes a text to pass on: it chooses no tool.
    const head = text.slice(0, Math.min(/:\s/.exec(text.slice(0, maxRead))?.index ?? text.length, maxRead))
    const steps: Clause[][] = []
    for (const part of head.split(sequels)) {
      const clauses = clausesIn(part, allowed)
      const last = steps.at(-1)?.at(-1)
      if (clauses.length > 0) steps.push([...clauses])
      else if (last) steps.at(-1)?.splice(-1, 1, { ...last, text: `${last.text}, then ${part}` })
    }
    const last = steps.at(-1)?.at(-1)
    if (last) steps.at(-1)?.splice(-1, 1, { ...last, text: last.text + text.slice(head.length) })
    return steps
  })
}

const maxQuestions = 3

/** A reply to questions for missing fields is read together with the requests before them. */
function withQuestions(text: string, earlier: readonly Turn[]): string {
  const first = earlier.findLastIndex(({ answer }) => !answer?.includes(needs)) + 1
  const open = earlier.slice(Math.max(first, earlier.length - maxQuestions))
  return [...open.flatMap(({ requests }) => requests), text].join(' ')
}
/** Begins the sentence that asks for missing fields. */
export const needs = 'I need more for '

/** Schedules and reminders: what they are given comes back as a request. */
function isForLater({ spec }: KnownTool): boolean {
  return /schedul|remind|timer|alarm|cron/i.test(`${spec.name} ${spec.description}`)
}

/** Whether an earlier call of the tool was given this text. */
function cameBack(text: string, { spec }: KnownTool, earlier: readonly Turn[]): boolean {
  const inputs = earlier.flatMap(({ steps }) => steps.flat()).flatMap(({ tool, input }) => (tool === spec.name ? Object.values(input) : []))
  return inputs.some((value) => typeof value === 'string' && value.length > 3 && (text.includes(value) || value.includes(text.trim())))
}

/** Parts that choose no tool belong to the clause before them, at the beginning to the first. */
function clausesIn(text: string, tools: readonly KnownTool[]): readonly Clause[] {
  const starts = [0, ...[...text.matchAll(links)].map((match) => match.index + match[0].length)]
  const chosen = starts.flatMap((start, at) => {
    const choice = chooseTool(readWords(text.slice(start, starts[at + 1])), tools)
    return choice ? [{ ...choice, start }] : []
  })
  const distinct = chosen.filter(({ tool }, at) => tool !== chosen[at - 1]?.tool)
  return distinct.map(({ tool, spent, start }, at) => {
    const from = at === 0 ? 0 : start
    const words = text.slice(from, distinct[at + 1]?.start).replace(/[\s,]+(?:and\s*)?$/i, '')
    return { tool, text: words, spent: new Set([...spent].map((word) => word.start + start - from)) }
  })
}
