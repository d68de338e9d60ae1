import {
  compactionPrefix,
  invalidAnswerPrefix,
  isProjectText,
  type JsonObject,
  lastStepInstruction,
  type Message,
} from '../../contracts/index.ts'
import { parseJsonObject } from '../../util/json-values.ts'
import { textOfParts } from '../../util/text-of-parts.ts'

/** A call and its result. Without a result it was cut off. */
export interface Exchange {
  readonly tool: string
  readonly input: JsonObject
  readonly ok: boolean
  readonly content: string
}

/** What a person asks for, and the calls that were made for it. */
export interface Turn {
  /** Messages that arrive while calls run belong to the same turn. */
  readonly requests: readonly string[]
  readonly attachments: readonly string[]
  /** The calls, by reply. */
  readonly steps: readonly (readonly Exchange[])[]
  /** Reports of spawned children that arrived as messages. */
  readonly reports: readonly Exchange[]
  readonly answer: string | undefined
  /** Whether the answer was refused because it did not fit its schema. */
  readonly isRefused: boolean
}

export interface Conversation {
  readonly turn: Turn
  /** The turns before it, oldest first. */
  readonly earlier: readonly Turn[]
  /** Whether the history was shortened and nothing was answered since: calls of this turn may be missing. */
  readonly isShortened: boolean
  /** Whether calls of earlier turns may be missing. */
  readonly wasShortened: boolean
}

type Draft = { -readonly [K in keyof Omit<Turn, 'steps'>]: Turn[K] } & {
  requests: string[]
  attachments: string[]
  steps: Exchange[][]
  reports: Exchange[]
}

const emptyTurn = (): Draft => ({ requests: [], attachments: [], steps: [], reports: [], answer: undefined, isRefused: false })

/** The turns of a conversation, from its messages alone. */
export function readConversation(messages: readonly Message[]): Conversation {
  const turns: Draft[] = []
  let isShortened = false
  let wasShortened = false
  for (const message of messages) {
    if (message.role === 'assistant') {
      addReply(turns, message.parts)
      if (turns.at(-1)?.answer !== undefined) isShortened = false
    } else if (message.role === 'tool') {
      for (const result of message.results) addResult(turns.at(-1), result)
    } else if (textOfParts(message.parts).startsWith(compactionPrefix)) isShortened = wasShortened = true
    else addRequest(turns, message.parts)
  }
  return { turn: turns.at(-1) ?? emptyTurn(), earlier: turns.slice(0, -1), isShortened, wasShortened }
}

/** `[scout: completed]`, then what it reports. */
const childReport = /^\[([^\]\n]{1,100}): (completed|partial|failed|interrupted|suspended)\]\s*/

function addRequest(turns: Draft[], parts: Extract<Message, { role: 'user' }>['parts']): void {
  const text = textOfParts(parts)
  if (isProjectText(text) || text.endsWith(lastStepInstruction)) return
  const last = turns.at(-1)
  if (last?.answer !== undefined && text.startsWith(invalidAnswerPrefix)) {
    last.isRefused = true
    last.answer = undefined
    return
  }
  const wasCancelled = last?.steps.flat().some(({ ok, content }) => !ok && content.startsWith('Error (cancelled)'))
  const turn = last && last.answer === undefined && !wasCancelled ? last : emptyTurn()
  if (turn !== last) turns.push(turn)
  const report = childReport.exec(text)
  if (report) {
    const [head, tool = '', status] = report
    turn.reports.push({ tool, input: {}, ok: status === 'completed' || status === 'partial', content: text.slice(head.length) })
    return
  }
  turn.requests.push(text)
  for (const part of parts) if (part.type !== 'text') turn.attachments.push(part.type === 'file' ? (part.name ?? 'a file') : 'an image')
}

function addReply(turns: Draft[], parts: Extract<Message, { role: 'assistant' }>['parts']): void {
  if (turns.length === 0) turns.push(emptyTurn())
  const turn = turns.at(-1) as Draft
  const calls = parts.flatMap((part) => (part.type === 'call' ? [part] : []))
  if (calls.length === 0) turn.answer = textOfParts(parts)
  else turn.steps.push(calls.map(({ name, input }) => ({ tool: name, input: parseJsonObject(input) ?? {}, ok: false, content: '' })))
}

/** Ends a conversation that was handed over, and the turn. */
export const returnControl = 'return_control'

/** Results come in the order of their calls: it belongs to the first call of that name without one. */
function addResult(turn: Draft | undefined, { name, ok, content }: { name: string; ok: boolean; content: string }): void {
  const step = turn?.steps.at(-1) ?? []
  const at = step.findIndex((each) => each.tool === name && each.content === '' && !each.ok)
  const open = step[at]
  if (open) step[at] = { ...open, ok, content: content === '' ? '(nothing)' : content }
  if (turn && ok && name === returnControl) turn.answer = content
}
