import { type AgentSpec, type TreeId, TroupeError } from '../../contracts/index.ts'
import { loadSteps } from '../../steps/index.ts'
import type { RuntimeParts } from '../api/runtime-parts.ts'
import type { Claimed } from '../tree/open-tree.ts'
import type { TreeState } from '../tree/tree-state.ts'
import { refuseOtherProgram } from './check-may-drive.ts'
import { unknownTree } from './tree-cache.ts'

interface FoundTree {
  readonly title: string
  readonly state: TreeState
}

/** Reads a tree without claiming it. Throws if it does not exist, or this runtime cannot drive it. */
export async function findTree(parts: RuntimeParts, treeId: TreeId): Promise<FoundTree> {
  const entry = await parts.options.store.trees.get(treeId)
  if (!entry) throw unknownTree(treeId)
  await loadSteps()
  const state = await parts.trees.stateOf(treeId)
  await refuseOtherProgram(parts, state)
  return { title: entry.title, state }
}

export async function loadToolsAndModels(parts: RuntimeParts, agent: AgentSpec): Promise<void> {
  await parts.registry()
  await parts.models.resolve(agent)
}

/** Loads tools and models first, so that a failure leaves the tree unclaimed. */
export async function claimTree(parts: RuntimeParts, treeId: TreeId, agent: AgentSpec): Promise<Claimed> {
  const listed = parts.registry()
  const registry = listed instanceof Promise ? await listed : listed
  const resolving = parts.models.resolve(agent)
  if (resolving) await resolving
  const claiming = parts.options.store.journal.claim(treeId, parts.owner)
  const claim = claiming instanceof Promise ? await claiming : claiming
  if (claim.ok) return { registry, epoch: claim.epoch, seq: claim.seq }
  throw new TroupeError('session_owned', `Session ${treeId} is driven by ${claim.owner}.`, {
    remedy: 'Wait until it is released, or end that process.',
  })
}
