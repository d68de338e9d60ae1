import type { ClientId, TreeId } from '../contracts/index.ts'

/** Whether an input comes from outside. The ids of tasks for children, of their reports, and of messages between agents begin with the tree. */
export const isMessageId = (treeId: TreeId, id: ClientId): boolean => !id.startsWith(`${treeId}/`) && !id.startsWith(`${treeId}:`)

/** The last message from outside among inputs. */
export const lastMessageId = (treeId: TreeId, ids: readonly ClientId[]): ClientId | undefined =>
  ids.findLast((id) => isMessageId(treeId, id))
