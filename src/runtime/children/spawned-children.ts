import {
  type ChildTask,
  type ClientId,
  type HandoffReason,
  type InputMode,
  type InputPart,
  type SessionId,
  type SpawnedAgent,
  type ToolFailure,
  TroupeError,
  type WaitedAgent,
  type WaitRequest,
} from '../../contracts/index.ts'
import {
  callIdOf,
  type EndedTurn,
  nextInput,
  Released,
  type SessionState,
  type SpawnedChild,
  type StartedCall,
  speakerOf,
} from '../../core/index.ts'
import {
  type ActiveSession,
  interruptGraceMs,
  type SpawningCall,
  type SpawnMessage,
  type SpawnPort,
  type WaitingCall,
} from '../../steps/index.ts'
import { Interrupt } from '../../util/interrupt.ts'
import type { OpenSession, Wait } from '../budgets/open-sessions.ts'
import { childIdOf } from '../journal/tree-state.ts'
import { type ChildTracker, noteNextTurn } from './child-tracker.ts'
import type { Children } from './children.ts'
import { interrupted } from './end-open-turn.ts'
import type { ParentTree } from './parent-tree.ts'

/** Time for a child to end when it is closed; after that it is abandoned. As long as for a child that is called. */
const closeMs = 10_000

/** The turns of one child that run now. */
interface Running {
  ended: Promise<void>
  /** Interrupts the turn that runs. */
  interrupt: Interrupt
  /** Resolves when that turn has had enough time to end after its interrupt. */
  late: Promise<void>
  open: OpenSession | undefined
}

interface Refused {
  readonly kind: 'refused'
  readonly failure: ToolFailure
}

/**
 * Children that outlive the call that started them.
 *
 * 1. `spawned` of the parent's turn is the list of them. Only events change it: a new driver finds the same list.
 * 2. Between its turns a child holds nothing but its state among the inactive ones.
 * 3. The end of each turn is recorded in the parent once, with the notice for its model, and wakes it.
 * 4. No child is left when the turn of its parent has ended.
 * 5. A child that talks to the person starts a turn only after its parent has seen the turn before.
 */
export class SpawnedChildren implements SpawnPort {
  readonly #tree: ParentTree
  readonly #tracker: ChildTracker
  readonly #children: Children
  readonly #running = new Map<SessionId, Running>()
  /** The last turn of a child that its parent has seen. */
  readonly #seen = new Map<SessionId, number>()
  #failure: unknown

  constructor(tree: ParentTree, tracker: ChildTracker, children: Children) {
    this.#tree = tree
    this.#tracker = tracker
    this.#children = children
  }

  async spawn(parent: ActiveSession, { itemId, number, handsOver }: SpawningCall, task: ChildTask): Promise<SpawnedAgent | Refused> {
    const childId = childIdOf(parent.state.sessionId, itemId, number)
    const known = findChild(parent, childId)
    if (known) return shown(known)
    const speaker = handsOver && speakerOf(parent.state)
    if (speaker) return refused(`${speaker.name} already talks to the person.`, 'Take control back first.')
    if (handsOver && hasHandedOver(parent)) return refused('This step has handed the person over already.', oneHandoff)
    const created = await this.#children.create(parent, childId, { itemId, task, handsOver })
    if (created.kind === 'refused') return created
    // In the same batch: it never speaks before.
    if (handsOver) {
      const { agent, name } = childOf(parent, childId)
      parent.note({ type: 'interaction.handoff.started', itemId, childId, agent, childPath: `${parent.state.agentPath}/${name}` })
    }
    this.#start(parent, childId)
    return shown(childOf(parent, childId))
  }

