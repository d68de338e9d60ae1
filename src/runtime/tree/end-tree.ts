import { type Clock, type Store, type TreeId, TroupeError } from '../../contracts/index.ts'
import { loadSteps } from '../../steps/index.ts'
import { RuntimeParts } from '../parts/runtime-parts.ts'
import { Feed } from './event-feed.ts'
import { openTree } from './open-tree.ts'

/**
 * Ends the open turns of a tree without continuing it: no model is asked and no tool runs, so neither agents nor tools are needed.
 * Returns whether there was an open turn.
 *
 * @throws TroupeError `session_driven` if a process drives it, `session_unknown` if it does not exist.
 */
export async function endTree(store: Store, treeId: TreeId, by: string): Promise<boolean> {
  const parts = partsWith(store)
  await loadSteps()
  // Before the claim, which would create a tree that does not exist.
  await parts.trees.stateOf(treeId)
  const claim = await store.journal.claim(treeId, parts.driver)
  if (!claim.ok)
    throw new TroupeError('session_driven', `Session ${treeId} is driven by ${claim.driver}.`, { remedy: 'Interrupt it there.' })
  const { epoch, seq } = claim
  try {
    const state = await parts.trees.stateOf(treeId)
    if (state.root.turn.kind !== 'open') return false
    const { title = '' } = (await store.trees.get(treeId)) ?? {}
    const tree = openTree(parts, {
      state,
      feed: new Feed(),
      epoch,
      seq,
      registry: await parts.registry(),
      title,
      principal: undefined,
      account: undefined,
    })
    tree.end(by)
    await tree.flush()
    return true
  } finally {
    await store.journal.release(treeId, epoch)
  }
}

/** Placeholders: ending a tree uses the store alone. */
export const partsWith = (store: Store, clock?: Clock): RuntimeParts =>
  new RuntimeParts({
    config: { agents: [{ name: 'nobody', description: 'Ends sessions', prompt: 'None.', model: 'none' }] },
    adapter: { resolve: () => Promise.reject(new TroupeError('internal', 'Ending a session asks no model.')) },
    store,
    ...(clock && { clock }),
  })
