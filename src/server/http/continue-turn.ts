import {
  ApprovalAnsweredError,
  type ApprovalDecision,
  type ApprovalId,
  type ApprovalRequest,
  type ClientCall,
  type InputPart,
  type Receipt,
  type SessionEntry,
  type SessionService,
  type SessionSettings,
  type StreamEvent,
  TroupeError,
} from '../../contracts/index.ts'
import { shortHash } from '../../util/hash.ts'
import { parseCallId, type Returned, type WireResult } from './client-calls.ts'
import { HttpError } from './http-error.ts'
import type { RouteRequest } from './route.ts'

// The next request of a client that has run calls: its results continue the turn that waits for them.
//
// 1. The ids of the calls name the session. Without one here, of this caller and agent, the conversation begins a new session.
// 2. Everything is checked before anything is stored.
// 3. The same request again follows the turn: clients repeat requests that broke off.
// 4. A client that sends known results with a new message has dropped the calls after them: they get a result that says so. If there are
//    none and the session has gone on, the client has gone back in its conversation, or asks beside its turn: that begins a new session.
// 5. What follows the results is a message for the same step. If the turn is over, it begins the next one.

/** Where the answer to the request begins. */
export interface Continued {
  readonly sessionId: string
  /** Calls of the same step without a result. The turn still waits for them: they are the answer. */
  readonly open: readonly ClientCall[]
  /** The last `seq` before the answer. */
  readonly after: number
  /** The id of the last message or result that this request has stored: the answer follows it. Absent: there is none. */
  readonly begins?: string
  /** The ids of its message and of all its results. */
  readonly inputs: readonly string[]
  /** The turn waits for a person. */
  readonly requests: readonly ApprovalRequest[]
}

/** Whether the event records the message or the result. */
export const records = (event: StreamEvent, id: string): boolean =>
  (event.type === 'interaction.input.accepted' && event.clientId === id) ||
  (event.type === 'interaction.approval.resolved' && event.approvalId === id)

interface Continuing {
  readonly agent: string
  readonly returned: Returned
  readonly settings: Pick<SessionSettings, 'clientTools' | 'toolChoice'>
}

/** `undefined`: there is no such turn here. */
export async function continueTurn(
  { sessions }: Pick<RouteRequest, 'sessions'>,
  { agent, returned, settings }: Continuing,
): Promise<Continued | undefined> {
  const sessionId = sessionOf(returned.results)
  const entry = sessionId === undefined ? undefined : await sessions.get(sessionId)
  if (sessionId === undefined || entry?.agent !== agent) return undefined
  const waiting = await sessions.clientCalls(sessionId)
  const given = lastOfEach(returned.results.flatMap(({ id, ...result }) => answersOf(id, result)))
  const fresh = given.filter(({ approvalId }) => waiting.some(({ id }) => id === approvalId))
  const open = waiting.filter(({ id }) => !given.some(({ approvalId }) => approvalId === id))
  const recorded = await recordedUntil(sessions, entry, fresh.length < given.length)
  const before = await acceptKnown(sessions, sessionId, { known: given.filter((answer) => !fresh.includes(answer)), recorded })
  const message = messageOf(returned)
  const isNew = message !== undefined && !recorded.inputs.has(message.clientId)
  const inputs = [...given.map(({ approvalId }) => approvalId), ...(message ? [message.clientId] : [])]
  if (fresh.length === 0 && !isNew) {
    if (before.isOver) throw callOver(sessionId)
    // The answer broke off: the conversation goes on in a new session.
    if (hasBrokenOff(entry)) return undefined
    const after = Math.max(before.seq, message ? (recorded.inputs.get(message.clientId) ?? 0) : 0)
    const requests = waiting.length === 0 && entry.status === 'suspended' ? await sessions.requests(sessionId) : []
    return { sessionId, open: open.filter(({ id }) => (recorded.answers.get(id) ?? after) < after), after, inputs, requests }
  }
  const hasGoneOn = entry.status === 'running' || (open.length === 0 && recorded.replied > before.seq)
  if (fresh.length === 0 && (before.isOver || hasGoneOn)) return undefined
  const answers = fresh.length > 0 ? fresh : open.map(droppedCall)
  const left = fresh.length > 0 ? open : []
  const last = answers.at(-1)?.approvalId ?? message?.clientId
  await store(sessions, sessionId, { message: isNew ? message : undefined, answers, settings, instructions: returned.instructions })
  const requests = left.length === 0 ? await sessions.requests(sessionId) : []
  return { sessionId, open: left, after: entry.seq, ...(last !== undefined && { begins: last }), inputs, requests }
}

interface Given extends Pick<Continuing, 'settings'> {
  readonly message: AddedMessage | undefined
  readonly answers: readonly GivenResult[]
  readonly instructions: string | undefined
}

/** Of two requests with different results, one takes effect: message and settings go with the last result. */
async function store(sessions: SessionService, sessionId: string, { message, answers, settings, ...given }: Given): Promise<void> {
  const { instructions } = given
  const all = { ...settings, ...(instructions !== undefined && { instructions }) }
  const added = message && { message: { input: message.parts, clientId: message.clientId } }
  if (message && answers.length === 0)
    requireDriven(sessionId, await sessions.send(sessionId, message.parts, { mode: 'steer', clientId: message.clientId, ...all }))
  const last = answers.length - 1
  for (const [index, answer] of answers.entries())
    requireDriven(sessionId, await sessions.approve(sessionId, index === last ? { ...answer, ...added, settings: all } : answer))
}

