import {
  type Clock,
  type Receipt,
  type SessionEntry,
  type SessionService,
  type Store,
  type TreeEntry,
  type TreeId,
  TroupeError,
} from '../../contracts/index.ts'
import type { AgentRuntime } from '../../runtime/index.ts'
import { mapItems } from '../../util/map-items.ts'
import { messageOf } from '../../util/message-of.ts'
import type { Continuations } from './continuations.ts'

// The sessions of a server's folder: what it continues, and what it shows of all stored sessions.
//
// 1. At the start, interrupted sessions of this and earlier servers continue, a few at a time. One that cannot is reported and does not
//    stop the others.
// 2. Every `takeOverMs`, those whose process has ended continue: another server of this folder was stopped or killed. The first
//    server that claims one drives it.
// 3. A message or an answer continues a session of a server, wherever it comes from.
// 4. Sessions of `troupe run` continue only by a message or an answer through this server, with their recorded definitions.
// 5. What was opened is released when it is idle, so that another server or a terminal can continue it.

const openAtOnce = 8
const takeOverMs = 2_000

interface OwnSessionsOptions {
  readonly runtime: AgentRuntime
  readonly store: Store
  readonly clock: Pick<Clock, 'after'>
  /** The workspace of its sessions. A program may have none. */
  readonly workspace: string | undefined
  readonly continuations: Continuations
  note(text: string): void
  report(problem: string): void
}

interface Waiting {
  stop(): void
  /** The position of the last message that was seen. */
  position: number
}

export class OwnSessions {
  readonly #options: OwnSessionsOptions
  /** Sessions that wait for a person: their inbox may get an answer from another process. */
  readonly #waiting = new Map<TreeId, Waiting>()
  /** Sessions of this folder with a running turn, in any process. */
  readonly #running = new Set<TreeId>()
  /** Another process was to take a message: if it has not when it ends, the message is taken here. */
  readonly #sentElsewhere = new Set<TreeId>()
  /** Sessions in mid turn whose process has ended, and which nobody continues. */
  #withoutDriver: ReadonlySet<TreeId> = new Set()
  /** They could not be opened: not tried again without a message. */
  readonly #failed = new Set<TreeId>()
  readonly #reportedAgents = new Set<string>()
  #isStoreFailing = false
  #unwatch: (() => void) | undefined
  #cancelTakeOver: (() => void) | undefined
  #isClosed = false

  constructor(options: OwnSessionsOptions) {
    this.#options = options
  }

  /** Continues what was interrupted, and takes over more from now on. Resolves after the first time. Can be repeated. */
  async resume(): Promise<void> {
    const { store, workspace } = this.#options
    this.#failed.clear()
    this.#unwatch ??= store.trees.watch(({ treeId, entry }) => this.#note(this.#follow(treeId, entry)))
    try {
      await this.#continueAll(await store.trees.list({ status: ['running', 'suspended'], ...(workspace !== undefined && { workspace }) }))
      await this.#takeOver()
    } finally {
      this.#takeOverLater()
    }
  }

