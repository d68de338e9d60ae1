import type { AgentCard, ApprovalId, ApprovalKey, ChildResult, InteractionEvent, ItemId, SessionId } from '../../contracts/index.ts'
import { type Headroom, openRequests, type SessionState, unbounded } from '../../core/index.ts'
import {
  type ActiveSession,
  type ChildStart,
  type Enterable,
  lookAgain,
  type StepPorts,
  type ToolRegistry,
  type TreePort,
} from '../../steps/index.ts'
import type { OpenOptions } from '../api/agent-runtime.ts'
import type { RuntimeParts } from '../api/runtime-parts.ts'
import { roomOf } from '../children/child-budget.ts'
import { Below } from '../children/child-tracker.ts'
import { Children } from '../children/children.ts'
import { reconfigure } from '../resume/reconfigure-session.ts'
import { putBack, takeUp, takeUpChildren } from '../resume/resume-tree.ts'
import { cardsOf } from '../selection/agent-lookup.ts'
import { breakOff, interrupted } from './end-open-turn.ts'
import type { Ledger } from './ledger.ts'
import type { Sessions } from './sessions.ts'
import { type Reader, TreePen } from './tree-event-writer.ts'
import type { TreeState } from './tree-state.ts'

const noCards: readonly AgentCard[] = []

/**
 * The sessions of one tree that are at work, and what they have in common: the pen, the budget, the depth.
 *
 * 1. What a session may spend is bounded by each of its ancestors, less whatever is at work below that one.
 * 2. When everything that is at work waits for a person, the tree is stalled.
 * 3. A tree that has nothing below its root pays for nothing there.
 */
export class Tree implements TreePort, Reader, Sessions {
  readonly root: ActiveSession
  readonly #parts: RuntimeParts
  readonly #registry: ToolRegistry
  readonly #ledger: Ledger
  readonly #pen: TreePen
  readonly #ports: StepPorts
  /** What was below the root when the tree was opened; nothing once that has been taken over. */
  #before: Pick<TreeState, 'children' | 'settled' | 'numbers'>
  #below: Below | undefined
  #children: Children | undefined

  constructor(parts: RuntimeParts, { ledger, registry, state }: { ledger: Ledger; registry: ToolRegistry; state: TreeState }) {
    const { root, children, settled, numbers } = state
    this.#parts = parts
    this.#registry = registry
    this.#ledger = ledger
    this.#pen = new TreePen(ledger, this)
    this.#ports = parts.ports(root.treeId, { tree: this, registry })
    this.#before = { children, settled, numbers }
    this.root = this.session(root)
    if (children.size > 0) this.#open()
  }

