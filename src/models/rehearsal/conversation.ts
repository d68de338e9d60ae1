import { invalidAnswerPrefix, isProjectText, type JsonObject, lastStepInstruction, type Message } from '../../contracts/index.ts'
import { parseJsonObject } from '../../util/json-values.ts'

/** A call and its result. Without a result it was cut off. */
export interface Exchange {
  readonly tool: string
  readonly input: JsonObject
  readonly ok: boolean
  readonly content: string
}

/** A request of a person, the calls that were made for it, and the answer if there was one. */
export interface Turn {
  readonly request: string
  readonly attachments: readonly string[]
  readonly exchanges: readonly Exchange[]
  /** Replies with calls. */
  readonly steps: number
  readonly answer: string | undefined
  /** How often the answer was rejected because it did not fit its schema. */
  readonly rejections: number
}

/** A request that takes back the one before it. */
export const callOff = /^\s*(?:never ?mind|cancel|forget it|stop|leave it|no,? thanks?)\b/i

type Draft = { -readonly [K in keyof Turn]: Turn[K] } & { exchanges: Exchange[]; attachments: string[] }

/** The turns of a conversation, from its messages alone. A message that arrives between calls joins the request. */
export function readConversation(messages: readonly Message[]): readonly Turn[] {
  const turns: Draft[] = []
  for (const message of messages) {
    if (message.role === 'user') addRequest(turns, message.parts)
    else if (message.role === 'assistant') addReply(turns, message.parts)
    else for (const result of message.results) addResult(turns.at(-1)?.exchanges ?? [], result)
  }
  return turns
}

function addRequest(turns: Draft[], parts: Extract<Message, { role: 'user' }>['parts']): void {
  const text = parts.flatMap((part) => (part.type === 'text' ? [part.text] : [])).join('\n')
  const attachments = parts.flatMap((part) => (part.type === 'text' ? [] : [part.type === 'file' ? (part.name ?? 'a file') : 'an image']))
  const turn = turns.at(-1)
  const wasCancelled = turn?.exchanges.some(({ ok, content }) => !ok && content.startsWith('Error (cancelled)'))
  // Notices of the loop and texts of project files are user messages, too.
  if (isProjectText(text) || (turn && text.endsWith(lastStepInstruction))) return
  if (turn && turn.answer !== undefined && text.startsWith(invalidAnswerPrefix)) {
    turn.rejections += 1
    turn.answer = undefined
  } else if (turn && turn.answer === undefined && !wasCancelled) {
    turn.request = `${turn.request}\n${text}`
    turn.attachments.push(...attachments)
  } else turns.push({ ...emptyTurn(), request: text, attachments })
}

function addReply(turns: Draft[], parts: Extract<Message, { role: 'assistant' }>['parts']): void {
  if (turns.length === 0) turns.push(emptyTurn())
  const turn = turns.at(-1) as Draft
  const calls = parts.flatMap((part) => (part.type === 'call' ? [part] : []))
  if (calls.length === 0) turn.answer = parts.flatMap((part) => (part.type === 'text' ? [part.text] : [])).join('')
  else turn.steps += 1
  for (const { name, input } of calls) turn.exchanges.push({ tool: name, input: parseJsonObject(input) ?? {}, ok: false, content: '' })
}

/** Results come in the order of their calls: it belongs to the first call of that name without one. */
function addResult(exchanges: Exchange[], { name, ok, content }: { name: string; ok: boolean; content: string }): void {
  const at = exchanges.findIndex((each) => each.tool === name && each.content === '' && !each.ok)
  const open = exchanges[at]
  if (open) exchanges[at] = { ...open, ok, content: content === '' ? '(nothing)' : content }
}

export function emptyTurn(): Draft {
  return { request: '', attachments: [], exchanges: [], steps: 0, answer: undefined, rejections: 0 }
}
