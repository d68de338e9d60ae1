import type { AppendBatch, ApprovalRequest, InteractionEvent, JsonObject, TurnTotals } from '../../contracts/index.ts'
import { cutText } from '../../util/well-formed.ts'
import type { SessionEvent } from '../config/webhooks-shape.ts'

/** What has happened to a session, as it is stored until it is delivered. The journal contains no secrets, so this contains none. */
export interface SessionNotice {
  /** Stable: the same event has the same id in every delivery. */
  readonly id: string
  readonly event: SessionEvent
  readonly at: number
  readonly sessionId: string
  /** Absent if the index of the store has it. */
  readonly agent?: string
  /** What the receiver gets about the event. */
  readonly data: JsonObject
}

const mostTextChars = 20_000

/** The notices of the events of a batch: of roots, and of requests in the whole tree. A copy of a session has none. */
export function noticesOf({ treeId, events, summary, turns = [] }: AppendBatch): readonly SessionNotice[] {
  const [first] = events
  if (first?.type === 'interaction.session.created' && first.forkedFrom) return []
  const ended = events.flatMap((event): readonly SessionNotice[] => {
    const found = event.sessionId === (treeId as string) ? turnEnd(event) : undefined
    if (!found) return []
    const agent = turns.find(({ seq }) => seq === event.seq)?.agent ?? summary?.agent
    return [{ ...noticeAt(event), ...(agent !== undefined && { agent }), ...found }]
  })
  const [asked, ...others] = openRequests(events)
  if (!asked) return ended
  const requests = [asked, ...others].map(({ request }) => requestData(request))
  const agent = summary && { agent: summary.agent }
  return [...ended, { ...noticeAt(asked), ...agent, event: 'waiting', data: { status: 'waiting', requests } }]
}

const noticeAt = ({ treeId, seq, at }: InteractionEvent): Pick<SessionNotice, 'id' | 'at' | 'sessionId'> => ({
  id: `${treeId}-${seq}`,
  at,
  sessionId: treeId,
})

function turnEnd(event: InteractionEvent): Pick<SessionNotice, 'event' | 'data'> | undefined {
  switch (event.type) {
    case 'interaction.turn.completed':
    case 'interaction.turn.failed':
    case 'interaction.turn.interrupted': {
      const { ending, report, totals } = event
      const data = {
        status: ending.status,
        ...(ending.status !== 'completed' && { reason: ending.reason }),
        ...(ending.status === 'failed' && { error: errorOf(ending) }),
        ...(report && textOf(report.text)),
        ...figuresOf(totals),
      }
      return { event: ending.status === 'partial' ? 'completed' : ending.status, data }
    }
    default:
      return undefined
  }
}

const errorOf = ({ message, remedy }: { readonly message: string; readonly remedy?: string }): JsonObject => ({
  message: cutText(message, mostTextChars),
  ...(remedy !== undefined && { remedy }),
})

const textOf = (text: string): JsonObject => ({
  text: cutText(text, mostTextChars),
  ...(text.length > mostTextChars && { isCut: true }),
})

const figuresOf = ({ usage, cost, durationMs }: TurnTotals): JsonObject => ({
  usage: { inputTokens: usage.input, outputTokens: usage.output },
  costUsd: cost === 'unknown' ? null : cost,
  durationMs,
})

type Requested = InteractionEvent<'interaction.approval.requested'>

/** Requests to people that the batch does not decide itself. */
function openRequests(events: readonly InteractionEvent[]): readonly Requested[] {
  const decided = new Set(events.flatMap((event) => (event.type === 'interaction.approval.resolved' ? [event.approvalId] : [])))
  return events.filter(
    (event) => event.type === 'interaction.approval.requested' && event.request.scope !== 'client' && !decided.has(event.request.id),
  ) as readonly Requested[]
}

const requestData = ({ id, scope, agentPath, tool, summary, question }: ApprovalRequest): JsonObject => ({
  id,
  kind: scope === 'question' ? 'question' : 'approval',
  agentPath,
  tool,
  summary: cutText(question?.text ?? summary, mostTextChars),
  ...(question?.options && { options: question.options }),
})
