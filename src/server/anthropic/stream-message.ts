import type { Clock } from '../../contracts/index.ts'
import { afterFirst, answerBroken, eventStream, type RouteRequest, requireAnswer, sseBytes, type Turn } from '../http/index.ts'
import type { MessageEvents } from './message-events.ts'
import type { WireEvent } from './wire-format.ts'

interface MessageStream {
  readonly request: Pick<RouteRequest, 'sessions'>
  readonly turn: Turn
  readonly events: MessageEvents
  readonly texts: 'live' | 'none'
  readonly clock: Clock
  readonly headers: { readonly [name: string]: string }
}

/** After the parts of the turn. Throws the error that says why there is no answer. */
export async function lastEvents(
  { sessions }: Pick<RouteRequest, 'sessions'>,
  turn: Turn,
  events: MessageEvents,
): Promise<readonly WireEvent[]> {
  if (events.hasCalls) return events.endWithCalls(turn.usage)
  const outcome = await requireAnswer(sessions, await turn.outcome())
  return events.end(turn.isContinued ? { ...outcome, usage: turn.usage } : outcome)
}

/** A turn that fails before its first output is answered with a status, and later with an event. */
export async function streamMessage({ request, turn, events, texts, clock, headers }: MessageStream): Promise<Response> {
  async function* messageEvents(): AsyncGenerator<WireEvent> {
    let hasBegun = false
    for await (const part of turn.parts(texts)) {
      if (part.type === 'end') break
      if (part.type === 'broken') throw answerBroken(turn.sessionId, part.failure)
      const next = events.read(part)
      if (next.length === 0) continue
      if (!hasBegun) yield* events.begin()
      hasBegun = true
      yield* next
    }
    const last = await lastEvents(request, turn, events)
    if (!hasBegun) yield* events.begin()
    yield* last
  }

  return eventStream({
    source: await afterFirst(messageEvents(), clock),
    encode: (event) => sseBytes({ event: event.type, data: JSON.stringify(event) }),
    clock,
    headers,
    left: () => turn.left(),
  })
}
