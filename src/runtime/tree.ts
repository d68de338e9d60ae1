import type {
  AgentCard,
  AgentSpec,
  ChildResult,
  ClientId,
  InteractionEvent,
  ItemId,
  Lane,
  SessionId,
  ToolFailure,
} from '../contracts/index.ts'
import { TroupeError } from '../contracts/index.ts'
import {
  created,
  drive,
  type Headroom,
  lastAnswer,
  least,
  openRequests,
  remainingCost,
  remainingTime,
  remainingTokens,
  type SessionState,
  timeReserve,
  unbounded,
} from '../core/index.ts'
import { type ActiveSession, type ChildStart, Lanes, performer, type StepPorts, type ToolRegistry, type TreePort } from '../steps/index.ts'
import { messageOf } from '../util/message-of.ts'
import { Below, type Branch, nobody, none } from './below.ts'
import { childFailure } from './child-failure.ts'
import { EndedChild } from './ended-child.ts'
import type { Ledger } from './ledger.ts'
import type { RuntimeParts } from './runtime-parts.ts'
import { childIdOf, type TreeState, withoutHistory } from './tree-state.ts'

const noCards: readonly AgentCard[] = []
const shared: Lane = { kind: 'shared' }

/**
 * The sessions of one tree that are at work, and what they have in common: the pen, the budget, the depth.
 *
 * 1. A child is named after the call that started it: the same call finds the same child again.
 * 2. What a session may spend is bounded by each of its ancestors, less whatever is at work below that one.
 * 3. A parent waits for its children without holding anything that they need.
 * 4. When everything that is at work waits for a person, the tree is stalled.
 */
export class Tree implements TreePort {
  readonly #parts: RuntimeParts
  readonly #ledger: Ledger
  readonly #registry: ToolRegistry
  readonly #ports: StepPorts
  #below: Below | undefined
  #root: ActiveSession | undefined

  constructor(parts: RuntimeParts, { ledger, registry, state }: { ledger: Ledger; registry: ToolRegistry; state: TreeState }) {
    this.#parts = parts
    this.#ledger = ledger
    this.#registry = registry
    this.#ports = parts.ports(state.root.treeId, { tree: this, registry })
    if (state.children.size > 0) this.#below = new Below(state)
  }

  /** Every child as it stands: those that have ended, and those at work. */
  get children(): ReadonlyMap<SessionId, SessionState> {
    const known = this.#below?.known ?? none
    const live = this.live().filter(({ state }) => state.parent)
    return live.length === 0 ? known : new Map([...known, ...live.map(({ state }) => [state.sessionId, state] as const)])
  }