  /** Every child of the turn as it stands: those that have ended, and those at work. */
  get children(): TreeState['children'] {
    if (!this.#below) return this.#before.children
    const { atRest, branches } = this.#below
    if (branches.size === 0) return atRest
    const all = new Map(atRest)
    for (const { session } of branches.values()) if (session?.state.parent) all.set(session.state.sessionId, session.state)
    return all
  }

  /** The tree as it stands, for whoever takes it up next. */
  snapshot(inboxCursor: number): TreeState {
    const { settled, branches } = this.#below ?? {}
    return {
      root: this.root.state,
      children: this.children,
      settled: settled ?? this.#before.settled,
      numbers: branches?.root.numbers ?? this.#before.numbers,
      seq: this.#ledger.nextSeq - 1,
      inboxCursor,
    }
  }

  /** Resolves with how the root came to rest, or when the whole tree waits for a person. */
  driven(root: Promise<'idle' | 'suspended'>): Promise<'idle' | 'suspended' | 'stalled'> {
    // Whoever has no children cannot be stalled by one.
    if (!this.#below && this.root.state.agent.agents.length === 0) return root
    const below = this.#open()
    below.stalled = Promise.withResolvers()
    return Promise.race([root, below.stalled.promise])
  }

  /** Whether everything that is at work waits for a person. */
  get isStalled(): boolean {
    return this.#below?.branches.isStalled ?? false
  }

  /** Tells everybody above those who wait that nobody need stay. */
  suspend(): void {
    const approvals: ApprovalId[] = []
    for (const { session, stage } of this.#open().branches.values())
      if (session && stage === 'waiting') approvals.push(...openRequests(session.state).map(({ id }) => id))
    for (const session of this.live()) {
      if (session.state.turn.kind === 'open' && session.state.turn.waiting.kind !== 'suspended')
        session.note({ type: 'interaction.turn.suspended', reason: 'approval', approvals })
    }
  }

  /** Whoever waits for a person may be all that is left. */
  callEnded(): void {
    this.#below?.look()
  }

  /** Tells all that were at work that they have a new driver; the calls that started children will find them. */
  takeUp(epoch: number, changes: OpenOptions): void {
    reconfigure(this.root, changes, this.#parts.models)
    const driver = { parts: this.#parts, registry: this.#registry, epoch }
    takeUp(this.root, driver)
    if (this.#below) takeUpChildren(this.#below, this, driver)
  }

  /** Sessions at work, the root first. */
  live(): readonly ActiveSession[] {
    if (!this.#below) return [this.root]
    const live: ActiveSession[] = []
    for (const { session } of this.#below.branches.values()) if (session) live.push(session)
    return live
  }

  headroom({ state: { sessionId } }: ActiveSession): Headroom {
    const branch = this.#below?.branches.get(sessionId)
    return branch ? roomOf(branch) : unbounded
  }

  budgetLine(session: ActiveSession): Enterable {
    const { branches } = this.#open()
    return branches.budget.placeOf(branches.get(session.state.sessionId) ?? branches.root, session)
  }

  agentsOf({ state: { agent } }: ActiveSession): readonly AgentCard[] {
    return agent.agents.length === 0 ? noCards : cardsOf(this.#parts, agent)
  }

  grants(): readonly ApprovalKey[] {
    return this.root.state.grants
  }

  /**
   * Whoever approves for a session means the run, not the child that happened to ask. The root outlives its children. What
   * others wait for meanwhile may be granted with it.
   */
  grant({ state: { sessionId } }: ActiveSession, keys: readonly ApprovalKey[], by: string): void {
    if (sessionId !== this.root.state.sessionId) this.root.note({ type: 'interaction.approval.granted', keys, from: sessionId, by })
    for (const session of this.live()) lookAgain(session)
  }

  /** Whoever ends the run at a question means all of it: what else is at work hears of it through the calls that it runs in. */
  abort({ state: { sessionId } }: ActiveSession, by: string): void {
    const { root } = this
    if (root.state.turn.kind !== 'open') return
    if (sessionId !== root.state.sessionId) root.note({ type: 'interaction.cancel.requested', mode: 'abort', by })
    root.interrupt.fire('interrupted')
    root.wake()
  }

  /** Stops all work and leaves it open: nobody records anything more but the results of calls that finish in their grace. */
  release(): void {
    const live = this.live()
    for (const session of live) session.release()
    for (const session of live) {
      session.interrupt.fire('released')
      session.wake()
    }
  }

  /** Ends what is open without driving it. A child ends with the call that started it. */
  end(by: string): void {
    const { root } = this
    if (root.state.turn.kind !== 'open') return
    if (this.#below) putBack(this.#below, this)
    root.note({ type: 'interaction.cancel.requested', mode: 'interrupt', by })
    breakOff(root, interrupted)
  }

  startChild(parent: ActiveSession, itemId: ItemId, start: ChildStart): Promise<ChildResult> {
    this.#children ??= new Children(this, { parts: this.#parts, registry: this.#registry, pen: this.#pen, below: this.#open() })
    return this.#children.start(parent, itemId, start)
  }

  session(state: SessionState): ActiveSession {
    return this.#parts.session(this.#pen, state, this.#ports)
  }

  isGivenUp(sessionId: SessionId): boolean {
    return this.#below?.isGivenUp(sessionId) ?? false
  }

  read(event: InteractionEvent): void {
    this.#below?.read(event)
  }

  #open(): Below {
    if (this.#below) return this.#below
    this.#below = new Below(this.root, this.#before)
    this.#before = nothingBefore
    return this.#below
  }
}

const nothingBefore: Pick<TreeState, 'children' | 'settled' | 'numbers'> = { children: new Map(), settled: new Set(), numbers: new Map() }
