import {
  type AgentSpec,
  type Inbox,
  type InputPart,
  type MaybePromise,
  type Outcome,
  type TreeId,
  TroupeError,
} from '../../contracts/index.ts'
import { drive } from '../../core/index.ts'
import { type ActiveSession, performer } from '../../steps/index.ts'
import { type Interrupt, unlessInterrupted } from '../../util/interrupt.ts'
import { keepAlive } from '../../util/keep-alive.ts'
import { keepHiddenClass } from '../../util/keep-hidden-class.ts'
import type { TreeAccount } from '../budgets/tree-account.ts'
import { type Changes, changedAgent } from '../changes/reconfigure-session.ts'
import { storeHistory } from '../inputs/store-history.ts'
import { storeInput } from '../inputs/store-input.ts'
import { type DriveResult, openAgain, outcomeOf, released, type StopCause, stopCauseOf, suspensionOf } from '../journal/outcome.ts'
import type { RuntimeParts } from '../parts/runtime-parts.ts'
import type { Selected } from '../selection/select-agent.ts'
import type { Feed } from './event-feed.ts'
import { claimTree, findTree, loadToolsAndModels, refuseWithoutAgents } from './find-tree.ts'
import { Mailbox } from './mailbox.ts'
import { type Claimed, createTree, openTree } from './open-tree.ts'
import { begunTurn, type Opening } from './opening.ts'
import type { Tree } from './tree.ts'

/**
 * Drives one tree in this process.
 *
 * 1. It owns the tree from its start until `settled`, and writes nothing after.
 * 2. One drive at a time. A message that arrives while it ends is driven before it settles, or found by `hasUnreadMessages`.
 * 3. `settled` never rejects.
 * 4. Releasing ends no turn: what is open stays open in the journal, as after a crash.
 */
export class TreeDriver {
  readonly treeId: TreeId
  readonly feed: Feed
  readonly settled: Promise<DriveResult>
  readonly #session: ActiveSession
  readonly #tree: Tree
  readonly #mailbox: Mailbox
  readonly #inbox: Inbox
  /** Keeps the tree while it is idle, until it is released. */
  #staysWhenIdle: boolean
  #isRetired = false
  #isWaiting = false
  #driving: Promise<unknown> | undefined
  #wakesAt: number | undefined

  private constructor(tree: Tree, feed: Feed, run: DriveOptions) {
    const { root: session } = tree
    this.treeId = session.state.treeId
    this.feed = feed
    this.#session = session
    this.#inbox = tree.parts.options.store.inbox
    this.#tree = tree
    this.#staysWhenIdle = run.whenIdle === 'wait'
    this.#mailbox = new Mailbox(tree, { root: session, inbox: this.#inbox, cursor: run.inboxCursor })
    tree.mailbox = this.#mailbox
    this.settled = this.#run(run.epoch)
    keepHiddenClass('tree', this)
  }

  /** A new tree with its first input. */
  static async start(
    parts: RuntimeParts,
    begin: {
      treeId: TreeId
      chosen: MaybePromise<Selected>
      input: readonly InputPart[]
      feed: Feed
      startInterrupt: Interrupt
      isPinned: boolean
      opening: Opening | undefined
    },
  ): Promise<TreeDriver> {
    const { treeId, feed, input, startInterrupt, opening } = begin
    const selected = begin.chosen instanceof Promise ? await unlessInterrupted(startInterrupt, begin.chosen) : begin.chosen
    const { agent } = selected
    if (!parts.isReady(agent)) await unlessInterrupted(startInterrupt, loadToolsAndModels(parts, treeId, agent))
    if (startInterrupt.reason !== undefined) throw new TroupeError('internal', 'The run was interrupted before it started.')
    parts.models.checkPrices(agent, agent.limits.maxCostUsd !== undefined || opening?.account?.isCostBound === true)
    const claimed = await claimTree(parts, treeId, agent)
    const { epoch } = claimed
    try {
      const storing = storeInput(parts, { treeId }, input)
      const stored = storing instanceof Promise ? await storing : storing
      const history = opening && (await storeHistory(parts, treeId, opening.history))
      const tree = createTree(
        parts,
        { treeId, selected, input: stored, opening: opening && history && { ...opening, history } },
        { ...claimed, feed },
      )
      tree.isPinned = begin.isPinned
      // What the selection of the agent has cost is charged with the session.
      if (opening?.isStart && !selected.asked) await opening.account?.requireBudget(begunTurn(tree.root.state), startInterrupt)
      // Another session may get the same key first: then this one never begins.
      if (opening?.identity.key !== undefined) await tree.flush()
      return new TreeDriver(tree, feed, { epoch, whenIdle: 'settle', inboxCursor: 0 })
    } catch (error) {
      const { journal, trees } = parts.options.store
      await journal.release(treeId, epoch)
      // Nothing of it is left, apart from one that another process may have started meanwhile.
      if (opening?.clientId === undefined && claimed.seq === 0) await trees.delete(treeId)
      throw error
    }
  }

