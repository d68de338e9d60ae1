import type { BlobId, Diagnostic, Message, ModelRequest } from '../../contracts/index.ts'
import { fitText, utf8Length } from '../../util/fit-text.ts'
import { cutText, wellFormed } from '../../util/well-formed.ts'
import { type Effects, effectsIn, fitEffects } from '../calls/effects.ts'
import { storeText } from '../calls/tool-output.ts'
import type { ActiveSession } from '../loop/active-session.ts'
import { reportOnce } from '../loop/report-once.ts'
import { compactionMessage, planText, summaryPrompt } from './compaction-texts.ts'
import { charsOf, startOfNewest, startOfUnread, withShorterResults } from './fit-messages.ts'
import { digest, transcript } from './transcript.ts'

// Makes the history shorter, so that a long turn can go on. What was asked, the plan and what was done stay word for
// word; the rest is summed up, and kept as a whole where `read_output` finds it.

/** The part of a window that a request is to take afterwards: what is free up to there is shared out. */
const targetShare = 0.5
const shares = { newest: 0.5, effects: 0.2, summary: 0.3 } as const
/** Shared out, whatever is free. */
const minRoom = 2_000
/** Of a window that is not known. */
const defaultWindowTokens = 100_000
/** A history is shorter when it takes at most this part of what it took. */
const maxRemainingShare = 0.95
/** The part of a window that a request for a summary may take. */
const maxSummaryRequestShare = 0.85

/** `summary` is what the model said; without one the history is shortened by rule. */
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
  if (summary === undefined) reportOnce(session, byRule)
  if (!isShorter) reportOnce(session, noRoom)
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

/** Asks for a summary in place of the next step: the same beginning, so that it costs little where the provider keeps one. */
export function summaryRequest(session: ActiveSession, { output: _, ...request }: ModelRequest): ModelRequest {
  const asked: Message = { role: 'user', parts: [{ type: 'text', text: summaryPrompt }] }
  const room = windowChars(session) * maxSummaryRequestShare - session.state.promptChars - summaryPrompt.length
  return { ...request, messages: [...fitForSummary(session, request.messages, room), asked], toolChoice: 'none' }
}

/** A history that has outgrown the window cannot be read to be summed up: results are cut, and then the oldest left out. */
function fitForSummary({ turn }: ActiveSession, messages: readonly Message[], room: number): readonly Message[] {
  if (charsOf(messages) <= room) return messages
  const cut = withShorterResults(messages, room, (content, most) => `${cutText(content, most)}\n… the rest is left out here …`)
  if (charsOf(cut) <= room) return cut
  const newest = cut.slice(startOfNewest(cut, room - charsOf(turn.goal)))
  return [...missingFrom(newest, turn.goal), ...newest]
}

interface Room {
  readonly newest: number
  readonly effects: number
  readonly summary: number
}

/** Characters for what can be made shorter, beside what cannot. */
function roomOf(session: ActiveSession): Room {
  const { state, turn } = session
  const plan = turn.plan ? planText(turn.plan.plan).length : 0
  const fixed = state.promptChars + charsOf(state.initialMessages) + charsOf(turn.goal) + plan
  const free = Math.max(minRoom, windowChars(session) * targetShare - fixed)
  return { newest: free * shares.newest, effects: free * shares.effects, summary: free * shares.summary }
}

function windowChars({ state }: ActiveSession): number {
  const windows = state.agent.models.flatMap((model) => state.windows[model] ?? [])
  return (windows.length > 0 ? Math.min(...windows) : defaultWindowTokens) * state.charsPerToken
}

interface Kept {
  /** The newest messages: as they are, or with results that the model has not seen cut to what there is room for. */
  readonly messages: readonly Message[]
  readonly isCut: boolean
  readonly dropped: readonly Message[]
  /** Where everything that was dropped or cut can be read. */
  readonly handle: BlobId
  readonly bytes: number
}

/** What the model has not seen yet is cut rather than dropped. */
async function keepNewest(session: ActiveSession, messages: readonly Message[], room: number): Promise<Kept> {
  const start = startOfNewest(messages, room, Math.max(1, session.state.compacted.carried.length))
  const calls = startOfUnread(messages)
  const isCut = calls < start
  const whole = transcript(isCut ? messages : messages.slice(0, start))
  const handle = await storeText(session, whole)
  const bytes = utf8Length(whole)
  if (isCut) {
    const cut = withShorterResults(messages.slice(calls), room, (content, most) => fitText(content, { maxBytes: most, handle }))
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

/** What is not there already, word for word. */
function missingFrom(messages: readonly Message[], wanted: readonly Message[]): readonly Message[] {
  const there = new Set(messages.flatMap((message) => (message.role === 'user' ? [JSON.stringify(message)] : [])))
  return there.size === 0 ? wanted : wanted.filter((message) => !there.has(JSON.stringify(message)))
}

/** Only a model that has tools can be told where to read on. */
const canReadStoredText = (session: ActiveSession): boolean =>
  session.state.tools.length > 0 && session.state.agent.models.some((name) => session.model(name).abilities.includes('tools'))

/** What is too long loses its beginning: what comes next stands at the end. */
const endOf = (text: string, most: number): string => (text.length > most ? `…${wellFormed(text.slice(-most))}` : text)

/** For a model that is made to answer because there is no room, whatever was tried. */
export const reportNoRoom = (session: ActiveSession): void => reportOnce(session, noRoom)

const byRule: Diagnostic = {
  code: 'compaction_failed',
  severity: 'warning',
  message: 'No model summed up the conversation before it was shortened; it was done by rule.',
  remedy: 'What was left out is kept, and can be read with read_output.',
}
const noRoom: Diagnostic = {
  code: 'compaction_poor',
  severity: 'warning',
  message: 'The conversation could not be made shorter, or fills up again at once.',
  remedy: 'Take a model with a larger window, or ask for less at once.',
}