  /** Once more, if it has been done. */
  async resumeAgain(): Promise<void> {
    if (this.#unwatch) await this.resume()
  }

  /** The sessions of the runtime, with what can be done with them here; messages continue those that nobody drives, too. */
  sessions(): SessionService {
    const { sessions } = this.#options.runtime
    const shown = (entry: SessionEntry): Promise<SessionEntry> => this.#shown(entry)
    return {
      ...sessions,
      send: async (id, input, options) => this.#drive(id, await sessions.send(id, input, options)),
      approve: async (id, answer) => this.#drive(id, await sessions.approve(id, answer)),
      cancel: async (id, mode, by) => this.#drive(id, await sessions.cancel(id, mode, by)),
      sendHeld: async (id, by) => this.#drive(id, await sessions.sendHeld(id, by)),
      get: async (id) => sessions.get(id).then((entry) => entry && shown(entry)),
      find: async (key) => sessions.find(key).then((entry) => entry && shown(entry)),
      list: async (filter) => Promise.all((await sessions.list(filter)).map(shown)),
      watch: (filter) =>
        mapItems(sessions.watch(filter), async (change) =>
          change.kind === 'changed' ? { ...change, session: await shown(change.session) } : change,
        ),
      update: async (id, changes) => shown(await sessions.update(id, changes)),
      fork: async (id, options) => {
        const forkId = await sessions.fork(id, options)
        // The runtime would continue its copy with the latest definitions.
        const { continues, isServed } = await this.#continuation(forkId)
        if (continues?.here && !isServed) await this.#open(forkId as TreeId)
        return forkId
      },
    }
  }

  close(): void {
    this.#isClosed = true
    this.#unwatch?.()
    this.#cancelTakeOver?.()
    for (const { stop } of this.#waiting.values()) stop()
    this.#waiting.clear()
  }

  async #shown(entry: SessionEntry): Promise<SessionEntry> {
    const { project, continue: continues, driver } = await this.#options.continuations.of(entry)
    const isLeft = this.#withoutDriver.has(entry.sessionId as TreeId) || (project === 'elsewhere' && driver === undefined)
    const released = { status: 'suspended', reason: 'released' } as const
    return { ...entry, ...(isLeft && entry.status === 'running' && released), project, continue: continues }
  }

  async #continuation(sessionId: string) {
    const { runtime, continuations } = this.#options
    const entry = await runtime.sessions.get(sessionId)
    const facts = entry && (await continuations.of(entry))
    return { entry, continues: facts?.continue, isServed: await continuations.isServed(sessionId as TreeId) }
  }

