import { type ChildResult, type ItemId, type Lane, type ToolFailure, TroupeError } from '../../contracts/index.ts'
import { drive, type Pen } from '../../core/index.ts'
import { type ActiveSession, type ChildStart, type Hold, Lanes, performer, standInLine, type ToolRegistry } from '../../steps/index.ts'
import type { Interrupt } from '../../util/interrupt.ts'
import { messageOf } from '../../util/message-of.ts'
import type { RuntimeParts } from '../api/runtime-parts.ts'
import { priceNow } from '../resume/reconfigure-session.ts'
import { agentsNow } from '../selection/agent-lookup.ts'
import { type Breach, interrupted } from '../tree/end-open-turn.ts'
import type { Sessions } from '../tree/sessions.ts'
import { childIdOf } from '../tree/tree-state.ts'
import { checkTask } from './check-task.ts'
import { isBoundFromAbove, isCostBound } from './child-budget.ts'
import type { Below } from './child-tracker.ts'
import { bear } from './create-child-session.ts'
import type { Branch } from './open-session.ts'

/** What children are made with. */
interface Nursery {
  readonly parts: RuntimeParts
  readonly registry: ToolRegistry
  readonly pen: Pen
  readonly below: Below
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
  readonly #sessions: Sessions
  readonly #parts: RuntimeParts
  readonly #registry: ToolRegistry
  readonly #pen: Pen
  readonly #below: Below

  constructor(sessions: Sessions, { parts, registry, pen, below }: Nursery) {
    this.#sessions = sessions
    this.#parts = parts
    this.#registry = registry
    this.#pen = pen
    this.#below = below
  }

  async start(parent: ActiveSession, itemId: ItemId, start: ChildStart): Promise<ChildResult> {
    const { atRest, branches } = this.#below
    const childId = childIdOf(parent.state.sessionId, itemId)
    const before = atRest.get(childId)
    if (before?.turn.kind === 'ended') return this.#below.resultOf(before)
    const above = branches.get(parent.state.sessionId)
    if (!above) return refused(cancelledBefore)
    let { task } = start
    const isBegun = before !== undefined || branches.get(childId) !== undefined
    if (!isBegun) {
      const checking = checkTask(task, above, this.#parts)
      const checked = checking instanceof Promise ? await checking : checking
      if (checked.kind === 'refused') return checked
      task = checked.value
    }
    const branch = isBegun ? branches.attend(childId, above) : branches.expect(childId, above)
    try {
      const running = lineOf(branch).run(shared, () => this.#run(branch, itemId, { ...start, task }))
      // From here on the child works, or nobody does.
      parent.hold?.leave()
      if (branch.stage === 'inLine') start.hold?.leave()
      return await running
    } finally {
      branches.remove(branch)
      this.#below.look()
    }
  }

  async #run(branch: Branch, itemId: ItemId, start: ChildStart): Promise<ChildResult> {
    const { interrupt, hold } = start
    const { branches } = this.#below
    if (mustStop(branch, start)) return this.#stop(branch)
    branches.enter(branch)
    if (hold && !hold.tryEnter()) await this.#enter(branch, hold, { interrupt, itemId })
    if (mustStop(branch, start)) return this.#stop(branch)
    const begun = branch.session?.state ?? this.#below.atRest.get(branch.sessionId)
    const agent = begun?.agent ?? agentsNow(this.#parts).get(start.task.agent)
    if (!agent) throw new TroupeError('internal', `The task for ${start.task.agent} was not checked.`)
    try {
      const resolving = this.#parts.models.resolve(agent)
      if (resolving) await resolving
      this.#parts.models.checkPrices(agent, isCostBound(branch))
    } catch (error) {
      return this.#cannotGoOn(branch, messageOf(error))
    }
    if (mustStop(branch, start)) return this.#stop(branch)
    const session = branch.session ?? this.#sessionOf(branch, itemId, start)
    session.isBoundFromAbove = isBoundFromAbove(branch)
    if (begun && isCostBound(branch)) priceNow(session, this.#parts.models)
    branches.begin(branch, session)
    session.hold = hold
    interrupt.listen(() => cancel(session, interrupt.reason ?? 'parent'))
    await this.#untilEnded(branch, session)
    return this.#below.settle(branch)
  }

  /** Its call stands in line once more: what it had was given back while the child waited for room. */
  #enter({ above }: Branch, hold: Hold, call: { readonly interrupt: Interrupt; readonly itemId: ItemId }): Promise<boolean> {
    return above?.session ? standInLine(above.session, hold, call) : hold.enter(call.interrupt)
  }

  /** Drives a child until its turn has ended, by itself or because the child was given up. */
  #untilEnded(branch: Branch, session: ActiveSession): Promise<void> {
    return new Promise((resolve, reject) => {
      branch.giveUp = resolve
      const goOn = (): void => {
        drive(session, performer).then((rest) => {
          if (rest === 'idle') resolve()
          else this.#wait(branch, session).then(goOn, reject)
        }, reject)
      }
      goOn()
    })
  }

  /** Where only a person can go on, until one has. */
  async #wait(branch: Branch, session: ActiveSession): Promise<void> {
    if (session.decide().kind !== 'wait') return
    const woken = session.woken()
    this.#below.branches.wait(branch)
    this.#below.look()
    await woken
    this.#below.branches.goOn(branch)
  }