  /** An existing tree, from its journal. */
  static async resume(
    parts: RuntimeParts,
    treeId: TreeId,
    { whenIdle, feed, changes = {}, isPinned = false, closing }: ResumeOptions & { readonly closing: Interrupt },
  ): Promise<TreeDriver> {
    const { store } = parts.options
    const { title, principal, state: before } = await findTree(parts, treeId)
    const changed = changedAgent(before.root.agent, changes)
    if (changed) {
      await unlessInterrupted(closing, parts.models.resolve(changed))
      parts.models.checkPrices(changed, changed.limits.maxCostUsd !== undefined)
    }
    const agent = changed ?? before.root.agent
    if (!parts.isReady(agent)) await unlessInterrupted(closing, loadToolsAndModels(parts, treeId, agent))
    const account = before.root.turn.kind === 'open' && principal ? await parts.accounts?.open(principal.id, closing) : undefined
    const { registry, epoch, seq } = await claimWith(account, parts, { treeId, agent })
    try {
      // The previous driver may have written more before the claim.
      const state = await parts.trees.stateOf(treeId, before)
      refuseWithoutAgents(parts, state)
      if (parts.sources)
        for (const child of state.children.values())
          if (child.turn.kind === 'open') await unlessInterrupted(closing, parts.toolsFor(treeId, child.agent))
      const tree = openTree(parts, { state, feed, epoch, seq, registry, title, principal, account })
      tree.isPinned = isPinned
      tree.resume(epoch, changes)
      if (changed) await tree.flush()
      return new TreeDriver(tree, feed, { epoch, whenIdle, inboxCursor: state.inboxCursor })
    } catch (error) {
      account?.leave()
      await store.journal.release(treeId, epoch)
      throw error
    }
  }

