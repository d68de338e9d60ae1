import { type ChildResult, type ItemId, type Lane, type ToolFailure, TroupeError } from '../../contracts/index.ts'
import { drive, type EventWriter } from '../../core/index.ts'
import {
  type ActiveSession,
  type ChildStart,
  Lanes,
  performer,
  type QueueSlots,
  type ToolRegistry,
  waitInQueue,
} from '../../steps/index.ts'
import type { Interrupt } from '../../util/interrupt.ts'
import { messageOf } from '../../util/message-of.ts'
import type { RuntimeParts } from '../api/runtime-parts.ts'
import { addPrices } from '../resume/reconfigure-session.ts'
import { currentAgents } from '../selection/agent-lookup.ts'
import { type ForcedEnding, interrupted } from '../tree/end-open-turn.ts'
import type { SessionFactory } from '../tree/sessions.ts'
import { childIdOf } from '../tree/tree-state.ts'
import { checkTask } from './check-task.ts'
import { isBoundFromAbove, isCostBound } from './child-budget.ts'
import type { ChildTracker } from './child-tracker.ts'
import { createChildSession } from './create-child-session.ts'
import type { OpenSession } from './open-session.ts'

/** What children are made with. */
interface ChildDependencies {
  readonly parts: RuntimeParts
  readonly registry: ToolRegistry
  readonly writer: EventWriter
  readonly tracker: ChildTracker
}

const shared: Lane = { kind: 'shared' }

/**
 * From a call to a child, and from its end back to the call.
 *
 * 1. A child is named after the call that started it: the same call finds the same child again.
 * 2. A parent waits for its children without holding anything that they need.
 * 3. Whatever a call asks for, it gets an answer: what cannot be begun is refused, what cannot go on is ended.
 */
export class Children {
  readonly #sessions: SessionFactory
  readonly #parts: RuntimeParts
  readonly #registry: ToolRegistry
  readonly #writer: EventWriter
  readonly #tracker: ChildTracker

  constructor(sessions: SessionFactory, { parts, registry, writer, tracker }: ChildDependencies) {
    this.#sessions = sessions
    this.#parts = parts
    this.#registry = registry
    this.#writer = writer
    this.#tracker = tracker
  }

  async start(parent: ActiveSession, itemId: ItemId, start: ChildStart): Promise<ChildResult> {
    const { inactive, openSessions } = this.#tracker
    const childId = childIdOf(parent.state.sessionId, itemId)
    const before = inactive.get(childId)
    if (before?.turn.kind === 'ended') return this.#tracker.resultOf(before)
    const openParent = openSessions.get(parent.state.sessionId)
    if (!openParent) return refused(cancelledBeforeStart)
    let { task } = start
    const isBegun = before !== undefined || openSessions.get(childId) !== undefined
    if (!isBegun) {
      const checking = checkTask(task, openParent, this.#parts)
      const checked = checking instanceof Promise ? await checking : checking
      if (checked.kind === 'refused') return checked
      task = checked.value
    }
    const open = isBegun ? openSessions.queueChild(childId, openParent) : openSessions.queueNewChild(childId, openParent)
    try {
      const running = lanesOf(open).run(shared, () => this.#run(open, itemId, { ...start, task }))
      // From here on the child works, or nobody does.
      parent.slots?.leave()
      if (open.stage === 'queued') start.slots?.leave()
      return await running
    } finally {
      openSessions.remove(open)
      this.#tracker.checkStalled()
    }
  }

  async #run(open: OpenSession, itemId: ItemId, start: ChildStart): Promise<ChildResult> {
    const { interrupt, slots } = start
    const { openSessions } = this.#tracker
    if (mustStop(open, start)) return this.#stop(open)
    openSessions.enter(open)
    if (slots && !slots.tryEnter()) await this.#waitForHold(open, slots, { interrupt, itemId })
    if (mustStop(open, start)) return this.#stop(open)
    const begun = open.session?.state ?? this.#tracker.inactive.get(open.sessionId)
    const agent = begun?.agent ?? currentAgents(this.#parts).get(start.task.agent)
    if (!agent) throw new TroupeError('internal', `The task for ${start.task.agent} was not checked.`)
    try {
      const resolving = this.#parts.models.resolve(agent)
      if (resolving) await resolving
      this.#parts.models.checkPrices(agent, isCostBound(open))
    } catch (error) {
      return this.#fail(open, messageOf(error))
    }
    if (mustStop(open, start)) return this.#stop(open)
    const session = open.session ?? this.#openSession(open, itemId, start)
    session.hasAncestorLimits = isBoundFromAbove(open)
    if (begun && isCostBound(open)) addPrices(session, this.#parts.models)
    openSessions.begin(open, session)
    session.slots = slots
    interrupt.listen(() => cancel(session, interrupt.reason ?? 'parent'))
    await this.#untilEnded(open, session)
    return this.#tracker.settle(open)
  }

  /** Its call stands in line once more: what it had was given back while the child waited for room. */
  #waitForHold(
    { parent }: OpenSession,
    slots: QueueSlots,
    call: { readonly interrupt: Interrupt; readonly itemId: ItemId },
  ): Promise<boolean> {
    return parent?.session ? waitInQueue(parent.session, slots, call) : slots.enter(call.interrupt)
  }

  /** Drives a child until its turn has ended, by itself or because the child was given up. */
  #untilEnded(open: OpenSession, session: ActiveSession): Promise<void> {
    return new Promise((resolve, reject) => {
      open.stopWaiting = resolve
      const goOn = (): void => {
        drive(session, performer).then((rest) => {
          if (rest === 'idle') resolve()
          else this.#wait(open, session).then(goOn, reject)
        }, reject)
      }
      goOn()
    })
  }

  /** Where only a person can go on, until one has. */
  async #wait(open: OpenSession, session: ActiveSession): Promise<void> {
    if (session.decide().kind !== 'wait') return
    const woken = session.nextWake()
    this.#tracker.openSessions.wait(open)
    this.#tracker.checkStalled()
    await woken
    this.#tracker.openSessions.resume(open)
  }

