import {
  type AgentCard,
  type AgentChanges,
  type AgentSpec,
  type ApprovalKey,
  type ChildResult,
  type ClientId,
  type InteractionEvent,
  type ItemId,
  type LiveEvent,
  type MaybePromise,
  type Principal,
  type SessionId,
  TroupeError,
} from '../../contracts/index.ts'
import { begin, type EventWriter, type Headroom, isInterrupted, type SessionState, unlimited } from '../../core/index.ts'
import {
  ActiveSession,
  type ChildStart,
  type Offer,
  recheckOpenRequests,
  type StepPorts,
  type ToolRegistry,
  type TreePort,
  type WaitTarget,
  withClientTools,
} from '../../steps/index.ts'
import { Interrupt, unlessInterrupted } from '../../util/interrupt.ts'
import type { OwnerAccounts } from '../budgets/owner-accounts.ts'
import type { TreeAccount } from '../budgets/tree-account.ts'
import { adoptDefinitions } from '../changes/adopt-definitions.ts'
import { offerTools } from '../changes/offer-tools.ts'
import { addPrices, reconfigure, recordSettings, withStepInstructions } from '../changes/reconfigure-session.ts'
import { answersAbove, headroomOf } from '../children/child-budget.ts'
import { ChildTracker } from '../children/child-tracker.ts'
import { Children } from '../children/children.ts'
import { endOpenTurn, interrupted } from '../children/end-open-turn.ts'
import type { ParentTree } from '../children/parent-tree.ts'
import { type Delivery, SpawnedChildren } from '../children/spawned-children.ts'
import { recordedTools } from '../journal/recorded-tools.ts'
import type { TreeState } from '../journal/tree-state.ts'
import { isTurnEnd, turnRecordOf } from '../journal/turn-record.ts'
import type { OpenOptions } from '../options/agent-runtime.ts'
import type { RuntimeParts } from '../parts/runtime-parts.ts'
import type { TreeSources } from '../parts/tree-sources.ts'
import { hasText } from './has-text.ts'
import type { Ledger } from './ledger.ts'
import { findLive, findSpeaker, messageFor } from './live-sessions.ts'
import { restoreOpenChildren, resumeChildren, resumeSession } from './resume-tree.ts'
import { suspendTurns } from './suspend-turns.ts'

const noCards: readonly AgentCard[] = []

interface TreeOptions {
  readonly ledger: Ledger
  readonly registry: ToolRegistry
  readonly state: TreeState
  /** Who opened it. */
  readonly principal: Principal | undefined
  /** The account of the owner, if it has a budget and a turn is about to start or continue. */
  readonly account: TreeAccount | undefined
}

/**
 * The active sessions of one tree, with their common event writer and budget.
 *
 * 1. What a session may spend is bounded by each of its ancestors, less what the open descendants of that ancestor use.
 * 2. When every active session waits for a person, the tree is stalled.
 * 3. A tree without children has no child tracker; the tracker observes each event immediately, so that its sums are current.
 * 4. An abandoned session writes nothing more: what still runs there fails at its next event.
 * 5. If the owner has a budget, its account bounds all sessions of the tree, together with those of other trees.
 */
export class Tree implements TreePort, EventWriter, ParentTree {
  readonly root: ActiveSession
  readonly principal: Principal | undefined
  /** Replaced before a turn of the root, if the configuration has changed. */
  parts: RuntimeParts
  /** Whether later turns keep the recorded definitions. */
  isPinned = false
  /** Set by the driver. */
  mailbox: { drain(): Promise<void> } | undefined
  registry: ToolRegistry
  readonly #ledger: Ledger
  /** Written here only. */
  account: TreeAccount | undefined
  #ports: StepPorts
  #sources: TreeSources | undefined
  /** Fires when the tree is released; absent if no turn has waited for its tools. */
  #released: Interrupt | undefined
  /** Ends the wait for what the next turn of the root begins with. */
  #preparing: Interrupt | undefined
  /** What an interrupted turn did not wait for. The next turn does. */
  #unprepared: Promise<void> | undefined
  /** Whether the root has the current definition of its agent. A recorded one may be older. */
  #isCurrent = true
  /** Settings of the caller for the next turn were recorded. */
  #hasNewSettings = false
  /** What the client has brought since the last step. */
  #brought: 'tools' | 'instructions' | undefined
  /** The children when the tree was opened, until the tracker takes them over. */
  #before: Pick<TreeState, 'children' | 'settled' | 'numbers'>
  #tracker: ChildTracker | undefined
  #children: Children | undefined
  #spawned: SpawnedChildren | undefined

