import type { Usage } from '../../contracts/index.ts'
import { answerBroken, type RouteRequest, requireAnswer, type Turn, type TurnPart, type WireCall } from '../http/index.ts'

/** The pieces of an answer. All `text` together is the content, streamed or not. */
export type ChatPiece =
  | { readonly type: 'text' | 'reasoning' | 'note'; readonly text: string; readonly speaker?: string | undefined }
  | { readonly type: 'calls'; readonly calls: readonly WireCall[] }
  | { readonly type: 'finish'; readonly reason: 'stop' | 'length' | 'content_filter' | 'tool_calls'; readonly usage: Usage }

interface ChatAnswerOptions {
  /** Texts are sent as they arrive. */
  readonly isLive: boolean
  /** The answer is checked before it is sent. */
  readonly isJson: boolean
}

/** Ends with `finish`, or throws the error that says why there is no answer. */
export async function* chatAnswer(
  { sessions }: Pick<RouteRequest, 'sessions'>,
  turn: Turn,
  { isLive, isJson }: ChatAnswerOptions,
): AsyncGenerator<ChatPiece> {
  let isWithheld = false
  const calls: WireCall[] = []
  const joined = { text: new JoinedTexts(), reasoning: new JoinedTexts() }
  for await (const part of turn.parts(isJson ? 'none' : isLive ? 'live' : 'whole')) {
    if (part.type === 'text' || part.type === 'reasoning')
      yield { type: part.type, text: joined[part.type].add(part), speaker: part.speaker }
    else if (part.type === 'broken' && part.failure.withheld) isWithheld = true
    else if (part.type === 'broken') throw answerBroken(turn.sessionId, part.failure)
    else if (part.type === 'client.call') calls.push(part.call)
    else yield* notes(part)
  }
  if (calls.length > 0) {
    yield { type: 'calls', calls }
    return yield { type: 'finish', reason: 'tool_calls', usage: turn.usage }
  }
  const outcome = await turn.outcome()
  if (isWithheld || outcome.failure?.withheld) return yield { type: 'finish', reason: 'content_filter', usage: outcome.usage }
  const { report, status, reason, speaker } = await requireAnswer(sessions, outcome, turn)
  const usage = turn.isContinued ? turn.usage : outcome.usage
  if (joined.text.isEmpty && report.text !== '') yield { type: 'text', text: report.text, speaker: speaker?.agent }
  yield { type: 'finish', reason: status === 'partial' && reason !== 'stopped' ? 'length' : 'stop', usage }
}

/** Texts of several steps are paragraphs of one answer. */
class JoinedTexts {
  isEmpty = true

  add({ text, begins }: { readonly text: string; readonly begins: boolean }): string {
    const separator = begins && !this.isEmpty ? '\n\n' : ''
    this.isEmpty = false
    return separator + text
  }
}

function* notes(part: TurnPart): Generator<ChatPiece> {
  if (part.type === 'call') yield { type: 'note', text: `${part.call.agentPath}: ${part.call.title}` }
  else if (part.type === 'progress') yield { type: 'note', text: `${part.agentPath}: ${part.text}` }
}
