import {
  type Receipt,
  type SessionId,
  type SessionService,
  type Store,
  type TreeEntry,
  type TreeId,
  TroupeError,
} from '../../contracts/index.ts'
import type { AgentRuntime } from '../../runtime/index.ts'
import { messageOf } from '../../util/message-of.ts'
import { originOf } from '../run/stored-settings.ts'

// Sessions that a server in this workspace started, by this process or an earlier one.
//
// 1. At the start, interrupted ones continue, a few at a time. One that cannot is reported and does not stop the others.
// 2. A message or an answer to one of them continues it, wherever it comes from.
// 3. Sessions of other commands are never driven here.

const openAtOnce = 8

export interface OwnSessionsOptions {
  readonly runtime: AgentRuntime
  readonly store: Store
  readonly workspace: string
  report(problem: string): void
}

interface Waiting {
  stop(): void
  /** Of the last message that was seen. */
  position: number
}

export class OwnSessions {
  readonly #options: OwnSessionsOptions
  /** Sessions that wait for a person: their inbox may get an answer from another process. */
  readonly #waiting = new Map<TreeId, Waiting>()
  #unwatch: (() => void) | undefined
  #isClosed = false

  constructor(options: OwnSessionsOptions) {
    this.#options = options
  }

  /** Continues what was interrupted. Resolves with the number of sessions. */
  async resume(): Promise<number> {
    const { store, workspace } = this.#options
    this.#unwatch = store.trees.watch(({ treeId, entry }) => this.#note(this.#follow(treeId, entry)))
    const entries = [...(await store.trees.list({ status: ['running', 'suspended'], workspace }))]
    let count = 0
    const left = new Set<string>()
    const next = async (): Promise<void> => {
      for (let entry = entries.pop(); entry && !this.#isClosed; entry = entries.pop()) {
        if (!(await this.#isOwn(entry.treeId)) || (await store.trees.driver(entry.treeId)) !== undefined) continue
        if (!this.#serves(entry)) left.add(entry.agent)
        else if (await this.#open(entry.treeId)) count++
        await this.#follow(entry.treeId, await store.trees.get(entry.treeId))
      }
    }
    await Promise.all(Array.from({ length: openAtOnce }, next))
    if (left.size > 0) this.#options.report(`Sessions of agents that are not served here are left alone: ${[...left].sort().join(', ')}.`)
    return count
  }

  /** The sessions of the runtime; messages continue own sessions of earlier processes, too. */
  sessions(): SessionService {
    const { sessions } = this.#options.runtime
    const driving = async (sessionId: SessionId | string, receipt: Promise<Receipt>): Promise<Receipt> => {
      const given = await receipt
      const treeId = sessionId as TreeId
      if (given.driven || this.#isClosed || !(await this.#isOwn(treeId))) return given
      return { ...given, driven: await this.#open(treeId) }
    }
    return {
      ...sessions,
      send: (id, input, options) => driving(id, sessions.send(id, input, options)),
      approve: (id, answer) => driving(id, sessions.approve(id, answer)),
      cancel: (id, mode, by) => driving(id, sessions.cancel(id, mode, by)),
      sendHeld: (id, by) => driving(id, sessions.sendHeld(id, by)),
    }
  }

  close(): void {
    this.#isClosed = true
    this.#unwatch?.()
    for (const { stop } of this.#waiting.values()) stop()
    this.#waiting.clear()
  }

  async #follow(treeId: TreeId, entry: TreeEntry | undefined): Promise<void> {
    const known = this.#waiting.get(treeId)
    if (entry?.status !== 'suspended' || this.#isClosed) {
      known?.stop()
      this.#waiting.delete(treeId)
      return
    }
    if (known || !(await this.#isOwn(treeId)) || this.#isClosed || this.#waiting.has(treeId)) return
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

  /** Another server of this workspace may serve other agents. */
  #serves({ agent }: TreeEntry): boolean {
    const agents = this.#options.runtime.sessions.agents()
    return agents.some(({ name, displayName }) => name === agent || displayName === agent)
  }

  /** A store that fails for a moment must not end the server. */
  #note(work: Promise<void>): void {
    work.catch((error: unknown) => {
      if (!this.#isClosed) this.#options.report(`The store failed: ${messageOf(error)}`)
    })
  }

  async #isOwn(treeId: TreeId): Promise<boolean> {
    const { store, workspace } = this.#options
    const origin = await originOf(store, treeId).catch(() => undefined)
    return origin?.command === 'serve' && origin.workspace === workspace
  }

  async #open(treeId: TreeId): Promise<boolean> {
    try {
      const handle = await this.#options.runtime.open(treeId)
      // Nobody reads this handle.
      await handle[Symbol.asyncIterator]().return?.()
      return true
    } catch (error) {
      // Another server in this folder was faster.
      if (error instanceof TroupeError && error.code === 'session_owned') return true
      if (!this.#isClosed) this.#options.report(`Session ${treeId} cannot be continued: ${messageOf(error)}`)
      return false
    }
  }
}