  async send(parent: ActiveSession, call: StartedCall, { id, input, mode }: SpawnMessage): Promise<SpawnedAgent | Refused> {
    const child = this.#byName(parent, id)
    if ('kind' in child) return child
    const clientId = callIdOf(parent.state.sessionId, call.itemId) as string as ClientId
    // After a crash the same call is made again.
    if (call.attempt === 1 || !(await this.#hasAccepted(child.childId, clientId))) this.deliver(child.childId, { clientId, input, mode })
    return shown(childOf(parent, child.childId))
  }

  /**
   * Adds an input to a live session. An idle child starts a turn. A child that a call waits for has only the turn that is open, so
   * it reads the input at its next step. `inbox`: the position of the message.
   */
  deliver(childId: SessionId, { clientId, input: parts, mode, inbox }: Delivery): void {
    const { root } = this.#tracker.openSessions
    const parent = this.#parentOf(childId)
    const accepted = parent || childId === root.sessionId ? mode : 'steer'
    const draft = { type: 'interaction.input.accepted', clientId, parts, mode: accepted, ...(inbox !== undefined && { inbox }) } as const
    const open = this.#tracker.openSessions.get(childId)?.session
    if (open) {
      open.note(draft)
      open.wake()
    } else {
      const before = this.#tracker.inactive.get(childId)
      if (!before) throw new TroupeError('internal', `The child ${childId} has no state.`)
      const session = this.#tree.createSession(before)
      session.note(draft)
      this.#tracker.inactive.set(childId, session.state)
    }
    if (parent) this.#start(parent, childId)
  }

  async wait(
    parent: ActiveSession,
    call: WaitingCall,
    { ids, mode = 'any', timeoutMs, seen = 0, idleMs = Number.POSITIVE_INFINITY }: WaitRequest,
  ): Promise<readonly WaitedAgent[] | Refused> {
    const children: SpawnedChild[] = []
    for (const id of ids) {
      const child = this.#byName(parent, id)
      if ('kind' in child) return child
      children.push(child)
    }
    const hasNews = ({ childId }: SpawnedChild): boolean => {
      const child = findChild(parent, childId)
      return noticesOf(parent, childId).length > 0 || (child?.handoff === 'open' && !child.isWorking && child.turn > seen)
    }
    const isRecalled = (): boolean => children.some(({ childId }) => findChild(parent, childId)?.isRecalled)
    if (!mustDecide(parent) && !isRecalled())
      for (const { childId, handoff } of children) if (handoff === 'open') this.#showTurn(parent, childId, seen)
    const until = (): number =>
      Math.min(...children.map(({ childId }) => (this.#idleSince(parent, childId) ?? Number.POSITIVE_INFINITY) + idleMs))
    const isDone = (): boolean => {
      const isWorking = children.some(({ childId }) => findChild(parent, childId)?.isWorking)
      const isClosed = children.every(({ childId }) => !findChild(parent, childId))
      if (isClosed || (!isWorking && mode !== 'next') || mustDecide(parent) || this.#failure !== undefined) return true
      return isRecalled() || until() <= parent.clock.now() || (mode !== 'all' && children.some(hasNews))
    }
    if (!isDone()) await this.#untilDone(parent, call, { isDone, until, timeoutMs })
    if (this.#failure !== undefined) throw this.#failure
    if (parent.isReleased) throw new Released()
    const waited = children.map((child) => this.#waited(parent, child))
    const delivered = waited.flatMap(({ status }, index) => (status === 'idle' ? noticesOf(parent, children[index]?.childId) : []))
    if (delivered.length > 0) {
      parent.deliveries ??= new Map()
      parent.deliveries.set(call.itemId, delivered)
    }
    return waited
  }

  async close(parent: ActiveSession, id: string): Promise<WaitedAgent | Refused> {
    const child = this.#byName(parent, id)
    if ('kind' in child) return child
    await this.#close(parent, child)
    return { ...shown(child), status: 'closed' }
  }

  async takeBack(parent: ActiveSession, id: string, reason: HandoffReason): Promise<WaitedAgent | Refused> {
    const child = this.#byName(parent, id)
    if ('kind' in child) return child
    if (child.handoff === undefined) return refused(`${id} does not talk to the person.`, 'Close it instead.')
    const stopping = this.#stop(child.childId)
    this.#tracker.endHandoff(parent, child, reason)
    await stopping
    this.#abandonRest(parent, child.childId)
    return this.#waited(parent, child)
  }

  list(parent: ActiveSession): readonly SpawnedAgent[] {
    return spawnedOf(parent).map(shown)
  }

  async closeAll(parent: ActiveSession): Promise<void> {
    await Promise.all(spawnedOf(parent).map((child) => this.#close(parent, child)))
  }

  /** Starts what an earlier driver left open. */
  resume(): void {
    for (const { session } of [...this.#tracker.openSessions.values()])
      if (session) for (const { childId } of spawnedOf(session)) if (this.#hasWork(childId)) this.#start(session, childId)
  }

  /** Resolves when no turn of a spawned child runs any more. */
  async settled(): Promise<void> {
    while (this.#running.size > 0) await Promise.all([...this.#running.values()].map(({ ended }) => ended))
  }

  /** @throws what has stopped a child, such as a failing store. */
  check(): void {
    if (this.#failure !== undefined) throw this.#failure
  }

  /** Its next turn may start, if there is input. */
  #showTurn(parent: ActiveSession, childId: SessionId, turn: number): void {
    this.#seen.set(childId, turn)
    if (this.#hasWork(childId)) this.#start(parent, childId)
  }

  #mayRun({ childId, isWorking, handoff, turn }: SpawnedChild): boolean {
    if (handoff === undefined) return true
    return handoff === 'open' && (isWorking || turn <= (this.#seen.get(childId) ?? 0))
  }

  /** Runs the turns of a child, if it does not run already. */
  #start(parent: ActiveSession, childId: SessionId): void {
    if (this.#running.has(childId) || !this.#mayRun(childOf(parent, childId))) return
    const running: Running = { interrupt: new Interrupt(), late: Promise.resolve(), open: undefined, ended: Promise.resolve() }
    this.#running.set(childId, running)
    running.ended = this.#runTurns(parent, childId, running)
  }

  async #runTurns(parent: ActiveSession, childId: SessionId, running: Running): Promise<void> {
    try {
      for (
        let child = findChild(parent, childId);
        child && this.#mayRun(child) && this.#hasWork(childId);
        child = findChild(parent, childId)
      ) {
        if (!child.isWorking) noteNextTurn(parent, child)
        const { turn } = childOf(parent, childId)
        await this.#runTurn(parent, childId, running)
        parent.wake()
        const now = findChild(parent, childId)
        // The turn was not begun: the parent is cancelled.
        if (now?.isWorking && now.turn === turn) break
      }
    } catch (error) {
      if (!(error instanceof Released)) this.#failure ??= error
    }
    if (this.#running.get(childId) === running) this.#running.delete(childId)
    if (running.open) this.#tracker.openSessions.endGap(running.open)
    parent.wake()
    this.#tracker.checkStalled()
  }

  async #runTurn(parent: ActiveSession, childId: SessionId, running: Running): Promise<void> {
    const { openSessions, inactive } = this.#tracker
    const openParent = openSessions.get(parent.state.sessionId)
    if (!openParent || parent.isReleased) throw new Released()
    running.interrupt = new Interrupt(parent.interrupt)
    const late = Promise.withResolvers<void>()
    running.late = late.promise
    let cancelTimer = (): void => {}
    running.interrupt.listen(() => {
      cancelTimer = parent.clock.after(parent.interrupt.reason === 'interrupted' ? interruptGraceMs.child : closeMs, late.resolve)
    })
    const open = openSessions.queueSpawned(childId, openParent)
    if (running.open) openSessions.endGap(running.open)
    running.open = open
    const { agent, turns } = (open.session?.state ?? inactive.get(childId)) as SessionState
    if (turns > 0 && agent.agents.length > 0) this.#countChildren(childId)
    try {
      await this.#children.runTurn(open, childOf(parent, childId), running.interrupt)
    } finally {
      cancelTimer()
      running.interrupt.close()
    }
  }

  /** The children of its earlier turns keep their numbers. */
  #countChildren(childId: SessionId): void {
    const open = this.#tracker.openSessions.get(childId)
    if (!open || open.numbers) return
    for (const { parent, agent } of this.#tracker.inactive.values()) if (parent?.sessionId === childId) open.nextNumber(agent.name)
  }

  /** Interrupts a child that works. Resolves when it has ended, or has had enough time for it. */
  async #stop(childId: SessionId): Promise<void> {
    const running = this.#running.get(childId)
    if (!running || this.#tracker.openSessions.get(childId)?.stage === 'queued') return
    running.interrupt.fire('closed')
    await Promise.race([running.ended, running.late])
  }

  #abandonRest(parent: ActiveSession, childId: SessionId): void {
    this.check()
    if (parent.isReleased) throw new Released()
    this.#running.delete(childId)
    const left = this.#tracker.openSessions.get(childId)
    if (left) this.#tracker.abandon(left, interrupted)
  }

  async #close(parent: ActiveSession, child: SpawnedChild): Promise<void> {
    const { childId, itemId, agent } = child
    const stopping = this.#stop(childId)
    this.#tracker.endHandoff(parent, child, 'ended')
    await stopping
    this.#abandonRest(parent, childId)
    if (findChild(parent, childId)) parent.note({ type: 'interaction.subagent.closed', itemId, childId, agent })
    parent.wake()
  }

  /** Waits for the children. A wait without a timeout is no work: the tree may be suspended meanwhile. */
  async #untilDone(
    parent: ActiveSession,
    { interrupt, slots }: WaitingCall,
    { isDone, until, timeoutMs }: Required<Wait> & { readonly timeoutMs: number | undefined },
  ): Promise<void> {
    parent.slots?.leave()
    slots?.leave()
    const { openSessions } = this.#tracker
    const open = openSessions.get(parent.state.sessionId)
    let isOver = false
    const over = Promise.withResolvers<void>()
    const end = (): void => {
      isOver = true
      over.resolve()
    }
    const cancelTimer = timeoutMs !== undefined && parent.clock.after(timeoutMs, end)
    interrupt.listen(end)
    const endWait = timeoutMs === undefined && open ? openSessions.addWait(open, { isDone: () => isOver || isDone(), until }) : undefined
    // When the call is in flight.
    if (endWait) queueMicrotask(() => this.#tracker.checkStalled())
    while (!isOver && !isDone()) await Promise.race([parent.nextWake(), over.promise])
    if (cancelTimer) cancelTimer()
    endWait?.()
  }

  #waited(parent: ActiveSession, child: SpawnedChild): WaitedAgent {
    const now = findChild(parent, child.childId)
    if (!now) return { ...shown(child), status: 'closed' }
    const state = now.isWorking ? undefined : this.#tracker.inactive.get(now.childId)
    const waited = now.isRecalled ? ({ ...shown(now), isRecalled: true } as const) : shown(now)
    if (state?.turn.kind !== 'ended') return waited
    const since = this.#idleSince(parent, now.childId)
    const idle = since === undefined ? {} : { idleMs: parent.clock.now() - since }
    return { ...waited, result: this.#tracker.resultOf(state), used: usedBy(state, state.turn), ...idle }
  }

  /** Since when a child that talks to the person waits for a message. */
  #idleSince(parent: ActiveSession, childId: SessionId): number | undefined {
    const child = findChild(parent, childId)
    const state = child?.handoff === 'open' && !child.isWorking ? this.#tracker.inactive.get(childId) : undefined
    return state?.turn.kind === 'ended' && state.inputs.length === 0 ? state.at : undefined
  }

  #hasWork(childId: SessionId): boolean {
    const state = this.#tracker.openSessions.get(childId)?.session?.state ?? this.#tracker.inactive.get(childId)
    return state !== undefined && (state.turn.kind === 'open' || nextInput(state) !== undefined)
  }

  #parentOf(childId: SessionId): ActiveSession | undefined {
    for (const { session } of this.#tracker.openSessions.values()) if (session && findChild(session, childId)) return session
    return undefined
  }

  #byName(parent: ActiveSession, id: string): SpawnedChild | Refused {
    const live = spawnedOf(parent)
    const found = live.find(({ name }) => name === id)
    if (found) return found
    const path = `${parent.state.agentPath}/${id}`
    const isClosed = [...this.#tracker.inactive.values()].some(({ agentPath }) => agentPath === path)
    const list = live.map(({ name, isWorking }) => `${name} (${isWorking ? 'working' : 'idle'})`).join(', ')
    const message = isClosed ? `${id} is closed.` : `There is no spawned agent "${id}".`
    return refused(message, list === '' ? 'None is live.' : `Live: ${list}.`)
  }

  async #hasAccepted(childId: SessionId, clientId: ClientId): Promise<boolean> {
    const { journal } = this.#tree.parts.options.store
    const events = await journal.read(this.#tree.root.state.treeId, 0)
    return events.some((event) => event.type === 'interaction.input.accepted' && event.sessionId === childId && event.clientId === clientId)
  }
}

export interface Delivery {
  readonly clientId: ClientId
  readonly input: readonly InputPart[]
  readonly mode: InputMode
  readonly inbox?: number
}

function usedBy({ spent: { usage }, earlierTurns = [] }: SessionState, last: EndedTurn): NonNullable<WaitedAgent['used']> {
  const turns = [...earlierTurns, last]
  return {
    inputs: turns.reduce((sum, { inputs }) => sum + inputs, 0),
    tokens: usage.input + usage.output,
    workedMs: turns.reduce((sum, { totals, idleMs }) => sum + totals.durationMs - idleMs, 0),
  }
}

const refused = (message: string, remedy: string): Refused => ({ kind: 'refused', failure: { class: 'invalid_input', message, remedy } })

const spawnedOf = ({ state: { turn } }: ActiveSession): readonly SpawnedChild[] => (turn.kind === 'open' ? turn.spawned : [])

const findChild = (parent: ActiveSession, childId: SessionId): SpawnedChild | undefined =>
  spawnedOf(parent).find((child) => child.childId === childId)

function childOf(parent: ActiveSession, childId: SessionId): SpawnedChild {
  const child = findChild(parent, childId)
  if (child) return child
  throw new TroupeError('internal', `The session has no spawned child ${childId}.`)
}

const shown = ({ name: id, agent, isWorking, turn, handoff }: SpawnedChild): SpawnedAgent => ({
  id,
  agent,
  status: isWorking ? 'working' : 'idle',
  turn,
  ...(handoff && { handoff }),
})

/** A person wants the turn to end, or has sent something that its next step should read. */
const mustDecide = ({ state: { turn, inputs } }: ActiveSession): boolean =>
  turn.kind !== 'open' || turn.cancel !== 'no' || inputs.some(({ mode, child }) => mode === 'steer' && child === undefined)

/** Whether another call of the step has handed over: the person would go from one agent to the next without the caller. */
const hasHandedOver = ({ state: { turn } }: ActiveSession): boolean =>
  turn.kind === 'open' && turn.step.kind === 'calling' && turn.handedOverIn === turn.step.id

const oneHandoff = 'A step can make one handoff. Read its result; call again in a later step if the person still needs this agent.'

const noticesOf = ({ state }: ActiveSession, childId: SessionId | undefined): readonly ClientId[] =>
  state.inputs.flatMap(({ clientId, child }) => (child === childId && child !== undefined ? [clientId] : []))