  /** A child that was stored before its turn began goes on from there. */
  #sessionOf(branch: Branch, itemId: ItemId, { task }: ChildStart): ActiveSession {
    const { atRest } = this.#below
    const before = atRest.get(branch.sessionId)
    if (before) {
      atRest.delete(branch.sessionId)
      return this.#sessions.session(before)
    }
    const agent = this.#parts.cast.childAgent(task.agent, branch.above?.session?.state.agent)
    const effective = this.#parts.cast.effective(agent, this.#registry, isCostBound(branch))
    const { context } = this.#parts.options.config
    const notices = this.#parts.cast.notices(agent)
    return bear(branch, { itemId, agent, effective, notices, context, input: task.input }, { pen: this.#pen, sessions: this.#sessions })
  }

  #stop(branch: Branch): ChildResult {
    return this.#end(branch, interrupted) ?? refused(cancelledBefore)
  }

  #cannotGoOn(branch: Branch, message: string): ChildResult {
    const remedy = 'Go on without it.'
    return this.#end(branch, { status: 'failed', reason: 'config', message, remedy }) ?? refused({ class: 'config', message, remedy })
  }

  /** One that was begun by the driver before is not left open. */
  #end(branch: Branch, ending: Breach): ChildResult | undefined {
    const { session } = branch
    if (!session) return undefined
    this.#below.abandon(branch, ending)
    return this.#below.resultOf(session.state)
  }
}

function lineOf({ above }: Branch): Lanes {
  if (!above?.session) throw new TroupeError('internal', 'Only a child has a place in line.')
  above.line ??= new Lanes(above.session.state.agent.limits.parallelChildren)
  return above.line
}

/** Whoever is to end begins nothing more; asked to stop, it begins nothing new. */
function mustStop({ session, stage, above }: Branch, { interrupt }: ChildStart): boolean {
  const turn = above?.session?.state.turn
  if (interrupt.reason !== undefined || stage === 'over' || turn?.kind !== 'open') return true
  return turn.cancel === 'stop' ? session === undefined : turn.cancel !== 'no'
}

const refused = (failure: ToolFailure) => ({ kind: 'refused', failure }) as const
const cancelledBefore: ToolFailure = { class: 'cancelled', message: 'It was not started: the call was ended before.' }

/** The turn of a child ends with the call that started it; what was said until then is kept. */
function cancel(session: ActiveSession, by: string): void {
  const { turn } = session.state
  if (turn.kind !== 'open' || session.isReleased) return
  // Where a person has ended it, that is why.
  if (turn.cancel !== 'abort') session.note({ type: 'interaction.cancel.requested', mode: 'interrupt', by })
  session.interrupt.fire('interrupted')
  session.wake()
}