  /** The tree as it stands, for whoever takes it up next. */
  snapshot(inboxCursor: number): TreeState {
    const root = this.#root?.state
    if (!root) throw new TroupeError('internal', 'The tree has no root.')
    const position = { seq: this.#ledger.nextSeq - 1, inboxCursor }
    if (!this.#below) return { root, children: none, settled: nobody, ...position }
    return { root, children: this.children, settled: this.#below.settled, ...position }
  }

  /** Resolves with how the root came to rest, or when the whole tree waits for a person. */
  driven(root: Promise<'idle' | 'suspended'>): Promise<'idle' | 'suspended' | 'stalled'> {
    const { agent } = this.#root?.state ?? {}
    // Whoever has no children cannot be stalled by one.
    if (!this.#below && !(agent && agent.agents.length > 0)) return root
    const below = this.#open()
    below.stalled = Promise.withResolvers()
    return Promise.race([root, below.stalled.promise])
  }

  /** Whether everything that is at work waits for a person. */
  get isStalled(): boolean {
    return this.#root !== undefined && this.#isStalled(this.#root)
  }

  /** Tells everybody above those who wait that nobody need stay. */
  suspend(): void {
    const approvals = [...this.#open().suspended].flatMap(({ state }) => openRequests(state).map(({ id }) => id))
    for (const session of this.live()) {
      if (session.state.turn.kind === 'open' && session.state.turn.waiting.kind !== 'suspended')
        session.note({ type: 'interaction.turn.suspended', reason: 'approval', approvals })
    }
  }

  /** Whoever waits for a person may be all that is left. */
  callEnded(): void {
    if (this.#below && this.#below.suspended.size > 0) this.#look()
  }

  /** Tells children that were at work that they have a new driver; the calls that started them will find them. */
  takeUp(epoch: number): void {
    const known = this.#below?.known
    if (!known) return
    for (const [childId, state] of known) {
      if (state.turn.kind !== 'open') continue
      const session = this.#session(state)
      session.note({ type: 'interaction.session.resumed', epoch, policy: this.#parts.policy, diagnostics: [] })
      this.#open().resting.set(childId, session)
      known.delete(childId)
    }
  }

  plant(state: SessionState): ActiveSession {
    this.#root = this.#session(state)
    return this.#root
  }

  /** Sessions at work, the root first. */
  live(): readonly ActiveSession[] {
    if (!this.#root) return []
    if (!this.#below) return [this.#root]
    const { branches, resting } = this.#below
    return [this.#root, ...[...branches.values()].flatMap(({ session }) => (session ? [session] : [])), ...resting.values()]
  }

  headroom(session: ActiveSession): Headroom {
    const { branches } = this.#open()
    let room: Headroom = unbounded
    for (let at = branches.get(session.state.sessionId); at; at = branches.get(at.parent.state.sessionId))
      if (isLimited(at.parent)) room = this.#within(room, at.parent)
    return room
  }

  /** What is left of a room inside of another, less what is at work there. */
  #within(room: Headroom, { state, turn, now }: ActiveSession): Headroom {
    const below = this.#inUse(state.sessionId)
    // What the parent needs to read everything once more and answer is not its children's.
    const reserve = answerReserve(state)
    return {
      ...bound('tokens', least(room.tokens, less(remainingTokens(state, turn), below.tokens + reserve.tokens))),
      ...bound('costUsd', least(room.costUsd, less(remainingCost(state, turn), below.costUsd + reserve.costUsd))),
      ...bound('timeMs', least(room.timeMs, less(remainingTime(state, turn, now), timeReserve(state)))),
    }
  }

  agentsOf({ state }: ActiveSession): readonly AgentCard[] {
    return state.agent.agents.length === 0 ? noCards : this.#parts.cardsOf(state.agent)
  }

  async startChild(parent: ActiveSession, itemId: ItemId, start: ChildStart): Promise<ChildResult> {
    const childId = childIdOf(parent.state.sessionId, itemId)
    const { known, resting, branches, lines } = this.#open()
    const refusal = known.has(childId) || resting.has(childId) ? undefined : this.#refusal(parent, start.task.agent)
    if (refusal) return { kind: 'refused', failure: refusal }
    const branch: Branch = { parent, session: undefined, isNext: false }
    branches.set(childId, branch)
    try {
      const running = this.#lineOf(parent).run(shared, () => this.#run(childId, branch, { itemId, start }))
      // From here on the child works, or nobody does.
      parent.hold?.leave()
      if (!branch.isNext) start.hold?.leave()
      return await running
    } finally {
      branches.delete(childId)
      lines.delete(childId)
      this.callEnded()
    }
  }

  async #run(childId: SessionId, branch: Branch, { itemId, start }: { itemId: ItemId; start: ChildStart }): Promise<ChildResult> {
    const { task, interrupt, hold } = start
    branch.isNext = true
    if (hold && !hold.tryEnter()) await hold.enter(interrupt)
    const { parent } = branch
    // Whoever is to stop begins nothing more.
    if (interrupt.reason !== undefined || parent.turn.cancel !== 'no') return { kind: 'refused', failure: cancelledBefore }
    const { known, resting } = this.#open()
    const before = resting.get(childId)?.state ?? known.get(childId)
    const agent = before?.agent ?? this.#parts.childAgent(task.agent)
    try {
      const resolving = this.#parts.models(agent)
      if (resolving) await resolving
      this.#parts.checkPrices(agent, this.#isCostBound(parent))
    } catch (error) {
      return { kind: 'refused', failure: { class: 'config', message: messageOf(error), remedy: 'Go on without it.' } }
    }
    if (interrupt.reason !== undefined) return { kind: 'refused', failure: cancelledBefore }
    const session =
      resting.get(childId) ?? (before ? this.#session(before) : this.#begin(parent, { childId, itemId, agent, input: task.input }))
    branch.session = session
    session.hold = hold
    resting.delete(childId)
    known.delete(childId)
    if (session.state.turn.kind !== 'ended') {
      interrupt.listen(() => cancel(session, interrupt.reason ?? 'parent'))
      await this.#drive(session)
    }
    return this.#end(parent, itemId, session)
  }

  /** Drives a child to the end of its turn; where only a person can go on, until one has. */
  async #drive(session: ActiveSession): Promise<void> {
    while ((await drive(session, performer)) === 'suspended') {
      if (session.decide().kind !== 'wait') continue
      const woken = session.woken()
      const { suspended } = this.#open()
      suspended.add(session)
      this.#look()
      await woken
      suspended.delete(session)
    }
  }

  /** The session, its input and the note of it to the parent are one batch: a crash leaves all of them or none. */
  #begin(
    parent: ActiveSession,
    { childId, itemId, agent, input }: { childId: SessionId; itemId: ItemId; agent: AgentSpec; input: ChildStart['task']['input'] },
  ): ActiveSession {
    const { state, turn } = parent
    const { tools, promptChars, policy, prices } = this.#parts.effective(agent, this.#registry)
    const agentPath = `${state.agentPath}/${agent.name}#${this.#open().numberOf(state.sessionId, agent.name)}`
    const first: InteractionEvent<'interaction.session.created'> = {
      type: 'interaction.session.created',
      seq: this.#ledger.nextSeq,
      treeId: state.treeId,
      sessionId: childId,
      agentPath,
      at: this.#ledger.now,
      agent,
      trace: {
        originId: state.trace.originId,
        parentId: state.sessionId,
        callPath: `${state.trace.callPath}/${agent.name}`,
        turnPath: state.trace.turnPath === '' ? turn.id : `${state.trace.turnPath}/${turn.id}`,
      },
      parent: { sessionId: state.sessionId, turnId: turn.id, itemId },
      tools,
      promptChars,
      policy,
      ...(prices && { prices }),
    }
    this.#ledger.push(first)
    const session = this.#session(created(first))
    session.note({ type: 'interaction.input.accepted', clientId: `${childId}.input` as ClientId, parts: input, mode: 'queue' })
    parent.note({ type: 'interaction.subagent.started', itemId, childId, agent: agent.name, childPath: agentPath })
    return session
  }

  #end(parent: ActiveSession, itemId: ItemId, { state }: ActiveSession): ChildResult {
    const { turn, agent, sessionId: childId } = state
    if (turn.kind !== 'ended') throw new TroupeError('internal', `The child ${childId} came to rest in the middle of its turn.`)
    const { ending, totals } = turn
    const failure = childFailure(agent.name, ending)
    const { known, settled } = this.#open()
    if (!settled.has(childId)) {
      const { paidUsd, children, idleMs } = turn
      const end = { childId, agent: agent.name, totals, paidUsd, children, idleMs }
      if (ending.status === 'completed' || ending.status === 'partial')
        parent.note({ type: 'interaction.subagent.completed', itemId, ...end, status: ending.status })
      else parent.note({ type: 'interaction.subagent.failed', itemId, ...end, status: ending.status, failure: failure ?? unexplained })
      settled.add(childId)
    }
    known.set(childId, withoutHistory(state))
    return new EndedChild({ state, turn, known, failure })
  }

  /** Why a child may not be started here, if it may not. */
  #refusal(parent: ActiveSession, name: string): ToolFailure | undefined {
    const allowed = parent.state.agent.agents
    if (!allowed.includes(name))
      return {
        class: 'config',
        message: `${parent.state.agent.name} has no child "${name}".`,
        remedy: allowed.length > 0 ? `There are: ${allowed.join(', ')}.` : 'Name its children in `agents`.',
      }
    const line = this.#lineage(parent)
    if (line.some(({ state }) => state.agent.name === name))
      return {
        class: 'config',
        message: `${name} is already at work above this call: it cannot be its own child.`,
        remedy: 'Do it yourself.',
      }
    for (const [index, ancestor] of line.entries()) {
      const { maxDepth, maxChildren } = ancestor.state.agent.limits
      const { name: who } = ancestor.state.agent
      if (index + 1 > maxDepth)
        return {
          class: 'budget',
          message: `${who} may have ${maxDepth} levels of children, and this would be one more.`,
          remedy: 'Do it yourself.',
        }
      if (this.#startedBelow(ancestor) >= maxChildren)
        return {
          class: 'budget',
          message: `${who} may start ${maxChildren} children in a turn, and has.`,
          remedy: 'Go on with what you have.',
        }
    }
    return undefined
  }

  /** What was taken below a session and is not yet in its own account, with what is set aside there. */
  #inUse(parent: SessionId): { tokens: number; costUsd: number } {
    const sum = { tokens: 0, costUsd: 0 }
    const { settled } = this.#open()
    for (const child of this.#childrenOf(parent)) {
      const { turn, sessionId } = child.state
      if (turn.kind === 'none' || settled.has(sessionId)) continue
      const { usage } = turn.kind === 'open' ? turn.spent : turn.totals
      const { input = 0, output = 0, costUsd = 0 } = turn.kind === 'open' && turn.step.kind === 'asking' ? turn.step.reservation : {}
      const below = this.#inUse(sessionId)
      sum.tokens += usage.input + usage.output + input + output + below.tokens
      sum.costUsd += turn.paidUsd + costUsd + below.costUsd
    }
    return sum
  }

  #startedBelow(session: ActiveSession): number {
    const { branches, known, resting } = this.#open()
    let own = session.state.turn.kind === 'open' ? session.state.turn.children : 0
    // Those in line count, too.
    for (const [childId, branch] of branches)
      if (branch.parent === session && !branch.session && !known.has(childId) && !resting.has(childId)) own++
    for (const child of this.#childrenOf(session.state.sessionId)) own += this.#startedBelow(child)
    return own
  }

  #isCostBound(session: ActiveSession): boolean {
    return this.#lineage(session).some(({ state }) => state.agent.limits.maxCostUsd !== undefined)
  }

  #childrenOf(parent: SessionId): readonly ActiveSession[] {
    const found: ActiveSession[] = []
    const { branches, resting } = this.#open()
    for (const branch of branches.values()) if (branch.parent.state.sessionId === parent && branch.session) found.push(branch.session)
    for (const session of resting.values()) if (session.state.parent?.sessionId === parent) found.push(session)
    return found
  }

  /** A session and those above it, up to the root. */
  #lineage(session: ActiveSession): readonly ActiveSession[] {
    const line = [session]
    const { branches } = this.#open()
    for (let at = branches.get(session.state.sessionId); at; at = branches.get(at.parent.state.sessionId)) line.push(at.parent)
    return line
  }

  #lineOf(parent: ActiveSession): Lanes {
    const { sessionId, agent } = parent.state
    const { lines } = this.#open()
    let line = lines.get(sessionId)
    if (!line) {
      line = new Lanes(agent.limits.parallelChildren)
      lines.set(sessionId, line)
    }
    return line
  }

  #session(state: SessionState): ActiveSession {
    return this.#parts.session(this.#ledger, state, this.#ports)
  }

  #open(): Below {
    this.#below ??= new Below()
    return this.#below
  }

