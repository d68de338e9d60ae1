import type { ApprovalRequest, Store, TreeId } from '../contracts/index.ts'
import { openRequests } from '../core/index.ts'
import { foldTree } from './tree-state.ts'

/** What a tree waits for, its children included; read from its journal, whoever drives it. */
export async function openRequestsOf({ journal }: Pick<Store, 'journal'>, treeId: TreeId): Promise<readonly ApprovalRequest[]> {
  const { root, children } = foldTree(await journal.read(treeId, 0))
  return [root, ...children.values()].flatMap(openRequests)
}
