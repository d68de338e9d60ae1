import {
  type AgentSpec,
  type ClientId,
  type Diagnostic,
  type InputPart,
  type InteractionEvent,
  OpenRequests,
  type Principal,
  type Sandbox,
  type SessionId,
  type StreamEvent,
  type TreeId,
  type TreeIdentity,
  type TreeSummary,
  TroupeError,
} from '../../contracts/index.ts'
import { createSessionState, openRequests } from '../../core/index.ts'
import { type ToolRegistry, withClientTools } from '../../steps/index.ts'
import type { TreeAccount } from '../budgets/tree-account.ts'
import { newTreeState, type TreeState } from '../journal/tree-state.ts'
import { statusOf, summaryOf } from '../journal/tree-status.ts'
import type { RuntimeObserver } from '../options/agent-runtime.ts'
import type { RuntimeParts } from '../parts/runtime-parts.ts'
import type { EffectiveAgent } from '../parts/session-setup.ts'
import type { Selected } from '../selection/select-agent.ts'
import { requireClientTools } from '../validation/check-client-tools.ts'
import type { Feed } from './event-feed.ts'
import { Ledger } from './ledger.ts'
import type { Opening } from './opening.ts'
import { sessionTitle } from './session-title.ts'
import { Tree } from './tree.ts'

const isSwitchedOff = ({ confinement }: Sandbox): boolean => confinement.kind === 'sandbox' && confinement.policy?.mode === 'off'

const sandboxOff: Diagnostic = {
  code: 'sandbox_off',
  severity: 'warning',
  message: 'The sandbox is off: commands run with all permissions of this process.',
}

export function firstEvent(
  { treeId, agent, at }: { treeId: TreeId; agent: AgentSpec; at: number },
  effective: EffectiveAgent,
): InteractionEvent<'interaction.session.created'> {
  const trace = { originId: treeId, callPath: agent.name, turnPath: '' }
  const sessionId = treeId as string as SessionId
  return { type: 'interaction.session.created', seq: 1, treeId, sessionId, agentPath: 'root', at, agent, trace, ...effective }
}

export interface Claimed {
  readonly registry: ToolRegistry
  readonly epoch: number
  readonly seq: number
}

interface OpenTreeOptions extends Claimed {
  readonly state: TreeState
  readonly feed: Feed
  readonly title: string
  readonly principal: Principal | undefined
  readonly account: TreeAccount | undefined
  /** Present for a new tree. */
  readonly identity?: TreeIdentity
}

/** A new tree, with the first events of its root. */
export function createTree(
  parts: RuntimeParts,
  { treeId, selected, input, opening }: { treeId: TreeId; selected: Selected; input: readonly InputPart[]; opening: Opening | undefined },
  claimed: Claimed & { readonly feed: Feed },
): Tree {
  if (claimed.seq !== 0)
    throw new TroupeError('internal', `Session ${treeId} exists already.`, { remedy: 'Make the ids port return unique ids.' })
  const { config, sandbox, clock, origin } = parts.options
  const { agent, notice, ...choice } = selected
  const equipped = parts.sessionSetup.withSkillList(agent)
  const account = opening?.account
  const isCostBound = opening !== undefined && (equipped.limits.maxCostUsd !== undefined || account?.isCostBound === true)
  requireClientTools(equipped, claimed.registry, opening?.changes)
  const registry = withClientTools(claimed.registry, equipped, opening?.changes)
  const effective = parts.sessionSetup.effective(equipped, registry, isCostBound)
  const begun = firstEvent({ treeId, agent: equipped, at: clock.now() }, effective)
  const placed = origin ? { ...begun, origin } : begun
  const first = opening ? { ...placed, ...callerFields(opening) } : placed
  const workspace = origin && { workspace: origin.workspace }
  const tree = openTree(parts, {
    ...claimed,
    state: newTreeState(createSessionState(first)),
    title: sessionTitle(input),
    principal: opening?.principal,
    account,
    ...((opening || workspace) && { identity: { ...workspace, ...opening?.identity } }),
  })
  const { root: session } = tree
  tree.push(first)
  if (config.agents.length > 1) session.note({ type: 'interaction.subagent.selected', agent: agent.name, ...choice })
  for (const diagnostic of parts.notices) session.note({ type: 'interaction.diagnostic', diagnostic })
  if (notice) session.note({ type: 'interaction.diagnostic', diagnostic: notice })
  if (isSwitchedOff(sandbox)) session.note({ type: 'interaction.diagnostic', diagnostic: sandboxOff })
  for (const diagnostic of parts.sessionSetup.notices(equipped)) session.note({ type: 'interaction.diagnostic', diagnostic })
  tree.reportSources()
  for (const text of config.context) session.note({ type: 'interaction.context.added', ...text })
  tree.addInstructions(session)
  if (opening && opening.history.length > 0) session.note({ type: 'interaction.history.added', messages: opening.history })
  session.note({
    type: 'interaction.input.accepted',
    clientId: opening?.clientId ?? (`${treeId}.input` as ClientId),
    parts: input,
    mode: 'queue',
    ...(opening?.traceContext && { traceContext: opening.traceContext }),
  })
  return tree
}

const callerFields = ({ principal, changes }: Opening): Pick<InteractionEvent<'interaction.session.created'>, 'principal' | 'changes'> => ({
  ...(principal && { principal }),
  ...(changes && { changes }),
})

export function openTree(parts: RuntimeParts, options: OpenTreeOptions): Tree {
  const { state, feed, epoch, seq, registry, title, identity, principal, account } = options
  const { store, clock } = parts.options
  const [startedAt, started] = [clock.now(), clock.monotonic()]
  // The wall clock may jump: from here on time follows the monotonic clock.
  const at = (moment: number): number => startedAt + Math.round(moment - started)
  const { observer } = parts.hosting
  if (seq > 0 && observer) tellContinued(observer, state, principal)
  let lastSummary: TreeSummary | undefined
  const requests = openRequestsIn(state)
  const ledger = new Ledger({
    journal: store.journal,
    treeId: state.root.treeId,
    epoch,
    seq,
    now: () => at(clock.monotonic()),
    at,
    publish: observer ? (event) => publishTo(observer, feed, event) : (event) => feed.publish(event),
    requests,
    charges: () => tree.account,
    ...(identity && { identity }),
    summary() {
      const { state: now } = tree.root
      const status = statusOf(now)
      if (lastSummary?.status === status && lastSummary.openRequests === requests.size) return undefined
      lastSummary = summaryOf(now, { title, openRequests: requests.size })
      return lastSummary
    },
  })
  const tree = new Tree(parts, { ledger, registry, state, principal, account })
  return tree
}

function publishTo(observer: RuntimeObserver, feed: Feed, event: StreamEvent): void {
  if ('seq' in event) observer.stored(event)
  feed.publish(event)
}

function tellContinued(observer: RuntimeObserver, { root, children }: TreeState, principal: Principal | undefined): void {
  for (const { sessionId, agent, parent } of [root, ...children.values()])
    observer.continued({ sessionId, agent: agent.name, parent, principal })
}

function openRequestsIn({ root, children }: TreeState): OpenRequests {
  const requests = new OpenRequests()
  for (const session of [root, ...children.values()])
    for (const { id, itemId, scope } of openRequests(session)) requests.add(id, { sessionId: session.sessionId, itemId, scope })
  return requests
}