  async #drive(sessionId: string, receipt: Receipt): Promise<Receipt> {
    if (receipt.elsewhere) this.#sentElsewhere.add(sessionId as TreeId)
    if (receipt.driven || this.#isClosed) return receipt
    const { entry, continues } = await this.#continuation(sessionId)
    if (!entry || !continues) return receipt
    if (!continues.here) return { ...receipt, continue: continues }
    const problem = await this.#open(sessionId as TreeId)
    if (problem === undefined) return { ...receipt, driven: true }
    const reason = `This server cannot continue it: ${problem}`
    return { ...receipt, continue: { here: false, reason, ...(await this.#options.continuations.command(entry)) } }
  }

  async #continueAll(entries: readonly TreeEntry[]): Promise<void> {
    const { store, continuations, note, report } = this.#options
    const queue = [...new Map(entries.map((entry) => [entry.treeId, entry])).values()]
    let count = 0
    const unserved = new Set<string>()
    const next = async (): Promise<void> => {
      for (let entry = queue.pop(); entry && !this.#isClosed; entry = queue.pop()) {
        const { treeId, agent, status } = entry
        if (status === 'running') this.#running.add(treeId)
        if ((await store.trees.driver(treeId)) !== undefined || !(await continuations.isServed(treeId))) continue
        if (!continuations.serves(agent)) unserved.add(agent)
        else if ((await this.#open(treeId)) === undefined && isOpen(entry)) count++
        await this.#follow(treeId, await store.trees.get(treeId))
      }
    }
    await Promise.all(Array.from({ length: openAtOnce }, next))
    if (count > 0) note(`Continues ${count} interrupted ${count === 1 ? 'session' : 'sessions'}.`)
    const agents = [...unserved].filter((agent) => !this.#reportedAgents.has(agent))
    for (const agent of agents) this.#reportedAgents.add(agent)
    if (agents.length > 0) report(`Sessions of agents that are not served here are not continued: ${agents.sort().join(', ')}.`)
  }

  #takeOverLater(): void {
    this.#cancelTakeOver?.()
    if (this.#isClosed) return
    this.#cancelTakeOver = this.#options.clock.after(takeOverMs, () => void this.#takeOverSafely().then(() => this.#takeOverLater()))
  }

  /** A store that fails for a while is reported once. */
  async #takeOverSafely(): Promise<void> {
    try {
      await this.#takeOver()
      this.#isStoreFailing = false
    } catch (error) {
      if (!this.#isClosed && !this.#isStoreFailing) this.#reportStore(error)
      this.#isStoreFailing = true
    }
  }

  /** Continues sessions whose process has ended: nothing reports its death. */
  async #takeOver(): Promise<void> {
    const { store, workspace } = this.#options
    // Any of them may have a message that its process has taken.
    const abandoned = await store.trees.abandoned(workspace)
    const undriven = await this.#undriven()
    await this.#continueAll([...abandoned, ...undriven].filter(({ treeId }) => !this.#failed.has(treeId)))
    for (const treeId of this.#sentElsewhere) {
      if ((await store.trees.driver(treeId)) !== undefined) continue
      this.#sentElsewhere.delete(treeId)
      if ((await this.#continuation(treeId)).continues?.here) await this.#open(treeId)
    }
    const left = new Set((undriven.length === 0 ? [] : await this.#undriven()).map(({ treeId }) => treeId))
    const before = this.#withoutDriver
    this.#withoutDriver = left
    // Lists in all processes show the status again.
    for (const treeId of new Set([...before, ...left])) if (before.has(treeId) !== left.has(treeId)) await store.trees.update(treeId, {})
  }

  /** Sessions of this folder in mid turn, without a process. */
  async #undriven(): Promise<readonly TreeEntry[]> {
    const { trees } = this.#options.store
    const found: TreeEntry[] = []
    for (const treeId of this.#running) {
      const entry = (await trees.driver(treeId)) === undefined ? await trees.get(treeId) : undefined
      if (entry?.status === 'running') found.push(entry)
    }
    return found
  }

  async #follow(treeId: TreeId, entry: TreeEntry | undefined): Promise<void> {
    if (entry?.status === 'running' && entry.workspace === this.#options.workspace) this.#running.add(treeId)
    else this.#running.delete(treeId)
    const known = this.#waiting.get(treeId)
    if (entry?.status !== 'suspended' || this.#isClosed) {
      known?.stop()
      this.#waiting.delete(treeId)
      return
    }
    if (known || !(await this.#options.continuations.isServed(treeId)) || this.#isClosed || this.#waiting.has(treeId)) return
    const stop = this.#options.store.inbox.watch(treeId, () => this.#note(this.#readInbox(treeId)))
    this.#waiting.set(treeId, { stop, position: 0 })
    await this.#readInbox(treeId)
  }

  /** Other processes wake all watchers: a session is opened only if its inbox has new messages. */
  async #readInbox(treeId: TreeId): Promise<void> {
    const waiting = this.#waiting.get(treeId)
    if (!waiting) return
    const rows = await this.#options.store.inbox.read(treeId, waiting.position)
    const last = rows.at(-1)
    if (!last || this.#isClosed) return
    waiting.position = Math.max(waiting.position, last.position)
    await this.#open(treeId)
  }

  /** A store that fails for a moment must not end the server. */
  #note(work: Promise<void>): void {
    work.catch((error: unknown) => {
      if (!this.#isClosed) this.#reportStore(error)
    })
  }

  #reportStore(error: unknown): void {
    this.#options.report(`The store failed: ${messageOf(error)}`)
  }

  /** Resolves with the problem; `undefined`: a process drives it. */
  async #open(treeId: TreeId): Promise<string | undefined> {
    try {
      const isServed = await this.#options.continuations.isServed(treeId)
      const handle = await this.#options.runtime.open(treeId, isServed ? {} : { definitions: 'pin' })
      // Nobody reads this handle.
      await handle[Symbol.asyncIterator]().return?.()
      this.#failed.delete(treeId)
      this.#note(handle.release())
      return undefined
    } catch (error) {
      // Another server in this folder was faster.
      if (error instanceof TroupeError && error.code === 'session_driven') return undefined
      this.#failed.add(treeId)
      const problem = messageOf(error)
      if (!this.#isClosed) this.#options.report(`Session ${treeId} cannot be continued: ${problem}`)
      return problem
    }
  }
}

const isOpen = ({ status }: TreeEntry): boolean => status === 'running' || status === 'suspended'
