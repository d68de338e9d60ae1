import type { SessionService } from '../../contracts/index.ts'
import { type TurnPart, TurnParts } from '../http/index.ts'

/** Why there is nothing to wait for. `asks`: for a person. `input`: a child waits for input. */
type Rest = 'ended' | 'asks' | 'input' | 'client'

/** A session that a tool call follows. `seq`: of the last event that was read. */
export interface Followed {
  readonly sessionId: string
  seq: number
}

/** Reads events until the turn ends or waits for somebody. */
export async function followUntilRest(
  sessions: SessionService,
  followed: Followed,
  progress: ((message: string) => void) | undefined,
): Promise<Rest> {
  const fold = new TurnParts({ texts: 'none' })
  // Not until `turn`: a session that was just answered may still be suspended.
  const events = sessions.events(followed.sessionId, { after: followed.seq, until: 'idle', live: progress !== undefined })
  for await (const event of events) {
    if ('seq' in event) followed.seq = event.seq
    const parts = fold.read(event)
    if (progress) for (const part of parts) report(part, progress)
    if (event.type === 'interaction.turn.suspended' && event.agentPath === 'root')
      return event.reason === 'approval' ? 'asks' : event.reason
    if (event.type === 'interaction.approval.requested' && event.request.isLive) return 'asks'
    if (parts.some(({ type }) => type === 'end')) return 'ended'
  }
  return 'ended'
}

function report(part: TurnPart, progress: (message: string) => void): void {
  if (part.type === 'progress') progress(part.text)
  if (part.type !== 'call' && part.type !== 'call.done') return
  const { agentPath, title, tool } = part.call
  const name = `${agentPath === 'root' ? '' : `${agentPath.replace('root/', '')}: `}${title || tool}`
  progress(part.type === 'call' ? name : `${name}: ${part.status}`)
}

/** Resolves when the request is decided, by anybody, or the session is over. */
export async function untilDecided(
  sessions: SessionService,
  { sessionId, seq }: Followed,
  { approvalId, signal }: { readonly approvalId: string; readonly signal: AbortSignal },
): Promise<void> {
  const events = sessions.events(sessionId, { after: seq, until: 'idle', live: false })[Symbol.asyncIterator]()
  signal.addEventListener('abort', () => void events.return?.())
  for (;;) {
    const { value: event, done } = await events.next()
    if (done || signal.aborted) return
    if (event.type === 'interaction.approval.resolved' && event.approvalId === approvalId) return void events.return?.()
  }
}
