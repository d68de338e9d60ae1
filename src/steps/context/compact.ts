import type { BlobId, Diagnostic, Message, ModelRequest } from '../../contracts/index.ts'
import type { OpenTurn, SessionState } from '../../core/index.ts'
import { fitText, utf8Length } from '../../util/fit-text.ts'
import { cutText, wellFormed } from '../../util/well-formed.ts'
import { storeText } from '../output/call-output.ts'
import type { ActiveSession } from '../session/active-session.ts'
import { compactionMessage, planText, summaryPrompt } from './compaction-texts.ts'
import { type Effects, effectsIn, fitEffects } from './effects.ts'
import { charsOf, startOfNewest, startOfUnread, withShorterResults } from './fit-messages.ts'
import { digest, transcript } from './transcript.ts'

// Shortens the history, so that a long turn can continue. The task, the plan and the list of calls with effects stay word for
// word. The rest is summarised; `read_output` reads the full text.

/** Share of the context window for a request after compaction. */
const targetShare = 0.5
const shares = { newest: 0.5, effects: 0.2, summary: 0.3 } as const
const minRoom = 2_000
const defaultWindowTokens = 100_000
/** A compaction that leaves a larger share of the history is discarded. */
const maxRemainingShare = 0.95
/** Share of the context window for a request for a summary. */
const maxSummaryRequestShare = 0.85

/** `summary`: of the model. Without one the history is shortened by rule. */
export async function compact(session: ActiveSession, summary?: string): Promise<void> {
  const { state, turn } = session
  const messages = state.history.toArray()
  const room = roomOf(session)
  const tail = await keepNewest(session, messages, room.newest)
  const effects = await collectEffects(session, tail.dropped, room.effects)
  const earlier = state.compacted.carried.summary
  const known = summary ?? [...(earlier === '' ? [] : [earlier]), digest(tail.dropped)].join('\n')
  const carried = { ...effects, summary: endOf(known, room.summary) }
  const handle = canReadStoredText(session) ? tail.handle : undefined
  const inPlace = compactionMessage({ carried, plan: turn.plan?.plan, handle })
  const head = [...missingFrom(tail.messages, [...state.initialMessages, ...turn.goal]), inPlace]
  const before = charsOf(messages)
  const after = charsOf([...head, ...tail.messages])
  const isShorter = after <= before * maxRemainingShare
  if (summary === undefined) session.reportOnce(byRule)
  if (!isShorter) session.reportOnce(noRoom)
  const shorter = {
    messages: tail.isCut ? [...head, ...tail.messages] : head,
    kept: tail.isCut ? 0 : tail.messages.length,
    output: { handle: tail.handle, bytes: tail.bytes },
  }
  const tokens = (chars: number): number => Math.ceil(chars / state.charsPerToken)
  session.note({
    type: 'interaction.context.compacted',
    ...(isShorter ? shorter : { messages: [], kept: messages.length }),
    carried: isShorter ? { ...carried, length: head.length } : state.compacted.carried,
    tokensBefore: tokens(before),
    tokensAfter: tokens(isShorter ? after : before),
  })
}

/** A session at the start of the step that asks for a summary. */
interface ToSummarise {
  readonly state: SessionState
  readonly turn: OpenTurn
}

/** A request for a summary. It begins like the other requests, so that the prompt cache of the provider applies. */
export function summaryRequest(session: ToSummarise, { output: _, ...request }: ModelRequest): ModelRequest {
  const asked: Message = { role: 'user', parts: [{ type: 'text', text: summaryPrompt }] }
  const room = windowChars(session) * maxSummaryRequestShare - session.state.promptChars - summaryPrompt.length
  return { ...request, messages: [...fitForSummary(session, request.messages, room), asked], toolChoice: 'none' }
}

/** Cuts results, then drops the oldest messages, until the request for a summary fits the context window. */
function fitForSummary({ turn }: ToSummarise, messages: readonly Message[], room: number): readonly Message[] {
  if (charsOf(messages) <= room) return messages
  const cut = withShorterResults(messages, room, (content, max) => `${cutText(content, max)}\n… the rest is omitted …`)
  if (charsOf(cut) <= room) return cut
  const newest = cut.slice(startOfNewest(cut, room - charsOf(turn.goal)))
  return [...missingFrom(newest, turn.goal), ...newest]
}

