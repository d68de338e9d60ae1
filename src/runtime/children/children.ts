import {
  type AgentSpec,
  type ChildResult,
  type ClientId,
  type InteractionEvent,
  type ItemId,
  type Lane,
  type SessionId,
  type ToolFailure,
  TroupeError,
} from '../../contracts/index.ts'
import { begin, createSessionState, drive, type SpawnedChild } from '../../core/index.ts'
import { offeredName } from '../../policy/tool-name-patterns.ts'
import { type ActiveSession, type ChildStart, Lanes, performer, type QueueSlots, waitInQueue } from '../../steps/index.ts'
import { agentToolName } from '../../tools/index.ts'
import type { Interrupt } from '../../util/interrupt.ts'
import { messageOf } from '../../util/message-of.ts'
import type { OpenSession } from '../budgets/open-sessions.ts'
import { addPrices, changesOfSettings, withChanges } from '../changes/reconfigure-session.ts'
import { childIdOf, sampleCount, sampleIdOf } from '../journal/tree-state.ts'
import type { RuntimeParts } from '../parts/runtime-parts.ts'
import { checkTask } from './check-task.ts'
import { isBoundFromAbove, isCostBound } from './child-budget.ts'
import { childRefusal } from './child-limits.ts'
import type { ChildTracker } from './child-tracker.ts'
import { type ForcedEnding, interrupted } from './end-open-turn.ts'
import type { ParentTree } from './parent-tree.ts'

const shared: Lane = { kind: 'shared' }

interface NewChild extends Pick<ChildStart, 'task'> {
  readonly itemId: ItemId
  /** It talks to the person. */
  readonly handsOver: boolean
}

type Created = { readonly kind: 'created' } | Extract<ChildResult, { kind: 'refused' }>

/**
 * Starts children for calls, and returns their results; drives spawned children, turn by turn.
 *
 * 1. The id of a child is derived from its call: the same call finds the same child again.
 * 2. A parent that waits for children holds no lane and no queue place.
 * 3. Every call gets a result: a child that cannot start is refused, one that cannot continue is ended.
 */
export class Children {
  readonly #tree: ParentTree
  readonly #tracker: ChildTracker

  constructor(tree: ParentTree, tracker: ChildTracker) {
    this.#tree = tree
    this.#tracker = tracker
  }