  constructor(parts: RuntimeParts, { ledger, registry, state, principal, account }: TreeOptions) {
    const { root, children, settled, numbers } = state
    this.parts = parts
    this.principal = principal
    this.registry = registry
    this.#ledger = ledger
    this.account = account
    this.#ports = parts.ports(root.treeId, { tree: this, registry })
    this.#before = { children, settled, numbers }
    this.#sources = parts.sources && parts.sourcesOf(root.treeId, registry)
    this.root = this.createSession(root)
    if (children.size > 0) this.#track()
  }

  /** The children of the turn, ended and open. */
  get children(): TreeState['children'] {
    if (!this.#tracker) return this.#before.children
    const { inactive, openSessions } = this.#tracker
    if (openSessions.size === 0) return inactive
    const all = new Map(inactive)
    for (const { session } of openSessions.values()) if (session?.state.parent) all.set(session.state.sessionId, session.state)
    return all
  }

  snapshot(inboxCursor: number): TreeState {
    const { settled, openSessions } = this.#tracker ?? {}
    return {
      root: this.root.state,
      children: this.children,
      settled: settled ?? this.#before.settled,
      numbers: openSessions?.root.numbers ?? this.#before.numbers,
      seq: this.#ledger.nextSeq - 1,
      inboxCursor,
    }
  }

  /** Resolves with the result of the root, or when the whole tree waits for a person. */
  untilIdleOrStalled(root: Promise<'idle' | 'suspended'>): Promise<'idle' | 'suspended' | 'stalled'> {
    if (!this.#tracker && this.root.state.agent.agents.length === 0) return root
    const tracker = this.#track()
    tracker.stalled = Promise.withResolvers()
    return Promise.race([root, tracker.stalled.promise])
  }

  get isStalled(): boolean {
    return this.#tracker?.openSessions.isStalled ?? false
  }

  suspend(): void {
    const waiting = [...this.#track().openSessions.values()].flatMap(({ session, stage }) =>
      session && stage === 'waiting' ? [session] : [],
    )
    suspendTurns(this.activeSessions(), waiting)
  }

  /** Delivers an input to a descendant. @throws an error that lists the live ones. */
  sendTo(to: string, delivery: Delivery): void {
    this.spawned.deliver(findLive(this.activeSessions(), to), delivery)
  }

  /** The session that talks to the person, if a handoff is open and does not end now. */
  get speaker(): SessionId | undefined {
    return isInterrupted(this.root.state) ? undefined : findSpeaker(this.activeSessions())
  }

  /** When the suspended tree continues without a message. */
  get wakesAt(): number | undefined {
    return this.#tracker?.openSessions.wakesAt
  }

  callEnded(): void {
    this.#tracker?.checkStalled()
  }

  /** Records the new driver in every open session. Calls find their children later. */
  resume(epoch: number, changes: OpenOptions): void {
    const stoppedAt = Math.max(this.root.state.at, ...[...this.children.values()].map(({ at }) => at))
    this.#isCurrent = false
    this.#hasNewSettings = this.root.state.changes !== undefined
    this.#brought = this.root.state.changes?.clientTools && 'tools'
    this.reportSources()
    reconfigure(this.root, changes, this.parts.models)
    if (this.account?.isCostBound) addPrices(this.root, this.parts.models)
    resumeSession(this.root, this, { epoch, stoppedAt })
    if (this.#tracker) resumeChildren(this.#tracker, this, { epoch, stoppedAt })
  }

  readonly #stateOf = (id: SessionId): SessionState | undefined => this.#tracker?.openSessions.get(id)?.session?.state

  /** Active sessions, the root first. */
  activeSessions(): readonly ActiveSession[] {
    if (!this.#tracker) return [this.root]
    const active: ActiveSession[] = []
    for (const { session } of this.#tracker.openSessions.values()) if (session) active.push(session)
    return active
  }

  headroom({ state: { sessionId } }: ActiveSession): Headroom {
    const open = this.#tracker?.openSessions.get(sessionId)
    const ancestors = open ? headroomOf(open) : unlimited
    return this.account ? [...ancestors, ...this.account.accounts(answersAbove(open))] : ancestors
  }

  get hasOwnerBudget(): boolean {
    return this.account !== undefined
  }

  budgetQueue(session: ActiveSession): WaitTarget {
    const { openSessions } = this.#track()
    return openSessions.budget.placeOf(openSessions.get(session.state.sessionId) ?? openSessions.root, session)
  }

  agentsOf({ state: { agent } }: ActiveSession): readonly AgentCard[] {
    return agent.agents.length === 0 ? noCards : this.parts.cardsFor(agent)
  }

  messageOf({ state }: ActiveSession): ClientId | undefined {
    return messageFor(state, this.#stateOf)
  }

  recordOffer(offer: Offer): string {
    const { hash, tools, instructions } = recordedTools(offer, this.#ports.redactor)
    if (!this.root.state.stored.offers.includes(hash)) this.root.note({ type: 'interaction.offer.recorded', hash, tools, instructions })
    return hash
  }

  grants(): readonly ApprovalKey[] {
    return this.root.state.grants
  }

  /** A grant for the session belongs to the root, not to the child that asked. It may also answer requests of other sessions. */
  grant({ state: { sessionId } }: ActiveSession, keys: readonly ApprovalKey[], by: string): void {
    if (sessionId !== this.root.state.sessionId) this.root.note({ type: 'interaction.approval.granted', keys, from: sessionId, by })
    for (const session of this.activeSessions()) void recheckOpenRequests(session)
  }

  async readInbox(): Promise<void> {
    await this.mailbox?.drain().catch(() => {})
  }

  /** An abort ends the whole tree; other sessions are interrupted through their calls. */
  abort({ state: { sessionId } }: ActiveSession, by: string): void {
    const { root } = this
    if (root.state.turn.kind !== 'open') return
    if (sessionId !== root.state.sessionId) root.note({ type: 'interaction.cancel.requested', mode: 'abort', by })
    root.interrupt.fire('interrupted')
    root.wake()
  }

  /** An interrupt while the next turn is prepared: the turn begins, to end without a step. What prepares it is not awaited. */
  beginInterrupted(): void {
    const action = this.root.decide()
    if (action.kind !== 'begin' || this.root.isRetired) return
    begin(this.root, action)
    this.#preparing?.fire('interrupted')
  }

  /** Stops all work and leaves turns open. Only results of calls within their grace time are still recorded. */
  release(): void {
    const active = this.activeSessions()
    for (const session of active) session.release()
    this.#released?.fire('released')
    for (const session of active) {
      session.interrupt.fire('released')
      session.wake()
    }
  }

  /** Ends open turns without driving them. Children end with their calls. */
  end(by: string): void {
    const { root } = this
    if (root.state.turn.kind !== 'open') return
    if (this.#tracker) restoreOpenChildren(this.#tracker, this)
    root.note({ type: 'interaction.cancel.requested', mode: 'interrupt', by })
    this.#tracker?.closeSpawned(root)
    endOpenTurn(root, interrupted)
  }

  startChild(parent: ActiveSession, itemId: ItemId, start: ChildStart): Promise<ChildResult> {
    this.#children ??= new Children(this, this.#track())
    return this.#children.start(parent, itemId, start)
  }

  get spawned(): SpawnedChildren {
    this.#children ??= new Children(this, this.#track())
    this.#spawned ??= new SpawnedChildren(this, this.#track(), this.#children)
    return this.#spawned
  }

  /** Continues the spawned children that an earlier driver left open. */
  resumeSpawned(): void {
    if (this.activeSessions().some(({ state: { turn } }) => turn.kind === 'open' && turn.spawned.length > 0)) this.spawned.resume()
  }

  /** Resolves when no spawned child runs. Called after the release. */
  async spawnedSettled(): Promise<void> {
    await this.#spawned?.settled()
  }

  async rest(session: ActiveSession): Promise<void> {
    const tracker = this.#track()
    const open = tracker.openSessions.get(session.state.sessionId)
    if (!open) throw new TroupeError('internal', `The session ${session.state.sessionId} is not open.`)
    const woken = session.nextWake()
    this.#spawned?.check()
    tracker.openSessions.rest(open)
    tracker.checkStalled()
    await woken
    tracker.openSessions.resume(open)
    this.#spawned?.check()
  }

  createSession(state: SessionState): ActiveSession {
    const { recipe, clock } = this.parts.options
    const registry = withClientTools(this.registryOf(state.agent), state.agent, state.changes)
    const ports = registry === this.#ports.registry ? this.#ports : { ...this.#ports, registry }
    return new ActiveSession({ recipe, clock, writer: this, state }, ports)
  }

  registryOf(agent: AgentSpec): ToolRegistry {
    return this.#sources?.registryOf(agent) ?? this.registry
  }

  prepareTurn(session: ActiveSession): MaybePromise<void> {
    if (this.#unprepared && session === this.root)
      return this.#unlessEnded(
        session,
        this.#unprepared.then(() => this.prepareTurn(session)),
      )
    const preparing = this.#prepareDefinitions(session)
    const { accounts } = this.parts
    if (!accounts || !this.principal || session !== this.root) return preparing
    return this.#unlessEnded(session, this.#prepareAccount(preparing, accounts, this.principal.id))
  }

  /** The first turn begins with the account that was opened for it. */
  async #prepareAccount(preparing: MaybePromise<void>, accounts: OwnerAccounts, owner: string): Promise<void> {
    await preparing
    const { root } = this
    if (this.account && root.state.turns > 0) await accounts.refresh(this.account)
    const opened = this.account ? undefined : await accounts.open(owner)
    // The tree may have been released meanwhile, and its driver may have settled.
    if (root.isReleased) return opened?.leave()
    if (opened) this.#useAccount(opened)
    if (!this.account?.isCostBound) return
    this.parts.models.checkPrices(root.state.agent, true)
    addPrices(root, this.parts.models)
  }

  #useAccount(account: TreeAccount): void {
    this.account = account
    if (this.#tracker) this.#tracker.openSessions.budget = account.queue
  }

  #prepareDefinitions(session: ActiveSession): MaybePromise<void> {
    if (session === this.root && (this.#hasNewSettings || (!this.isPinned && !(this.#isCurrent && this.parts.isNewest))))
      return this.#unlessEnded(session, this.#adopt(session))
    if (!this.#sources) return undefined
    if (this.#sources.isStale(session.state.agent)) return this.#unlessEnded(session, this.#refreshTools(session))
    this.#useTools(session, this.#sources.registryOf(session.state.agent))
  }

  /** Sources may take a while to list their tools: neither a release nor an interrupt waits for them. */
  async #unlessEnded(session: ActiveSession, preparing: Promise<void>): Promise<void> {
    this.#released ??= new Interrupt()
    const ended = new Interrupt(this.#released)
    if (session === this.root) this.#preparing = ended
    try {
      await unlessInterrupted(ended, preparing)
    } catch (error) {
      if (ended.reason === undefined) throw error
      if (ended.reason !== 'interrupted') return
      const unprepared = preparing
        .catch(() => {})
        .finally(() => {
          if (this.#unprepared === unprepared) this.#unprepared = undefined
        })
      this.#unprepared = unprepared
    } finally {
      ended.close()
    }
  }

  async #adopt(session: ActiveSession): Promise<void> {
    const { newest } = this.isPinned ? { newest: this.parts } : this.parts.catalogue
    if (newest !== this.parts) await this.#switchTo(newest)
    this.#isCurrent = true
    const how = { isPinned: this.isPinned, hasNewSettings: this.#hasNewSettings }
    this.#hasNewSettings = false
    await adoptDefinitions(session, newest, how)
    if (!session.isReleased) this.addInstructions(session)
  }

  /** From here on children, tools, rules and skills are those of the newer configuration. */
  async #switchTo(newest: RuntimeParts): Promise<void> {
    const { treeId } = this.root.state
    const registry = await newest.registry()
    this.parts = newest
    this.registry = registry
    this.#sources = newest.sources && newest.sourcesOf(treeId, registry)
    this.#sources?.reconfigure(newest.sourceOptions(treeId, registry))
    this.#ports = newest.ports(treeId, { tree: this, registry })
    this.root.ports = this.#ports
    this.reportSources()
  }

  async #refreshTools(session: ActiveSession): Promise<void> {
    const registry = await this.parts.toolsFor(session.state.treeId, session.state.agent)
    if (!session.isReleased) this.#useTools(session, registry)
  }

  /** Offers changed tools from this turn on. */
  #useTools(session: ActiveSession, base: ToolRegistry, agent = session.state.agent): void {
    if (session === this.root) this.#brought = undefined
    this.addInstructions(session)
    offerTools(session, { base, setup: this.parts.sessionSetup, agent })
  }

  addInstructions(session: ActiveSession): void {
    for (const { source, text } of this.#sources?.instructionsFor(session.state.agent) ?? []) {
      const message = `Instructions of the server "${source}" for its tools:\n${text}`
      if (!hasText(session.state, message)) session.note({ type: 'interaction.context.added', source, text: message })
    }
  }

  /** Records settings of the root, for its next turn. Tools of the client, and what comes with its results, are for the next step. */
  changeSettings(given: AgentChanges, { withResult = false } = {}): void {
    const changes = recordSettings(this.root, given)
    if (withResult && changes.instructions !== undefined && !this.isPinned) this.#brought = 'instructions'
    else if (changes.clientTools) this.#brought ??= 'tools'
    this.#hasNewSettings ||= Object.keys(changes).some((key) => key !== 'clientTools' && key !== 'toolChoice')
  }

  adoptTools(session: ActiveSession): boolean {
    if (!this.#brought || session !== this.root) return false
    const { agent, seq } = session.state
    this.#useTools(session, this.registryOf(agent), this.#brought === 'tools' ? agent : withStepInstructions(session.state, this.parts))
    return session.state.seq > seq
  }

  /** Records problems of sources from now on. */
  reportSources(): void {
    this.#sources?.recordWith((diagnostic) => this.root.note({ type: 'interaction.diagnostic', diagnostic }))
  }

  get nextSeq(): number {
    return this.#ledger.nextSeq
  }

  get now(): number {
    return this.#ledger.now
  }

  at(moment: number): number {
    return this.#ledger.at(moment)
  }

  push(event: InteractionEvent, before?: SessionState): void {
    const tracker = this.#tracker
    if (tracker?.isAbandoned(event.sessionId))
      throw new TroupeError('internal', `The session ${event.sessionId} was abandoned and cannot continue.`)
    this.#ledger.push(event)
    if (before && isTurnEnd(event)) this.#ledger.turnEnded(turnRecordOf(event, before, this.#stateOf))
    // First: the tracker wakes sessions, which ask the account what is left.
    const hasEnded = this.account?.observe(event)
    tracker?.observe(event)
    if (hasEnded) this.account?.queue.wakeReady()
  }

  live(event: LiveEvent): void {
    if (!this.#tracker?.isAbandoned(event.sessionId)) this.#ledger.live(event)
  }

  flush(): MaybePromise<void> {
    return this.#ledger.flush()
  }

  handedOver(): MaybePromise<void> {
    return this.#ledger.handedOver()
  }

  /** The last flush of a released tree. */
  flushBegun(): MaybePromise<void> {
    return this.#ledger.flushBegun()
  }

  #track(): ChildTracker {
    if (this.#tracker) return this.#tracker
    this.#tracker = new ChildTracker(this.root, this.#before, this.account?.queue)
    this.#before = nothingBefore
    return this.#tracker
  }
}

const nothingBefore: Pick<TreeState, 'children' | 'settled' | 'numbers'> = { children: new Map(), settled: new Set(), numbers: new Map() }