  /** A running tree cannot be reconfigured. */
  refuseChanges(changes: Changes): void {
    if (!changedAgent(this.#session.state.agent, changes)) return
    throw new TroupeError('usage', `Session ${this.treeId} is running here and cannot be opened with changes.`, {
      remedy: 'Wait for its outcome or interrupt it; then open it.',
    })
  }

  /** Resolves when everything recorded so far is in the journal. */
  async durable(): Promise<void> {
    await this.#session.flush()
  }

  /** Resolves when no drain of the inbox is running. */
  async caughtUp(): Promise<void> {
    while (this.#mailbox.draining) await this.#mailbox.draining.catch(() => {})
  }

  /** Reads the inbox. Resolves when everything in it is recorded, or left for the next driver. */
  async readInbox(): Promise<void> {
    await this.#mailbox.drain().catch(() => {})
  }

  /** Starts no further turn, and no longer waits for one. */
  retire(): void {
    this.#isRetired = true
    this.#session.retire()
    this.#session.wake()
  }

  /** Leaves the turn open. Calls get their signal and grace time. Resolves when another process can open the tree. */
  async release(): Promise<void> {
    this.#staysWhenIdle = false
    this.#mailbox.close()
    this.#tree.release()
    await this.settled
  }

  /** Releases the tree when it is idle. Resolves immediately if it is running. */
  async releaseWhenIdle(): Promise<void> {
    this.#staysWhenIdle = false
    this.#session.wake()
    if (this.isIdle) await this.settled
  }

  /** When the suspended tree is to be resumed without a message. */
  get wakesAt(): number | undefined {
    return this.#wakesAt
  }

  get isWaiting(): boolean {
    return this.#isWaiting && this.isIdle
  }

  get isIdle(): boolean {
    const wanted = next(this.#session)
    return wanted === 'idle' || (wanted === 'begin' && this.#isRetired)
  }

  get outcome(): Outcome {
    return outcomeOf({ state: this.#session.state, children: this.#tree.children, stopped: undefined })
  }

  /** After `settled` and unregistering: whether an unseen message has arrived. Senders that found the tree driven rely on it. */
  async hasUnreadMessages(): Promise<boolean> {
    try {
      const rows = await this.#inbox.read(this.treeId, this.#mailbox.cursor)
      return rows.length > 0
    } catch {
      return false
    }
  }

  async #run(epoch: number): Promise<DriveResult> {
    const session = this.#session
    const { parts } = this.#tree
    let unwatch: (() => void) | undefined
    let stopped: StopCause | undefined
    let release: (() => void) | undefined
    try {
      // A failing store ends the drive, which reports it.
      unwatch = this.#inbox.watch(this.treeId, () => void this.#mailbox.drain().catch(() => {}))
      if (session.state.turns > 0) await this.#mailbox.drain()
      this.#isWaiting = this.#staysWhenIdle
      while (this.#staysWhenIdle && !this.#isRetired && this.isIdle) await session.nextWake()
      this.#isWaiting = false
      release = keepAlive()
      stopped = await this.#drive()
    } catch (error) {
      this.#mailbox.close()
      stopped = session.isReleased ? await this.#leave() : stopCauseOf(error, openAgain)
      // Nothing more can be recorded: running calls are cancelled.
      session.interrupt.fire('interrupted')
    }
    release?.()
    this.#tree.account?.leave()
    if (typeof unwatch === 'function') unwatch()
    try {
      await parts.options.store.journal.release(this.treeId, epoch)
    } catch {
      // The next driver finds that this one is gone.
    }
    // After a failure the journal, not the memory, is the state.
    if (stopped?.status === 'failed' || stopped === released) parts.trees.forget(this.treeId)
    else parts.trees.remember(this.#tree.snapshot(this.#mailbox.cursor))
    this.feed.close()
    const known = { state: session.state, children: this.#tree.children, stopped }
    const result = stopped === released ? await recordedResult(parts, known) : known
    session.clearHistory()
    return result
  }

  /** Waits for calls within their grace time and stores their results. Returns why an open turn is no longer driven. */
  async #leave(): Promise<StopCause | undefined> {
    await this.#driving?.catch(() => {})
    await this.#tree.spawnedSettled()
    try {
      await this.#tree.flushBegun()
    } catch (error) {
      return stopCauseOf(error, openAgain)
    }
    return this.#session.state.turn.kind === 'ended' ? undefined : released
  }

  /** Drives until the tree is idle or only a person can continue, and no message has arrived meanwhile. */
  async #drive(): Promise<StopCause | undefined> {
    const session = this.#session
    this.#tree.resumeSpawned()
    let driving = drive(session, performer)
    for (;;) {
      this.#driving = driving
      const rest = await this.#tree.untilIdleOrStalled(driving)
      while (this.#mailbox.draining) await this.#mailbox.draining
      if (rest === 'stalled') {
        if (await this.#suspend()) return suspensionOf(session.turn.waiting)
        continue
      }
      const wanted = next(session)
      const isOver = rest === 'idle' ? wanted === 'idle' || this.#isRetired : wanted === 'wait'
      if (isOver) {
        this.#mailbox.close()
        // What an interrupted turn did not wait for records nothing more.
        if (rest === 'idle') session.release()
        const writing = this.#tree.flush()
        if (writing) await writing
        return rest === 'idle' ? undefined : suspensionOf(session.turn.waiting)
      }
      driving = drive(session, performer)
    }
  }

  /** Records the suspension. `false`: an answer has arrived meanwhile. */
  async #suspend(): Promise<boolean> {
    if (!this.#tree.isStalled) return false
    this.#tree.suspend()
    await this.#session.flush()
    while (this.#mailbox.draining) await this.#mailbox.draining
    if (!this.#tree.isStalled) return false
    this.#wakesAt = this.#tree.wakesAt
    this.#mailbox.close()
    return true
  }
}

export interface ResumeOptions {
  readonly whenIdle: 'settle' | 'wait'
  readonly feed: Feed
  readonly changes?: Changes
  readonly isPinned?: boolean
}

interface DriveOptions extends Pick<ResumeOptions, 'whenIdle'> {
  readonly epoch: number
  readonly inboxCursor: number
}

/** Leaves the account if the tree cannot be driven. */
async function claimWith(
  account: TreeAccount | undefined,
  parts: RuntimeParts,
  { treeId, agent }: { readonly treeId: TreeId; readonly agent: AgentSpec },
): Promise<Claimed> {
  try {
    parts.models.checkPrices(agent, account?.isCostBound === true)
    return await claimTree(parts, treeId, agent)
  } catch (error) {
    account?.leave()
    throw error
  }
}

const next = (session: ActiveSession) => session.decide().kind

/** The state in the journal of a released turn, from which the next driver starts. */
async function recordedResult({ trees }: RuntimeParts, known: DriveResult): Promise<DriveResult> {
  try {
    const { root, children } = await trees.stateOf(known.state.treeId)
    return { ...known, state: root, children }
  } catch {
    return known
  }
}