  /** A child that was stored before its turn began goes on from there. */
  #openSession(open: OpenSession, itemId: ItemId, { task }: ChildStart): ActiveSession {
    const { inactive } = this.#tracker
    const before = inactive.get(open.sessionId)
    if (before) {
      inactive.delete(open.sessionId)
      return this.#sessions.createSession(before)
    }
    const agent = this.#parts.sessionSetup.childAgent(task.agent, open.parent?.session?.state.agent)
    const effective = this.#parts.sessionSetup.effective(agent, this.#registry, isCostBound(open))
    const { context } = this.#parts.options.config
    const notices = this.#parts.sessionSetup.notices(agent)
    return createChildSession(
      open,
      { itemId, agent, effective, notices, context, input: task.input },
      { writer: this.#writer, sessions: this.#sessions },
    )
  }

  #stop(open: OpenSession): ChildResult {
    return this.#end(open, interrupted) ?? refused(cancelledBeforeStart)
  }

  #fail(open: OpenSession, message: string): ChildResult {
    const remedy = 'Go on without it.'
    return this.#end(open, { status: 'failed', reason: 'config', message, remedy }) ?? refused({ class: 'config', message, remedy })
  }

  /** One that was begun by the driver before is not left open. */
  #end(open: OpenSession, ending: ForcedEnding): ChildResult | undefined {
    const { session } = open
    if (!session) return undefined
    this.#tracker.abandon(open, ending)
    return this.#tracker.resultOf(session.state)
  }
}

function lanesOf({ parent }: OpenSession): Lanes {
  if (!parent?.session) throw new TroupeError('internal', 'Only a child has a place in line.')
  parent.lanes ??= new Lanes(parent.session.state.agent.limits.parallelChildren)
  return parent.lanes
}

/** Whoever is to end begins nothing more; asked to stop, it begins nothing new. */
function mustStop({ session, stage, parent }: OpenSession, { interrupt }: ChildStart): boolean {
  const turn = parent?.session?.state.turn
  if (interrupt.reason !== undefined || stage === 'ended' || turn?.kind !== 'open') return true
  return turn.cancel === 'stop' ? session === undefined : turn.cancel !== 'no'
}

const refused = (failure: ToolFailure) => ({ kind: 'refused', failure }) as const
const cancelledBeforeStart: ToolFailure = { class: 'cancelled', message: 'It was not started: the call was ended before.' }

/** The turn of a child ends with the call that started it; what was said until then is kept. */
function cancel(session: ActiveSession, by: string): void {
  const { turn } = session.state
  if (turn.kind !== 'open' || session.isReleased) return
  // Where a person has ended it, that is why.
  if (turn.cancel !== 'abort') session.note({ type: 'interaction.cancel.requested', mode: 'interrupt', by })
  session.interrupt.fire('interrupted')
  session.wake()
}
