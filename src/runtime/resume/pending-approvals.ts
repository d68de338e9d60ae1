import {
  type ApprovalDecision,
  type ApprovalId,
  type ApprovalRequest,
  type InteractionEvent,
  type RunOrigin,
  type Store,
  type TreeId,
  TroupeError,
} from '../../contracts/index.ts'
import { openRequests } from '../../core/index.ts'
import { foldJournal, foldTree, type TreeState } from '../tree/tree-state.ts'
import { unknownTree } from './tree-cache.ts'

/** The open requests of a tree and its children, from its journal. */
export async function openRequestsOf({ journal }: Pick<Store, 'journal'>, treeId: TreeId): Promise<readonly ApprovalRequest[]> {
  const tree = await foldJournal(journal, treeId)
  if (!tree) throw unknownTree(treeId)
  const { root, children } = tree
  return [root, ...children.values()].flatMap(openRequests)
}

const pageSize = 512

/**
 * Refuses the answer to a request that never existed. An answer to a resolved request passes: the journal records it as late.
 *
 * @throws TroupeError `session_unknown`, `approval_unknown` with the open requests.
 */
export async function refuseUnknownApproval(
  store: Pick<Store, 'journal' | 'trees'>,
  treeId: TreeId,
  approvalId: ApprovalId,
): Promise<void> {
  for (let after: number | undefined = 0; after !== undefined; ) {
    const page = await store.journal.read(treeId, after, pageSize)
    if (page.some((event) => event.type === 'interaction.approval.requested' && event.request.id === approvalId)) return
    after = page.length === pageSize ? page.at(-1)?.seq : undefined
  }
  if (!(await store.trees.get(treeId))) throw unknownTree(treeId)
  const open = (await openRequestsOf(store, treeId)).map(({ id }) => id)
  throw new TroupeError('approval_unknown', `Session ${treeId} has no approval request ${approvalId}.`, {
    remedy:
      open.length > 0 ? `Open requests: ${open.join(', ')}.` : 'It has no open requests. List them with sessions.requests(sessionId).',
  })
}

export interface PendingApprovals {
  readonly origin?: RunOrigin
  readonly open: readonly {
    readonly request: ApprovalRequest
    /** The session that asks: `root`, `root/writer#1`. */
    readonly agentPath: string
    /** When it was asked. */
    readonly at: number
    /** An answer that waits in the inbox. */
    readonly answer?: ApprovalDecision
  }[]
}

/** From the journal and the inbox. */
export async function readPendingApprovals(
  { journal, inbox }: Pick<Store, 'journal' | 'inbox'>,
  treeId: TreeId,
): Promise<PendingApprovals> {
  const events = await journal.read(treeId, 0)
  return pendingApprovalsIn(events, foldTree(events), inbox)
}

export async function pendingApprovalsIn(
  events: readonly InteractionEvent[],
  { root, children, inboxCursor }: TreeState,
  inbox: Store['inbox'],
): Promise<PendingApprovals> {
  const [first] = events
  const origin = first?.type === 'interaction.session.created' ? first.origin : undefined
  const answers = new Map<string, ApprovalDecision>()
  // The first answer applies.
  for (const { message } of await inbox.read(root.treeId, inboxCursor))
    if (message.kind === 'approval' && !answers.has(message.approvalId)) answers.set(message.approvalId, message.decision)
  const times = new Map<string, number>()
  for (const event of events) if (event.type === 'interaction.approval.requested') times.set(event.request.id, event.at)
  const open = [root, ...children.values()].flatMap((state) =>
    openRequests(state).map((request) => {
      const answer = answers.get(request.id)
      return { request, agentPath: state.agentPath, at: times.get(request.id) ?? state.at, ...(answer && { answer }) }
    }),
  )
  return origin ? { origin, open } : { open }
}