  #look(): void {
    if (this.isStalled) this.#open().stalled.resolve('stalled')
  }

  #isStalled(session: ActiveSession): boolean {
    const below = this.#open()
    if (below.suspended.has(session)) return session.decide().kind === 'wait'
    const branches = [...below.branches.values()].filter((branch) => branch.parent === session)
    const started = branches.flatMap(({ session: child }) => (child ? [child] : []))
    // Whoever is still in line waits for one of those that have been started.
    return started.length > 0 && session.callsInFlight === branches.length && started.every((child) => this.#isStalled(child))
  }
}

const cancelledBefore: ToolFailure = { class: 'cancelled', message: 'It was not started: the call was ended before.' }
const unexplained: ToolFailure = { class: 'failed', message: 'It did not say why.' }

/** What a parent needs for its last answer, at the price of the dearest model. */
function answerReserve(state: SessionState): { readonly tokens: number; readonly costUsd: number } {
  const { input, output } = lastAnswer(state)
  const costs = Object.values(state.prices).map((price) => input * price.input + output * price.output)
  return { tokens: input + output, costUsd: Math.max(0, ...costs) }
}

/** Most parents bound their children by nothing but their own end. */
const isLimited = ({ state: { agent } }: ActiveSession): boolean =>
  (agent.limits.maxTokens ?? agent.limits.maxSessionTokens ?? agent.limits.maxCostUsd ?? agent.limits.timeBudget) !== undefined

const less = (left: number | undefined, used: number): number | undefined => (left === undefined ? undefined : left - used)
const bound = <Key extends keyof Headroom>(key: Key, value: number | undefined): Headroom => (value === undefined ? {} : { [key]: value })

/** The turn of a child ends with the call that started it; what was said until then is kept. */
function cancel(session: ActiveSession, by: string): void {
  if (session.state.turn.kind !== 'open') return
  session.note({ type: 'interaction.cancel.requested', mode: 'interrupt', by })
  session.interrupt.fire('interrupted')
  session.wake()
}
