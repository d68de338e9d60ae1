import type { ClosedRequest, InteractionEvent, SessionService } from '../../contracts/index.ts'

type Ending = Pick<ClosedRequest, 'outcome' | 'by'>

interface RequestPlace {
  readonly sessionId: string
  readonly requestId: string
  /** The request was open then. */
  readonly after: number
}

/** How a request has ended that is no longer open, from the journal. */
export async function endingOf(sessions: SessionService, { sessionId, requestId, after }: RequestPlace): Promise<Ending> {
  const { seq = 0 } = (await sessions.get(sessionId)) ?? {}
  if (seq <= after) return { outcome: 'ended' }
  for await (const event of sessions.events(sessionId, { after, until: 'turn', live: false })) {
    if (!('seq' in event)) continue
    if (event.type === 'interaction.approval.resolved' && event.approvalId === requestId) return givenEnding(event)
    if (event.seq >= seq) break
  }
  return { outcome: 'ended' }
}

const outcomes = { approve: 'approved', answer: 'answered', result: 'answered', deny: 'denied', abort: 'denied' } as const

/** Nobody has answered what the runtime itself ends, such as at the end of a turn. */
const givenEnding = ({ decision, by }: InteractionEvent<'interaction.approval.resolved'>): Ending =>
  by === 'runtime' ? { outcome: 'ended' } : { outcome: outcomes[decision.kind], by }
