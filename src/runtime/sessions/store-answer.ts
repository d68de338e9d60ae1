import {
  ApprovalAnsweredError,
  type ApprovalId,
  type ApprovalRequest,
  type ClientId,
  type GivenAnswer,
  type InboxMessage,
  type InteractionEvent,
  OpenRequests,
  type Store,
  type TreeId,
  TroupeError,
} from '../../contracts/index.ts'
import { decisionProblem } from '../../policy/grants.ts'
import { haveSameJson } from '../../util/json-values.ts'
import { openRequestsOf } from '../journal/pending-approvals.ts'
import { unknownTree } from '../journal/tree-cache.ts'

// A request is answered once.
//
// 1. The id of an answer in the inbox is the id of its request: of two at the same time the store takes one, also of two processes.
// 2. An answer that does not fit is refused before it is stored, by the rule that the driver applies: it would block a correct one.
// 3. A row that was read while the request stayed open had no effect. The next id is used instead.

export type Answer = Extract<InboxMessage, { kind: 'approval' }>
type Place = Pick<Store, 'journal' | 'trees' | 'inbox'>

interface StoredRow {
  /** The position of the row. */
  readonly position: number
  /** The number of the request in the journal. */
  readonly seq: number
}

/** `first`: the request has this answer already. Otherwise a row was stored. */
export type StoredAnswer = { readonly first: GivenAnswer } | StoredRow

/**
 * Secrets are redacted in the decision.
 *
 * @throws TroupeError `session_unknown`, `approval_unknown`, `usage` for a decision that does not fit, `approval_answered`.
 */
export async function storeAnswer(store: Place, treeId: TreeId, answer: Answer): Promise<StoredAnswer> {
  const { request, seq, cursor, given } = await findRequest(store, treeId, answer)
  const wrong = decisionProblem(request, answer.decision)
  if (wrong !== undefined) throw unfit(answer.approvalId, wrong)
  if (given) return { first: requireSameAnswer(answer, given) }
  const isAnswer = (message: InboxMessage): message is Answer =>
    message.kind === 'approval' && message.approvalId === request.id && decisionProblem(request, message.decision) === undefined
  // Programs may have added one under another id.
  const unread = (await store.inbox.read(treeId, cursor)).map(({ message }) => message).find(isAnswer)
  if (unread) return { first: requireSameAnswer(answer, unread) }
  for (let id: string = answer.approvalId; ; id += '~') {
    const added = await store.inbox.add(treeId, id as ClientId, answer)
    if (!added.repeated) return { position: added.position, seq }
    if (added.position > cursor && isAnswer(added.message)) return { first: requireSameAnswer(answer, added.message) }
  }
}

/**
 * The other answer that has taken effect, if one has: a rule, an approver or the end of the turn may have been faster. Call it when the
 * driver has read the row.
 *
 * @throws TroupeError `approval_answered`, `approval_unknown` if the call has ended.
 */
export async function effectOf(store: Place, treeId: TreeId, answer: Answer & StoredRow): Promise<GivenAnswer | undefined> {
  const { given } = await findRequest(store, treeId, answer)
  return given && given.inbox !== answer.position ? requireSameAnswer(answer, given) : undefined
}

function requireSameAnswer({ approvalId, decision }: Answer, { decision: before, by }: GivenAnswer): GivenAnswer {
  const first = { decision: before, by }
  if (haveSameJson(decision, before)) return first
  throw new ApprovalAnsweredError(approvalId, first)
}

interface FoundRequest {
  readonly request: ApprovalRequest
  readonly seq: number
  /** The last row of the inbox that is in the journal. */
  readonly cursor: number
  readonly given?: GivenAnswer & { readonly inbox: number | undefined }
}

const pageBytes = 128 * 1024

interface RequestPlace {
  readonly approvalId: ApprovalId
  /** If it is known, the journal is read from there on. */
  readonly seq?: number
}

/** From the journal: a request that is open or was answered. */
export async function findRequest(store: Place, treeId: TreeId, { approvalId, seq: from = 1 }: RequestPlace): Promise<FoundRequest> {
  const open = new OpenRequests()
  let request: ApprovalRequest | undefined
  let given: FoundRequest['given']
  let [seq, cursor] = [0, 0]
  const read = async (after: number) => store.journal.read(treeId, after, { bytes: pageBytes })
  for (let page = await read(from - 1); page.length > 0; page = await read((page.at(-1) as InteractionEvent).seq)) {
    for (const event of page) {
      cursor = Math.max(cursor, event.inbox ?? 0)
      if (event.type === 'interaction.approval.requested' && event.request.id === approvalId) {
        if (!request) seq = event.seq
        request = event.request
      }
      if (request) open.note(event)
      if (event.type === 'interaction.approval.resolved' && event.approvalId === approvalId)
        given = { decision: event.decision, by: event.by, inbox: event.inbox }
    }
  }
  if (!request) throw await unknownRequest(store, treeId, `Request ${approvalId} is unknown in session ${treeId}.`)
  const isOpen = open.has(approvalId) && (!request.isLive || (await store.trees.driver(treeId)) !== undefined)
  if (isOpen) return { request, seq, cursor }
  if (!given) throw await unknownRequest(store, treeId, `Request ${approvalId} is no longer open: its call has ended.`)
  return { request, seq, cursor, given }
}

async function unknownRequest(store: Place, treeId: TreeId, message: string): Promise<TroupeError> {
  if (!(await store.trees.get(treeId))) return unknownTree(treeId)
  const open = (await openRequestsOf(store, treeId)).map(({ id }) => id)
  return new TroupeError('approval_unknown', message, {
    remedy:
      open.length > 0 ? `Open requests: ${open.join(', ')}.` : 'It has no open requests. List them with sessions.requests(sessionId).',
  })
}

const unfit = (approvalId: ApprovalId, wrong: string): TroupeError =>
  new TroupeError('usage', `The decision does not fit request ${approvalId}: ${wrong}.`, {
    remedy: 'Look at the request: `scope` tells what is asked, `wider` has the keys, and `question.form` the fields.',
  })
