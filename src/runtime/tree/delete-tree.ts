import type { Deletion, Store, TreeId } from '../../contracts/index.ts'
import { endTree } from './end-tree.ts'

/** Removes a tree. Open turns are ended first, so that the usage has what they have spent. A damaged journal does not keep a tree. */
export async function deleteTree(store: Store, treeId: TreeId): Promise<Deletion> {
  const entry = await store.trees.get(treeId)
  if (entry && (entry.status === 'running' || entry.status === 'suspended')) await endTree(store, treeId, 'delete').catch(() => false)
  return store.trees.delete(treeId)
}
