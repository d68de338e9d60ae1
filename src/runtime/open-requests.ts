import type { ApprovalDecision, ApprovalRequest, InteractionEvent, RunOrigin, Store, TreeId } from '../contracts/index.ts'
import { openRequests } from '../core/index.ts'
import { foldTree, type TreeState } from './tree-state.ts'

/** What a tree waits for, its children included; read from its journal, whoever drives it. */
export async function openRequestsOf({ journal }: Pick<Store, 'journal'>, treeId: TreeId): Promise<readonly ApprovalRequest[]> {
  const { root, children } = foldTree(await journal.read(treeId, 0))
  return [root, ...children.values()].flatMap(openRequests)
}

/** How a tree stands that nobody drives. */
export interface Standing {
  readonly origin?: RunOrigin
  readonly open: readonly {
    readonly request: ApprovalRequest
    /** Who asks: `root`, `root/writer#1`. */
    readonly agentPath: string
    /** What was answered already, and waits for somebody to go on with the tree. */
    readonly answer?: ApprovalDecision
  }[]
}

/** Of what is in the journal, and what has come for it since. */
export async function standingOf({ journal, inbox }: Pick<Store, 'journal' | 'inbox'>, treeId: TreeId): Promise<Standing> {
  const events = await journal.read(treeId, 0)
  return standingIn({ events, tree: foldTree(events) }, inbox)
}

/** A journal that was read, and its fold. */
export interface FoldedJournal {
  readonly events: readonly InteractionEvent[]
  readonly tree: TreeState
}

export async function standingIn({ events, tree }: FoldedJournal, inbox: Store['inbox']): Promise<Standing> {
  const { root, children, inboxCursor } = tree
  const [first] = events
  const origin = first?.type === 'interaction.session.created' ? first.origin : undefined
  const answers = new Map<string, ApprovalDecision>()
  // The first one counts.
  for (const { message } of await inbox.read(root.treeId, inboxCursor))
    if (message.kind === 'approval' && !answers.has(message.approvalId)) answers.set(message.approvalId, message.decision)
  const open = [root, ...children.values()].flatMap((state) =>
    openRequests(state).map((request) => {
      const answer = answers.get(request.id)
      return { request, agentPath: state.agentPath, ...(answer && { answer }) }
    }),
  )
  return origin ? { origin, open } : { open }
}