  get #parts(): RuntimeParts {
    return this.#tree.parts
  }

  async start(parent: ActiveSession, itemId: ItemId, start: ChildStart): Promise<ChildResult> {
    const { inactive, openSessions } = this.#tracker
    const { inline, number, accepted } = start
    const { sessionId } = parent.state
    const childId = inline
      ? sampleIdOf(sessionId, itemId, sampleCount(sessionId, itemId, this.#tracker) + 1)
      : childIdOf(sessionId, itemId, number)
    const before = inactive.get(childId)
    if (before?.turn.kind === 'ended') {
      accepted?.()
      return this.#tracker.resultOf(before)
    }
    const openParent = openSessions.get(parent.state.sessionId)
    if (!openParent) return refused(cancelledBeforeStart)
    let { task } = start
    const isBegun = before !== undefined || openSessions.get(childId) !== undefined
    if (!isBegun) {
      // A request of a tool to a model has been checked.
      const checking = inline ? ({ kind: 'ok', value: task } as const) : checkTask(task, openParent, this.#parts)
      const checked = checking instanceof Promise ? await checking : checking
      if (checked.kind === 'refused') return checked
      task = checked.value
      const failure = childRefusal(openParent, task.agent)
      if (failure) return refused(failure)
    }
    const open = isBegun ? openSessions.queueChild(childId, openParent) : openSessions.queueNewChild(childId, openParent)
    accepted?.()
    try {
      const running = lanesOf(open).run(shared, () => this.#run(open, itemId, { ...start, task }))
      // From here on the child works instead of its parent.
      parent.slots?.leave()
      if (open.stage === 'queued') start.slots?.leave()
      return await running
    } finally {
      openSessions.remove(open)
      this.#tracker.checkStalled()
    }
  }

  /** Creates a child that `runTurn` drives. It exists from now on, whenever its first turn begins. */
  async create(parent: ActiveSession, childId: SessionId, { itemId, task: given, handsOver }: NewChild): Promise<Created> {
    const { openSessions, inactive } = this.#tracker
    const openParent = openSessions.get(parent.state.sessionId)
    if (!openParent) return refused(cancelledBeforeStart)
    const checking = checkTask(given, openParent, this.#parts)
    const checked = checking instanceof Promise ? await checking : checking
    if (checked.kind === 'refused') return checked
    const limit = childRefusal(openParent, checked.value.agent)
    if (limit) return refused(limit)
    const open = openSessions.queueNewChild(childId, openParent)
    try {
      const failure = await this.#modelProblem(open, this.#parts.agents.get(checked.value.agent))
      if (failure !== undefined) return refused({ class: 'config', message: failure, remedy: 'Continue without it.' })
      if (parent.interrupt.reason !== undefined || parent.state.turn.kind !== 'open') return refused(cancelledBeforeStart)
      const session = this.#createSession(open, itemId, { task: checked.value, turn: 1, handsOver })
      inactive.set(open.sessionId, session.state)
      return { kind: 'created' }
    } finally {
      openSessions.remove(open)
    }
  }

  /** Drives a spawned child through one turn, and records its end in the parent. Nothing is recorded of a turn that never began. */
  async runTurn(open: OpenSession, { itemId, agent }: SpawnedChild, interrupt: Interrupt): Promise<void> {
    const { openSessions } = this.#tracker
    const parent = open.parent?.session
    const known = this.#parts.agents.get(agent)
    const tool = known && this.#tree.registry.find(offeredName(agentToolName(known)))
    const slots = tool && parent?.ports.queues?.forCall(tool, parent.slots)
    try {
      await lanesOf(open).run(shared, () => this.#run(open, itemId, { task: { agent, input: [] }, interrupt, slots }))
    } finally {
      slots?.close()
      openSessions.remove(open)
    }
  }

  async #run(open: OpenSession, itemId: ItemId, start: ChildStart): Promise<ChildResult> {
    const { interrupt, slots } = start
    const { openSessions } = this.#tracker
    if (mustStop(open, start)) return this.#stop(open)
    openSessions.enter(open)
    if (slots && !slots.tryEnter()) await this.#waitForSlots(open, slots, { interrupt, itemId })
    if (mustStop(open, start)) return this.#stop(open)
    const begun = open.session?.state ?? this.#tracker.inactive.get(open.sessionId)
    const agent = begun?.agent ?? start.inline ?? this.#parts.agents.get(start.task.agent)
    if (!agent) throw new TroupeError('internal', `The task for ${start.task.agent} was not checked.`)
    // Opening a source may start a process.
    if (this.#parts.sources) await this.#tree.handedOver()
    try {
      const resolving = this.#parts.models.resolve(agent)
      if (resolving) await resolving
      if (this.#parts.sources) await this.#parts.toolsFor(this.#tree.root.state.treeId, agent)
      this.#parts.models.checkPrices(agent, this.#isCostBound(open))
    } catch (error) {
      if (open.isSpawned) this.#begin(open)
      return this.#fail(open, messageOf(error))
    }
    if (mustStop(open, start)) return this.#stop(open)
    const session = open.session ?? this.#openSession(open, itemId, start)
    session.hasAncestorLimits = isBoundFromAbove(open)
    if (begun && this.#isCostBound(open)) addPrices(session, this.#parts.models)
    openSessions.begin(open, session)
    session.slots = slots
    interrupt.listen(() => cancel(session, interrupt.reason ?? 'parent'))
    await this.#untilEnded(open, session)
    // The tool may act on the result.
    if (!start.isAgentCall) await this.#tree.handedOver()
    return this.#tracker.settle(open)
  }

  #isCostBound(open: OpenSession): boolean {
    return this.#tree.account?.isCostBound === true || isCostBound(open)
  }

  async #modelProblem(open: OpenSession, agent: AgentSpec | undefined): Promise<string | undefined> {
    if (!agent) return 'The agent no longer exists.'
    try {
      await this.#parts.models.resolve(agent)
      if (this.#parts.sources) await this.#parts.toolsFor(this.#tree.root.state.treeId, agent)
      this.#parts.models.checkPrices(agent, this.#isCostBound(open))
      return undefined
    } catch (error) {
      return messageOf(error)
    }
  }

  /** Begins the turn of a spawned child that cannot run, so that its failure is recorded. */
  #begin(open: OpenSession): void {
    const before = open.session ? undefined : this.#tracker.inactive.get(open.sessionId)
    const [input] = before?.inputs ?? []
    if (!before || !input) return
    open.session = this.#tree.createSession(before)
    begin(open.session, { input })
  }

  /** The call queues again: it left its place while the child waited for a lane. */
  #waitForSlots(
    { parent }: OpenSession,
    slots: QueueSlots,
    call: { readonly interrupt: Interrupt; readonly itemId: ItemId },
  ): Promise<boolean> {
    return parent?.session ? waitInQueue(parent.session, slots, call) : slots.enter(call.interrupt)
  }

  /** Drives a child until its turn has ended or the child was abandoned. */
  #untilEnded(open: OpenSession, session: ActiveSession): Promise<void> {
    return new Promise((resolve, reject) => {
      open.stopWaiting = resolve
      const step = (): void => {
        drive(session, performer).then((result) => {
          if (result === 'idle') resolve()
          else this.#wait(open, session).then(step, reject)
        }, reject)
      }
      step()
      // One turn at a time: each is recorded in the parent.
      session.retire()
    })
  }

  /** Waits while only a person can continue. */
  async #wait(open: OpenSession, session: ActiveSession): Promise<void> {
    if (session.decide().kind !== 'wait') return
    const woken = session.nextWake()
    this.#tracker.openSessions.wait(open)
    this.#tracker.checkStalled()
    await woken
    this.#tracker.openSessions.resume(open)
  }

  /** Creates the session, or opens one that was stored before its turn began. */
  #openSession(open: OpenSession, itemId: ItemId, { task, inline }: ChildStart): ActiveSession {
    const { inactive } = this.#tracker
    const before = inactive.get(open.sessionId)
    if (before) {
      inactive.delete(open.sessionId)
      return this.#tree.createSession(before)
    }
    return this.#createSession(open, itemId, { task, inline })
  }

  /** Creates the session, records its input, and notes it in the parent, in one batch: a crash leaves all of that or nothing. */
  #createSession(
    open: OpenSession,
    itemId: ItemId,
    {
      task: { agent: name, input, ...settings },
      turn: number,
      inline,
      handsOver,
    }: Pick<ChildStart, 'task' | 'inline'> & { readonly turn?: number; readonly handsOver?: boolean },
  ): ActiveSession {
    const { sessionId: childId, parent } = open
    if (!parent?.session) throw new TroupeError('internal', `The child ${childId} has no parent.`)
    const { sessionSetup, options } = this.#parts
    const { state, turn } = parent.session
    const { trace } = state
    const defined = inline ?? sessionSetup.childAgent(name, state.agent)
    const changes = changesOfSettings(settings)
    const changed = changes ? withChanges(defined, changes) : defined
    const agent = handsOver ? { ...changed, spansTurns: true as const } : changed
    const count = parent.nextNumber(name)
    const agentPath = `${state.agentPath}/${name}#${count}`
    const first: InteractionEvent<'interaction.session.created'> = {
      type: 'interaction.session.created',
      seq: this.#tree.nextSeq,
      treeId: state.treeId,
      sessionId: childId,
      agentPath,
      at: this.#tree.now,
      agent,
      ...(changes && { changes }),
      trace: {
        originId: trace.originId,
        parentId: state.sessionId,
        callPath: `${trace.callPath}/${name}`,
        turnPath: trace.turnPath === '' ? turn.id : `${trace.turnPath}/${turn.id}`,
      },
      parent: { sessionId: state.sessionId, turnId: turn.id, itemId },
      ...sessionSetup.effective(agent, this.#tree.registryOf(agent), this.#isCostBound(open)),
    }
    this.#tree.push(first)
    const session = this.#tree.createSession(createSessionState(first))
    // Recorded for the first child of each agent only.
    if (count === 1) for (const diagnostic of sessionSetup.notices(agent)) session.note({ type: 'interaction.diagnostic', diagnostic })
    // A request of a tool contains only what the tool sends.
    if (!inline) {
      for (const text of options.config.context) session.note({ type: 'interaction.context.added', ...text })
      this.#tree.addInstructions(session)
    }
    session.note({ type: 'interaction.input.accepted', clientId: `${childId}.input` as ClientId, parts: input, mode: 'queue' })
    const started = { type: 'interaction.subagent.started', itemId, childId, agent: name, childPath: agentPath } as const
    parent.session.note(number === undefined ? started : { ...started, turn: number })
    return session
  }

  #stop(open: OpenSession): ChildResult {
    return this.#end(open, interrupted) ?? refused(cancelledBeforeStart)
  }

  #fail(open: OpenSession, message: string): ChildResult {
    const remedy = 'Continue without it.'
    return this.#end(open, { status: 'failed', reason: 'config', message, remedy }) ?? refused({ class: 'config', message, remedy })
  }

  /** Ends a child that an earlier driver left open. */
  #end(open: OpenSession, ending: ForcedEnding): ChildResult | undefined {
    const { session } = open
    if (!session) return undefined
    this.#tracker.abandon(open, ending)
    return this.#tracker.resultOf(session.state)
  }
}

