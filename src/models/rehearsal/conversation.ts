import { isProjectText, type JsonObject, type Message } from '../../contracts/index.ts'
import { parseJsonObject } from '../../util/json-object.ts'

/** A call and what came back. Without a result it was cut off. */
export interface Exchange {
  readonly tool: string
  readonly input: JsonObject
  readonly ok: boolean
  readonly content: string
}

/** What a person asked, what was done about it, and the answer if there was one. */
export interface Turn {
  readonly request: string
  readonly attachments: readonly string[]
  readonly exchanges: readonly Exchange[]
  /** Replies with calls. */
  readonly steps: number
  readonly answer: string | undefined
  /** How often the answer was sent back because it did not fit. */
  readonly rejections: number
}

/** A request that takes back the one before it. */
export const callOff = /^\s*(?:never ?mind|cancel|forget it|stop|leave it|no,? thanks?)\b/i

type Draft = { -readonly [K in keyof Turn]: Turn[K] } & { exchanges: Exchange[]; attachments: string[] }

/** The loop speaks to its model as a user too. These two are its words, not the person's; files of the project speak, too. */
const lastStep = /Answer now with what you have; tools are switched off\.$/
const complaint = /^Your answer does not fit: /

/** The turns of a conversation, from its messages alone. A message that comes while calls are made joins the request. */
export function readConversation(messages: readonly Message[]): readonly Turn[] {
  const turns: Draft[] = []
  for (const message of messages) {
    if (message.role === 'user') hear(turns, message.parts)
    else if (message.role === 'assistant') speak(turns, message.parts)
    else for (const result of message.results) settle(turns, result)
  }
  return turns
}

function hear(turns: Draft[], parts: Extract<Message, { role: 'user' }>['parts']): void {
  const text = parts.flatMap((part) => (part.type === 'text' ? [part.text] : [])).join('\n')
  const attachments = parts.flatMap((part) => (part.type === 'text' ? [] : [part.type === 'file' ? (part.name ?? 'a file') : 'an image']))
  const turn = turns.at(-1)
  if (isProjectText(text) || (turn && lastStep.test(text))) return
  if (turn && turn.answer !== undefined && complaint.test(text)) {
    turn.rejections += 1
    turn.answer = undefined
  } else if (turn && turn.answer === undefined && !turn.exchanges.some(wasCancelled)) {
    turn.request = `${turn.request}\n${text}`
    turn.attachments.push(...attachments)
  } else turns.push({ ...emptyTurn(), request: text, attachments })
}

const wasCancelled = ({ ok, content }: Exchange): boolean => !ok && content.startsWith('Error (cancelled)')

function speak(turns: Draft[], parts: Extract<Message, { role: 'assistant' }>['parts']): void {
  const turn = turns.at(-1) ?? emptyTurn()
  if (turns.length === 0) turns.push(turn)
  const calls = parts.flatMap((part) => (part.type === 'call' ? [part] : []))
  if (calls.length === 0) {
    turn.answer = parts.flatMap((part) => (part.type === 'text' ? [part.text] : [])).join('')
    return
  }
  turn.steps += 1
  for (const { name, input } of calls) turn.exchanges.push({ tool: name, input: parseJsonObject(input) ?? {}, ok: false, content: '' })
}

/** Results come in the order of their calls, so the first call of that name without one is meant. */
function settle(turns: Draft[], { name, ok, content }: { name: string; ok: boolean; content: string }): void {
  const exchanges = turns.at(-1)?.exchanges ?? []
  const at = exchanges.findIndex((each) => each.tool === name && each.content === '' && !each.ok)
  const open = exchanges[at]
  if (open) exchanges[at] = { ...open, ok, content: content === '' ? noContent : content }
}

/** Stands for a result that came and said nothing. */
const noContent = '(nothing)'

export function emptyTurn(): Draft {
  return { request: '', attachments: [], exchanges: [], steps: 0, answer: undefined, rejections: 0 }
}
