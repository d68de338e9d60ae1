import { type AgentSpec, type Principal, type Problem, type RunOrigin, type TreeId, TroupeError } from '../../contracts/index.ts'
import type { SessionState } from '../../core/index.ts'
import { loadSteps } from '../../steps/index.ts'
import { unknownTree } from '../journal/tree-cache.ts'
import type { TreeState } from '../journal/tree-state.ts'
import type { RuntimeParts } from '../parts/runtime-parts.ts'
import type { Claimed } from './open-tree.ts'

interface FoundTree {
  readonly title: string
  readonly principal: Principal | undefined
  readonly state: TreeState
}

/** Reads a tree without claiming it. Throws if it does not exist, or this runtime cannot drive it. */
export async function findTree(parts: RuntimeParts, treeId: TreeId): Promise<FoundTree> {
  const entry = await parts.options.store.trees.get(treeId)
  if (!entry) throw unknownTree(treeId)
  await loadSteps()
  const state = await parts.trees.stateOf(treeId)
  const [first] = await parts.options.store.journal.read(treeId, 0, 1)
  const created = first?.type === 'interaction.session.created' ? first : undefined
  throwMismatch(treeId, [...otherWorkspace(created?.origin, parts.options.origin), ...missingAgents(parts, state)])
  return { title: entry.title, principal: created?.principal, state }
}

export async function loadToolsAndModels(parts: RuntimeParts, treeId: TreeId, agent: AgentSpec): Promise<void> {
  await parts.toolsFor(treeId, agent)
  await parts.models.resolve(agent)
}

/** Loads tools and models first, so that a failure leaves the tree unclaimed. */
export async function claimTree(parts: RuntimeParts, treeId: TreeId, agent: AgentSpec): Promise<Claimed> {
  const listed = parts.toolsFor(treeId, agent)
  const registry = listed instanceof Promise ? await listed : listed
  const resolving = parts.models.resolve(agent)
  if (resolving) await resolving
  const claiming = parts.options.store.journal.claim(treeId, parts.driver)
  const claim = claiming instanceof Promise ? await claiming : claiming
  if (claim.ok) return { registry, epoch: claim.epoch, seq: claim.seq }
  throw drivenTree(treeId, claim.driver)
}

export const drivenTree = (treeId: TreeId, driver: string): TroupeError =>
  new TroupeError('session_driven', `Session ${treeId} is driven by ${driver}.`, {
    remedy: 'Wait until it is released, or end that process.',
  })

// A runtime drives a tree only if it has its workspace, the agent of its root and the agents of its open children. Agents are compared
// by name: a changed definition is pinned to the recorded one, with a diagnostic.

/** Again after the claim: children may have been started meanwhile. */
export function refuseWithoutAgents(parts: RuntimeParts, state: TreeState): void {
  throwMismatch(state.root.treeId, missingAgents(parts, state))
}

/** `session_mismatch` with everything that is missing or different. */
function throwMismatch(treeId: TreeId, problems: readonly Problem[]): void {
  if (problems.length === 0) return
  throw new TroupeError('session_mismatch', `This program cannot drive session ${treeId}: ${problems.map(asClause).join('; ')}.`, {
    problems,
    remedy: 'Open it in its workspace, with the agents that it uses.',
  })
}

const asClause = ({ place, message }: Problem): string => `${place} ${message}`

function otherWorkspace(began: RunOrigin | undefined, current: RunOrigin | undefined): readonly Problem[] {
  if (!began || began.workspace === current?.workspace) return []
  const here = current ? `this is ${current.workspace}` : 'this program has none'
  return [{ place: 'workspace', message: `is ${began.workspace}, ${here}`, remedy: `Run it in ${began.workspace}.` }]
}

function missingAgents({ agents: current }: RuntimeParts, { root, children }: TreeState): readonly Problem[] {
  const open = root.turn.kind === 'open' ? [...children.values()].filter(({ turn }) => turn.kind !== 'ended') : []
  const missing = new Map<string, SessionState>()
  for (const session of [root, ...open])
    if (!session.agent.isInline && !current.has(session.agent.name) && !missing.has(session.agent.name))
      missing.set(session.agent.name, session)
  const remedy = `Agents here: ${[...current.keys()].toSorted().join(', ')}.`
  return [...missing].map(([name, { parent, agentPath }]) => ({
    place: `agent "${name}"`,
    message: parent ? `of its open child ${agentPath} is missing` : 'is missing',
    remedy,
  }))
}
