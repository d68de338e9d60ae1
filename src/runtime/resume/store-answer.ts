import {
  ApprovalAnsweredError,
  type ApprovalId,
  type ApprovalRequest,
  type ClientId,
  type GivenAnswer,
  type InboxMessage,
  OpenRequests,
  type Store,
  type TreeId,
  TroupeError,
} from '../../contracts/index.ts'
import { decisionProblem } from '../../policy/grants.ts'
import { haveSameJson } from '../../util/json-values.ts'
import { openRequestsOf } from './pending-approvals.ts'
import { unknownTree } from './tree-cache.ts'

// A request is answered once.
//
// 1. The id of an answer in the inbox is the id of its request: of two at the same time the store takes one, also of two processes.
// 2. An answer that does not fit is refused before it is stored, by the rule that the driver applies: it would block a correct one.
// 3. A row that was read while the request stayed open had no effect. The next id is used instead.

export type Answer = Extract<InboxMessage, { kind: 'approval' }>
type Place = Pick<Store, 'journal' | 'trees' | 'inbox'>

/** `first`: the request has this answer already. `position`: of the row that was stored. */
export type StoredAnswer = { readonly first: GivenAnswer } | { readonly position: number }

/**
 * Secrets are redacted in the decision.
 *
 * @throws TroupeError `session_unknown`, `approval_unknown`, `usage` for a decision that does not fit, `approval_answered`.
 */
export async function storeAnswer(store: Place, treeId: TreeId, answer: Answer): Promise<StoredAnswer> {
  const { request, cursor, given } = await findRequest(store, treeId, answer.approvalId)
  const wrong = decisionProblem(request, answer.decision)
  if (wrong !== undefined) throw unfit(answer.approvalId, wrong)
  if (given) return { first: sameAnswer(answer, given) }
  const isAnswer = (message: InboxMessage): message is Answer =>
    message.kind === 'approval' && message.approvalId === request.id && decisionProblem(request, message.decision) === undefined
  // Programs may have added one under another id.
  const unread = (await store.inbox.read(treeId, cursor)).map(({ message }) => message).find(isAnswer)
  if (unread) return { first: sameAnswer(answer, unread) }
  for (let id: string = answer.approvalId; ; id += '~') {
    const added = await store.inbox.add(treeId, id as ClientId, answer)
    if (!added.repeated) return { position: added.position }
    if (added.position > cursor && isAnswer(added.message)) return { first: sameAnswer(answer, added.message) }
  }
}

/** Call it when the driver has read the row. A rule, an approver or the end of the turn may have been faster. */
export async function effectOf(store: Place, treeId: TreeId, answer: Answer & { readonly position: number }): Promise<StoredAnswer> {
  const { given } = await findRequest(store, treeId, answer.approvalId)
  return given && given.inbox !== answer.position ? { first: sameAnswer(answer, given) } : answer
}

function sameAnswer({ approvalId, decision }: Answer, { decision: before, by }: GivenAnswer): GivenAnswer {
  const first = { decision: before, by }
  if (haveSameJson(decision, before)) return first
  throw new ApprovalAnsweredError(approvalId, first)
}

interface FoundRequest {
  readonly request: ApprovalRequest
  /** The last row of the inbox that is in the journal. */
  readonly cursor: number
  readonly given?: GivenAnswer & { readonly inbox: number | undefined }
}

const pageSize = 512

/** From the journal: a request that is open or was answered. */
export async function findRequest(store: Place, treeId: TreeId, approvalId: ApprovalId): Promise<FoundRequest> {
  const open = new OpenRequests()
  let request: ApprovalRequest | undefined
  let given: FoundRequest['given']
  let cursor = 0
  for (let after: number | undefined = 0; after !== undefined; ) {
    const page = await store.journal.read(treeId, after, pageSize)
    for (const event of page) {
      cursor = Math.max(cursor, event.inbox ?? 0)
      if (event.type === 'interaction.approval.requested' && event.request.id === approvalId) request = event.request
      if (request) open.note(event)
      if (event.type === 'interaction.approval.resolved' && event.approvalId === approvalId)
        given = { decision: event.decision, by: event.by, inbox: event.inbox }
    }
    after = page.length === pageSize ? page.at(-1)?.seq : undefined
  }
  if (!request) throw await unknownRequest(store, treeId, `Request ${approvalId} is unknown in session ${treeId}.`)
  const isOpen = open.has(approvalId) && (!request.isLive || (await store.trees.driver(treeId)) !== undefined)
  if (isOpen) return { request, cursor }
  if (!given) throw await unknownRequest(store, treeId, `Request ${approvalId} is no longer open: its call has ended.`)
  return { request, cursor, given }
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
