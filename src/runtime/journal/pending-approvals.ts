import {
  type ApprovalDecision,
  type ApprovalRequest,
  type ClientCall,
  clientCallOf,
  type InteractionEvent,
  type RunOrigin,
  type Store,
  type TreeId,
} from '../../contracts/index.ts'
import { openRequests, requestsToPeople } from '../../core/index.ts'
import { unknownTree } from './tree-cache.ts'
import { foldJournal, foldTree, type TreeState } from './tree-state.ts'

/** The open requests to people of a tree and its children, from its journal. */
export async function openRequestsOf({ journal }: Pick<Store, 'journal'>, treeId: TreeId): Promise<readonly ApprovalRequest[]> {
  const { root, children } = await requireTree(journal, treeId)
  return [root, ...children.values()].flatMap(requestsToPeople)
}

/** Only the root has tools of the client. */
export async function clientCallsOf({ journal }: Pick<Store, 'journal'>, treeId: TreeId): Promise<readonly ClientCall[]> {
  const { root } = await requireTree(journal, treeId)
  return openRequests(root).flatMap((request) => (request.scope === 'client' ? [clientCallOf(request)] : []))
}

async function requireTree(journal: Store['journal'], treeId: TreeId): Promise<TreeState> {
  const tree = await foldJournal(journal, treeId)
  if (!tree) throw unknownTree(treeId)
  return tree
}

export interface PendingApprovals {
  readonly origin?: RunOrigin
  /** Calls wait for results of the client. */
  readonly waitsForClient: boolean
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
    requestsToPeople(state).map((request) => {
      const answer = answers.get(request.id)
      return { request, agentPath: state.agentPath, at: times.get(request.id) ?? state.at, ...(answer && { answer }) }
    }),
  )
  const waitsForClient = openRequests(root).some(({ scope }) => scope === 'client')
  return { ...(origin && { origin }), waitsForClient, open }
}