/** Some clients answer a call of a broken stream twice: first with an error. */
const lastOfEach = (given: readonly GivenResult[]): readonly GivenResult[] => [
  ...new Map(given.map((answer) => [answer.approvalId, answer])).values(),
]

const hasBrokenOff = ({ status }: SessionEntry): boolean => status === 'interrupted' || status === 'failed'

const droppedCall = ({ id }: ClientCall): GivenResult => ({
  approvalId: id,
  decision: { kind: 'result', ok: false, content: 'The client went on without running this call.' },
})

/** One turn at a time: results of several sessions have no common answer. */
function sessionOf(results: readonly WireResult[]): string | undefined {
  const ids = new Set(results.flatMap(({ id }) => parseCallId(id)?.sessionId ?? []))
  const [first, second] = ids
  if (second === undefined) return first
  throw new HttpError('invalid_request', 'The results belong to several turns.', {
    remedy: 'Send the results of one answer in one request.',
  })
}

interface GivenResult {
  readonly approvalId: ApprovalId
  readonly decision: Extract<ApprovalDecision, { kind: 'result' }>
}

function answersOf(id: string, { ok, content, parts }: Omit<WireResult, 'id'>): readonly GivenResult[] {
  const place = parseCallId(id)
  const decision = { kind: 'result', ok, content, ...(parts.length > 0 && { parts }) } as const
  return place ? [{ approvalId: place.requestId, decision }] : []
}

interface Recorded {
  /** By request for the client: the `seq` of its answer, or of the request itself. */
  readonly answers: ReadonlyMap<string, number>
  /** The `seq` of each message. */
  readonly inputs: ReadonlyMap<string, number>
  /** The `seq` of the last reply of the agent. */
  readonly replied: number
}

/** What is recorded by now. Read only if some of the results are known already. */
async function recordedUntil(sessions: SessionService, { sessionId, seq }: SessionEntry, isWanted: boolean): Promise<Recorded> {
  const answers = new Map<string, number>()
  const inputs = new Map<string, number>()
  let replied = 0
  if (isWanted)
    for await (const event of sessions.events(sessionId, { until: 'turn', live: false })) {
      if (event.type === 'interaction.approval.requested') answers.set(event.request.id, event.seq)
      if (event.type === 'interaction.approval.resolved') answers.set(event.approvalId, event.seq)
      if (event.type === 'interaction.input.accepted') inputs.set(event.clientId, event.seq)
      if (event.type === 'interaction.step.completed' && event.agentPath === 'root') replied = event.seq
      // The turn may be running: the next event may take long.
      if ('seq' in event && event.seq >= seq) break
    }
  return { answers, inputs, replied }
}

/** Refuses results that differ from those that were given. `isOver`: a call ended without its result. */
async function acceptKnown(
  sessions: SessionService,
  sessionId: string,
  { known, recorded }: { readonly known: readonly GivenResult[]; readonly recorded: Recorded },
): Promise<{ readonly seq: number; readonly isOver: boolean }> {
  let seq = 0
  let isOver = false
  for (const answer of known) {
    const at = recorded.answers.get(answer.approvalId)
    if (at === undefined) throw unknownCall(sessionId)
    seq = Math.max(seq, at)
    const isSame = await sessions.approve(sessionId, answer).then(
      ({ first }) => first?.decision.kind === 'result',
      (error: unknown) => {
        if (isEnded(error)) return false
        throw error
      },
    )
    isOver ||= !isSame
  }
  return { seq, isOver }
}

/** Somebody ended the turn, and the call with it. */
const isEnded = (error: unknown): boolean =>
  error instanceof ApprovalAnsweredError
    ? error.first.decision.kind !== 'result'
    : error instanceof TroupeError && error.code === 'approval_unknown'

interface AddedMessage {
  readonly parts: readonly InputPart[]
  readonly clientId: string
}

/** Its id follows from what it says: the same request again sends it once. */
function messageOf({ results, parts }: Returned): AddedMessage | undefined {
  if (parts.length === 0) return undefined
  return { parts, clientId: `after-${shortHash(JSON.stringify([results.map(({ id }) => id), parts]))}` }
}

function requireDriven(sessionId: string, { driven, continue: elsewhere }: Receipt): void {
  if (driven) return
  throw new HttpError('turn_failed', `This server cannot continue the session${elsewhere ? `: ${elsewhere.reason}` : '.'}`, {
    sessionId,
    remedy: 'Ask the server that started it, or begin a new conversation.',
  })
}

const unknownCall = (sessionId: string): HttpError =>
  new HttpError('invalid_request', 'A result names a call that its session never made.', {
    sessionId,
    remedy: 'Send the results of the last answer, with the ids of its calls.',
  })

const callOver = (sessionId: string): HttpError =>
  new HttpError('conflict', 'The turn has ended without the results of these calls.', {
    sessionId,
    isFinal: true,
    remedy: 'Send a message of the user after them, or begin a new conversation.',
  })