interface Room {
  readonly newest: number
  readonly effects: number
  readonly summary: number
}

/** Characters for each part that can be shortened. */
function roomOf(session: ActiveSession): Room {
  const { state, turn } = session
  const plan = turn.plan ? planText(turn.plan.plan).length : 0
  const fixed = state.promptChars + charsOf(state.initialMessages) + charsOf(turn.goal) + plan
  const free = Math.max(minRoom, windowChars(session) * targetShare - fixed)
  return { newest: free * shares.newest, effects: free * shares.effects, summary: free * shares.summary }
}

function windowChars({ state }: Pick<ToSummarise, 'state'>): number {
  const windows = state.agent.models.flatMap((model) => state.windows[model] ?? [])
  return (windows.length > 0 ? Math.min(...windows) : defaultWindowTokens) * state.charsPerToken
}

interface Kept {
  /** The newest messages, possibly with unread results cut. */
  readonly messages: readonly Message[]
  readonly isCut: boolean
  readonly dropped: readonly Message[]
  /** The handle of the stored text of everything that was dropped or cut. */
  readonly handle: BlobId
  readonly bytes: number
}

/** Results that the model has not read yet are cut, not dropped. */
async function keepNewest(session: ActiveSession, messages: readonly Message[], room: number): Promise<Kept> {
  const start = startOfNewest(messages, room, Math.max(1, session.state.compacted.carried.length))
  const calls = startOfUnread(messages)
  const isCut = calls < start
  const whole = transcript(isCut ? messages : messages.slice(0, start))
  const handle = await storeText(session, whole)
  const bytes = utf8Length(whole)
  if (isCut) {
    const cut = withShorterResults(messages.slice(calls), room, (content, maxBytes) => fitText(content, { maxBytes, handle }))
    if (charsOf(cut) <= room * 2) return { messages: cut, isCut, dropped: messages.slice(0, calls), handle, bytes }
  }
  return { messages: messages.slice(start), isCut: false, dropped: messages.slice(0, start), handle, bytes }
}

function collectEffects(session: ActiveSession, dropped: readonly Message[], room: number): Promise<Effects> {
  const { treeId, compacted } = session.state
  const { bundles, lines } = compacted.carried
  const done = effectsIn(dropped, (name) => session.toolOf(name)?.effect ?? 'write')
  return fitEffects({ bundles, lines: [...lines, ...done] }, room, {
    put: (text) => storeText(session, text),
    get: (handle) => session.ports.blobs.get(treeId, handle),
  })
}

/** Those of `wanted` that `messages` does not contain. */
function missingFrom(messages: readonly Message[], wanted: readonly Message[]): readonly Message[] {
  const there = new Set(messages.flatMap((message) => (message.role === 'user' ? [JSON.stringify(message)] : [])))
  return there.size === 0 ? wanted : wanted.filter((message) => !there.has(JSON.stringify(message)))
}

/** Only a model with tools can read stored text. */
const canReadStoredText = (session: ActiveSession): boolean =>
  session.state.tools.length > 0 && session.state.agent.models.some((name) => session.model(name).abilities.includes('tools'))

/** Cuts the beginning: the next steps are at the end. */
const endOf = (text: string, max: number): string => (text.length > max ? `…${wellFormed(text.slice(-max))}` : text)

/** For a last step because the context window is full. */
export const reportNoRoom = (session: ActiveSession): void => session.reportOnce(noRoom)

const byRule: Diagnostic = {
  code: 'compaction_failed',
  severity: 'warning',
  message: 'The conversation was shortened by rule: no model summarised it.',
  remedy: 'The full text is stored; read_output reads it.',
}
const noRoom: Diagnostic = {
  code: 'compaction_poor',
  severity: 'warning',
  message: 'The conversation could not be shortened, or fills the context window again immediately.',
  remedy: 'Use a model with a larger window, or ask for less in one turn.',
}
