import type { SessionId } from '../../contracts/index.ts'
import type { ActiveSession } from '../../steps/index.ts'
import { BudgetLine } from './budget-queue.ts'
import { Branch, type Stage } from './open-session.ts'
import { isSame, minus, nothing, plus, useOf } from './resource-use.ts'

/**
 * The sessions of a tree that are open here, and the calls that wait to have one. The root is among them.
 *
 * 1. Whoever has ended has no branch.
 * 2. `below` is kept by whoever changes: asking for it looks at nobody, and no change looks at anybody but those above.
 * 3. While somebody can go on by itself the tree is not stalled, and nobody is looked at to find that out.
 */
export class Branches {
  readonly root: Branch
  readonly budget = new BudgetLine()
  readonly #all = new Map<SessionId, Branch>()
  /** How many can go on by themselves. */
  #able = 0
  /** Who was found at work last, when nobody seemed to be. */
  #busy: Branch | undefined

  constructor(root: ActiveSession) {
    this.root = this.#add(root.state.sessionId, undefined)
    this.begin(this.root, root)
  }

  /** Without the root. */
  get size(): number {
    return this.#all.size - 1
  }

  get(sessionId: SessionId): Branch | undefined {
    return this.#all.get(sessionId)
  }

  /** Parents before their children. */
  values(): Iterable<Branch> {
    return this.#all.values()
  }

  /** A call stands in line for a new child: that one counts from now on. */
  expect(sessionId: SessionId, above: Branch): Branch {
    const branch = this.attend(sessionId, above)
    branch.isExpected = true
    above.expected++
    this.recount(above)
    return branch
  }

  /** A call stands in line for a child that was begun before. */
  attend(sessionId: SessionId, above: Branch): Branch {
    const branch = this.#all.get(sessionId) ?? this.#add(sessionId, above)
    this.#move(branch, 'inLine')
    return branch
  }

  /** A session that the driver before left open. */
  rest(session: ActiveSession, above: Branch): Branch {
    const branch = this.#add(session.state.sessionId, above)
    branch.session = session
    this.recount(branch)
    return branch
  }

  enter(branch: Branch): void {
    this.#move(branch, 'entering')
  }

  begin(branch: Branch, session: ActiveSession): void {
    this.#fulfil(branch)
    branch.session = session
    this.#move(branch, 'working')
    this.recount(branch)
  }

  /** Only a person can go on with it. */
  wait(branch: Branch): void {
    this.#move(branch, 'waiting')
  }

  goOn(branch: Branch): void {
    if (branch.stage === 'waiting') this.#move(branch, 'working')
  }

  /** To be called whenever a session may have taken something. */
  recount(branch: Branch): void {
    // Nobody waits for a request of a session that is not driven yet: it would never end.
    const used = branch.session ? useOf(branch.session.state, isStarted(branch.stage)) : nothing
    const own = branch.expected === 0 ? used : { ...used, children: used.children + branch.expected }
    if (isSame(own, branch.own)) return
    const change = minus(own, branch.own)
    branch.own = own
    for (let at = branch.above; at; at = at.above) at.below = plus(at.below, change)
    if (own.asking > 0) branch.ticket = undefined
    if (change.asking < 0) this.budget.look()
  }

  /** What it took is in the account of its parent from now on. Nobody is below it any more. */
  remove(branch: Branch): void {
    const { above } = branch
    if (branch.stage === 'over' || !above) return
    this.#fulfil(branch)
    this.#move(branch, 'over')
    this.#all.delete(branch.sessionId)
    if (this.#busy === branch) this.#busy = undefined
    for (let at: Branch | undefined = above; at; at = at.above) at.below = minus(at.below, branch.own)
    above.size--
    // Money is no whole number: what rounding leaves behind ends here.
    if (above.size === 0) above.below = nothing
    if (branch.own.asking > 0) this.budget.look()
  }

  /** Whether everything that is at work waits for a person. */
  get isStalled(): boolean {
    if (this.#able > 0 || this.#busy?.isBusy) return false
    this.#busy = undefined
    for (const branch of this.#all.values()) {
      if (!branch.isBusy) continue
      this.#busy = branch
      return false
    }
    return true
  }

  #add(sessionId: SessionId, above: Branch | undefined): Branch {
    const branch = new Branch(sessionId, above)
    this.#all.set(sessionId, branch)
    if (above) above.size++
    return branch
  }

  #fulfil(branch: Branch): void {
    if (!branch.isExpected || !branch.above) return
    branch.isExpected = false
    branch.above.expected--
    this.recount(branch.above)
  }

  #move(branch: Branch, stage: Stage): void {
    const { above } = branch
    if (branch.stage === 'over') return
    this.#able -= Number(branch.isAble) + Number(above?.isAble ?? false)
    if (above) {
      above.calls += Number(isCalled(stage)) - Number(isCalled(branch.stage))
      above.started += Number(isStarted(stage)) - Number(isStarted(branch.stage))
    }
    branch.stage = stage
    this.#able += Number(branch.isAble) + Number(above?.isAble ?? false)
  }
}

const isCalled = (stage: Stage): boolean => stage !== 'resting' && stage !== 'over'
const isStarted = (stage: Stage): boolean => stage === 'working' || stage === 'waiting'