function lanesOf({ parent }: OpenSession): Lanes {
  if (!parent?.session) throw new TroupeError('internal', 'Only a child runs in the lanes of a parent.')
  parent.lanes ??= new Lanes(parent.session.state.agent.limits.parallelChildren)
  return parent.lanes
}

/** A parent that is cancelled starts and continues no child; one that is asked to stop only starts none. */
function mustStop({ session, stage, parent }: OpenSession, { interrupt }: ChildStart): boolean {
  const turn = parent?.session?.state.turn
  if (interrupt.reason !== undefined || stage === 'ended' || turn?.kind !== 'open') return true
  return turn.cancel === 'stop' ? session === undefined : turn.cancel !== 'no'
}

const refused = (failure: ToolFailure) => ({ kind: 'refused', failure }) as const
const cancelledBeforeStart: ToolFailure = { class: 'cancelled', message: 'It was not started: its call ended first.' }

/** Interrupts a child whose call was cancelled. */
function cancel(session: ActiveSession, by: string): void {
  const { turn } = session.state
  if (turn.kind !== 'open' || session.isReleased) return
  // An abort by a person stays the recorded cause.
  if (turn.cancel !== 'abort') session.note({ type: 'interaction.cancel.requested', mode: 'interrupt', by })
  session.interrupt.fire('interrupted')
  session.wake()
}
