import {
  type AgentChanges,
  type AgentSpec,
  type ClientId,
  type GivenAnswer,
  type InboxMessage,
  type InputPart,
  type MaybePromise,
  type Outcome,
  type Receipt,
  type SessionId,
  type TreeEntry,
  type TreeId,
  TroupeError,
} from '../../contracts/index.ts'
import { createSessionState } from '../../core/index.ts'
import { Interrupt } from '../../util/interrupt.ts'
import { RecentSet } from '../../util/recent-set.ts'
import { withChanges } from '../changes/reconfigure-session.ts'
import { messageWithoutSecrets, storeMessage } from '../inputs/store-message.ts'
import { type DriveResult, outcomeOf, runAgain, type StopCause, stopCauseOf } from '../journal/outcome.ts'
import { checkedTreeId, unknownTree } from '../journal/tree-cache.ts'
import type { AgentLoopConfig } from '../options/agent-config.ts'
import type {
  AgentRuntime,
  CloseOptions,
  Definitions,
  OpenOptions,
  RunHandle,
  RunInput,
  RunOptions,
  RuntimeHost,
  RuntimeOptions,
} from '../options/agent-runtime.ts'
import { systemClock } from '../parts/default-ports.ts'
import type { RuntimeParts } from '../parts/runtime-parts.ts'
import type { Variables } from '../parts/session-overlays.ts'
import { findAgent, matchAgent, onlyAgent, type Selected, withAgent } from '../selection/select-agent.ts'
import { type Answer, effectOf, type StoredAnswer, storeAnswer } from '../sessions/store-answer.ts'
import { Feed } from '../tree/event-feed.ts'
import { drivenTree } from '../tree/find-tree.ts'
import { JournalPages } from '../tree/journal-pages.ts'
import { firstEvent } from '../tree/open-tree.ts'
import { type Beginning, begunTurn, type Opening, openAccount, openedBy, openingAgent, withoutSecrets } from '../tree/opening.ts'
import { type ResumeOptions, TreeDriver } from '../tree/tree-driver.ts'
import { checkClose, checkOpen, checkRun } from '../validation/check-arguments.ts'
import { requireClientTools } from '../validation/check-client-tools.ts'
import { checkOptions } from '../validation/check-options.ts'
import { clientIdTaken, isSameMessage } from './client-ids.ts'
import { Deletions } from './deletions.ts'
import { partsOf } from './input-parts.ts'
import { NewestParts } from './newest-parts.ts'
import { Handle } from './run-handle.ts'
import { RunOutputs, type TypedRun } from './run-output.ts'
import { sessionService } from './session-service.ts'
import { TreeDrivers } from './tree-drivers.ts'
import { WakeUps } from './wake-ups.ts'

/**
 * Creates a runtime from agents, models, tools and a store.
 *
 * @example
 * const runtime = createAgentRuntime({ config: { agents: [agent], tools: [search] }, adapter: model })
 * const outcome = await runtime.run('What is new?')
 *
 * @throws TroupeError `config_invalid` with every problem. Nothing is started then.
 */
export function createAgentRuntime(options: RuntimeOptions): AgentRuntime {
  checkOptions(options)
  return new Runtime(options)
}

interface StartedTree {
  readonly treeId: TreeId
  readonly feed: Feed
  /** Rejects if the tree could not be started. Nothing is stored then. */
  readonly started: Promise<TreeDriver>
  /** Never rejects. */
  readonly result: Promise<DriveResult>
}

/** Bounds the memory of a runtime that starts many sessions. */
const maxHeld = 100_000

/** After `close` nothing is started or resumed; accepted messages stay in the store. No turn is ended by it. */
export class Runtime implements AgentRuntime {
  readonly sessions = sessionService(this)
  readonly drivers = new TreeDrivers({
    setIdle: (treeId) => this.#setIdle(treeId),
    resumeIfUnread: (driver) => this.#resumeIfUnread(driver),
  })
  readonly #wakeUps = new WakeUps({ clock: () => this.parts.options.clock, wake: (treeId) => void this.#wake(treeId).catch(() => {}) })
  readonly #newest: NewestParts
  /** Trees that were started or opened here and not released: a message to one of them resumes it. */
  readonly #held = new RecentSet<TreeId>(maxHeld)
  /** Trees whose turns keep the recorded definitions. */
  readonly #pinned = new RecentSet<TreeId>(maxHeld)
  /** Trees that are not started yet; an interrupt does not wait for models and tools. */
  readonly #startInterrupts = new Map<TreeId, Interrupt>()
  /** Trees that are being deleted: they are not resumed. */
  readonly #deleting = new Set<TreeId>()
  readonly #outputs = new RunOutputs()
  readonly deletions = new Deletions(() => this.parts.options.store.trees)
  /** For readers of journals. */
  readonly pages: JournalPages
  /** Fires when no tree is driven here any more. */
  readonly closed = new Interrupt()
  /** Fires when running turns are to be released: trees that are being opened do not wait for their tools. */
  readonly #leaving = new Interrupt()
  #isClosed = false
  #closing: Promise<void> | undefined

  constructor(options: RuntimeOptions) {
    this.pages = new JournalPages(() => this.parts.options.store, options.clock ?? systemClock)
    this.#newest = new NewestParts(options, {
      isClosed: () => this.#isClosed,
      refuseWhenClosed: () => this.#refuseWhenClosed(),
      untilSettled: () => this.drivers.settled(),
    })
  }

  /** The parts of the newest configuration. */
  get parts(): RuntimeParts {
    return this.#newest.parts
  }

  update(config: AgentLoopConfig, changes: Parameters<AgentRuntime['update']>[1] = {}): Promise<void> {
    return this.#newest.update(config, changes)
  }

  // The type of the value is that of the schema, which has checked it.
  async run<Value>(input: RunInput, options: RunOptions = {}): Promise<Outcome<Value>> {
    const { treeId, result } = this.startRun(input, options)
    this.#interruptOn(options.signal, { treeId, result })
    const { output, signal } = options
    const outcome = outcomeOf(await result)
    return (output === undefined ? outcome : await this.typed(outcome, { output, signal, treeId })) as Outcome<Value>
  }

  stream<Value>(input: RunInput, options: RunOptions = {}): RunHandle<Value> {
    const { treeId, result, feed } = this.startRun(input, options)
    this.#interruptOn(options.signal, { treeId, result })
    return new Handle(this, { treeId, result, events: feed.subscribe(), options }) as RunHandle<unknown> as RunHandle<Value>
  }

  /** The outcome with the value of the schema that was given to the run. */
  typed(outcome: Outcome, run: TypedRun): MaybePromise<Outcome> {
    return this.#outputs.typed(outcome, run, { clock: this.parts.options.clock, leaving: this.#leaving })
  }

  async open(given: SessionId | string, options: OpenOptions = {}): Promise<RunHandle> {
    this.#refuseWhenClosed()
    const treeId = checkedTreeId(given)
    checkOpen(options, this.parts.modelKeys)
    const { overlay, definitions, ...changing } = options
    if (definitions !== undefined) this.#pin(treeId, definitions)
    const feed = new Feed()
    const events = feed.subscribe()
    const changes = structuredClone(changing)
    const driver = await (overlay === undefined
      ? (this.drivers.get(treeId) ?? this.#resume(treeId, { whenIdle: 'wait', feed, changes }))
      : this.#resumeWithOverlay(overlay, treeId, { whenIdle: 'wait', feed, changes }))
    if (driver.feed !== feed) driver.refuseChanges(changes)
    this.#held.add(treeId)
    return new Handle(this, { treeId, result: driver.settled, events: driver.feed === feed ? events : driver.feed.subscribe() })
  }

  /** Variables are not stored: the caller passes them again. If the tree cannot be opened, the old ones stay. */
  async #resumeWithOverlay(overlay: Variables, treeId: TreeId, how: ResumeOptions): Promise<TreeDriver> {
    const { overlays } = this.parts
    if (this.drivers.has(treeId))
      throw new TroupeError('usage', `Session ${treeId} is running here and keeps its variables.`, {
        remedy: 'Open it without overlay, or when it is idle.',
      })
    const before = overlays.of(treeId)
    overlays.set(treeId, overlays.over(overlay))
    try {
      return await this.#resume(treeId, how)
    } catch (error) {
      overlays.forget(treeId)
      overlays.set(treeId, before)
      overlays.setIdle(treeId)
      throw error
    }
  }

  hostedBy(host: RuntimeHost): ReturnType<AgentRuntime['hostedBy']> {
    const { hosting, options } = this.parts
    return { origin: options.origin, store: options.store, leave: hosting.use(host) }
  }

  #pin(treeId: TreeId, definitions: Definitions): void {
    if (definitions === 'pin') this.#pinned.add(treeId)
    else this.#pinned.delete(treeId)
  }

  close(options: CloseOptions = {}): Promise<void> {
    checkClose(options)
    this.#isClosed = true
    const { drain = false } = options
    if (!drain) this.#leaving.fire('released')
    if (!drain) for (const startInterrupt of this.#startInterrupts.values()) startInterrupt.fire('interrupted')
    for (const starting of this.drivers.all())
      void starting.then(
        (driver) => (drain ? driver.retire() : driver.release()),
        () => {},
      )
    this.#closing ??= this.#close()
    return this.#closing
  }

  async #close(): Promise<void> {
    await this.drivers.settled()
    this.closed.fire('closed')
    await this.parts.close()
  }

  /** An unknown name throws immediately; only asking a model returns a promise. */
  #selectAgent(
    input: readonly InputPart[],
    name: string | undefined,
    asking: Parameters<RuntimeParts['askModelForAgent']>[2],
  ): MaybePromise<Selected> {
    const { agents, candidates, selection } = this.parts.options.config
    const wanted = name ?? ('agent' in selection ? selection.agent : undefined)
    if (wanted !== undefined) return { agent: findAgent(agents, wanted), reason: agents.length > 1 ? 'explicit' : 'only', scores: {} }
    const only = onlyAgent(candidates)
    if (only) return only
    const asksModel = 'infer' in selection && selection.infer === 'model'
    return asksModel ? this.parts.askModelForAgent(candidates, input, asking) : matchAgent(candidates, input)
  }

  async entryOf(treeId: TreeId): Promise<TreeEntry | undefined> {
    const { trees } = this.parts.options.store
    const entry = await trees.get(treeId)
    const driver = entry ? undefined : await this.drivers.find(treeId)
    await driver?.durable()
    return driver ? trees.get(treeId) : entry
  }

  async storedId(sessionId: SessionId | string): Promise<TreeId> {
    const treeId = checkedTreeId(sessionId)
    if (await this.entryOf(treeId)) return treeId
    throw unknownTree(treeId)
  }

  /** Whether another process that is alive drives the tree. */
  async isDrivenElsewhere(treeId: TreeId): Promise<boolean> {
    const { trees } = this.parts.options.store
    if (!(await trees.get(treeId))) throw unknownTree(treeId)
    return (await trees.driver(treeId)) !== undefined
  }

  startRun(input: RunInput, options: RunOptions): StartedTree {
    checkRun(input, options, this.parts.modelKeys)
    return this.startTree(input, options)
  }

  /** The options are checked. `given`: for `sessions.start`. */
  startTree(input: RunInput, options: RunOptions, given?: { readonly treeId: TreeId; readonly opening: Opening }): StartedTree {
    this.#refuseWhenClosed()
    if (options.output !== undefined) this.#outputs.check(options.output)
    const { overlays } = this.parts
    const own = overlays.over(options.overlay)
    const parts = this.parts.withoutSecrets(partsOf(input), own)
    const opening = given ? withoutSecrets(given.opening, own.redactor) : options.principal && openedBy(options.principal)
    const startInterrupt = new Interrupt()
    if (options.signal?.aborted) startInterrupt.fire('interrupted')
    const { accounts } = this.parts
    const isOwned = opening?.principal !== undefined && accounts !== undefined
    // An unknown name is refused immediately.
    if ((isOwned || !this.#newest.isPrepared) && options.agent !== undefined) findAgent(this.parts.options.config.agents, options.agent)
    const preparing = isOwned ? openAccount(opening, accounts, startInterrupt).then(() => this.#newest.prepare()) : this.#newest.prepare()
    const choose = (): MaybePromise<Selected> => {
      const found = this.#selectAgent(parts, options.agent, { startInterrupt, redactor: own.redactor, account: opening?.account })
      const selected = opening ? withAgent(found, (agent) => openingAgent(agent, opening)) : found
      const { output } = options
      return output === undefined ? selected : withAgent(selected, (agent) => this.#outputs.withOutput(agent, output))
    }
    const chosen = preparing ? undefined : choose()
    const treeId = given?.treeId ?? (this.parts.options.ids.next() as TreeId)
    overlays.set(treeId, own)
    this.#held.add(treeId)
    if (options.definitions === 'pin') this.#pinned.add(treeId)
    const feed = new Feed()
    this.#startInterrupts.set(treeId, startInterrupt)
    const isPinned = options.definitions === 'pin'
    const begin = (selected: MaybePromise<Selected>): Promise<TreeDriver> =>
      TreeDriver.start(this.parts, { treeId, chosen: selected, input: parts, feed, startInterrupt, isPinned, opening })
    const started = this.drivers.add(treeId, preparing ? preparing.then(() => begin(choose())) : begin(chosen ?? choose()))
    const result = started.then(
      (driver) => {
        this.#startInterrupts.delete(treeId)
        return driver.settled
      },
      (error: unknown) => {
        this.#startInterrupts.delete(treeId)
        opening?.account?.leave()
        overlays.forget(treeId)
        this.parts.sources?.forget(treeId)
        feed.close()
        const stopped = startInterrupt.reason === undefined ? stopCauseOf(error, runAgain) : interruptedBefore
        // A model was to select the agent and did not: the outcome names the first candidate.
        const agent = !chosen || chosen instanceof Promise ? this.parts.options.config.candidates[0] : chosen.agent
        return notStarted({ treeId, agent: agent as AgentSpec, at: this.parts.options.clock.now() }, stopped)
      },
    )
    return { treeId, feed, started, result }
  }

  /** Adds a message to the inbox, and resumes the tree if it belongs to this runtime. */
  async deliver(treeId: TreeId, message: InboxMessage, given?: ClientId): Promise<Receipt> {
    if (this.#deleting.has(treeId)) throw unknownTree(treeId)
    // A tree that still runs while the runtime closes can be answered and ended.
    if (!this.drivers.has(treeId)) this.#refuseWhenClosed()
    return this.#addToInbox(treeId, messageWithoutSecrets(this.parts, treeId, message), given)
  }

  async #addToInbox(treeId: TreeId, message: InboxMessage, given?: ClientId): Promise<Receipt> {
    const { store, ids } = this.parts.options
    const clientId = given ?? ((message.kind === 'approval' ? message.approvalId : ids.next()) as ClientId)
    const startInterrupt = isInterrupt(message) ? this.#startInterrupts.get(treeId) : undefined
    startInterrupt?.fire('interrupted')
    if (isInterrupt(message)) this.#outputs.interrupt(treeId)
    const driver = await this.drivers.find(treeId)
    // A tree that was never started has no inbox.
    if (startInterrupt && !driver) return { clientId, driven: false }
    let isElsewhere = !driver && (await this.isDrivenElsewhere(treeId))
    const isBeginning = message.kind === 'input' || message.kind === 'send_held'
    if (isBeginning && (driver?.isIdle ?? !isElsewhere)) await this.#requireBudget(treeId, clientId, message)
    if (message.kind === 'input' && message.changes) await this.#checkSettings(treeId, message.changes, isElsewhere)
    if (message.kind === 'approval' && message.changes) await this.#checkClientTools(treeId, message.changes)
    const stored = await storeMessage(this.parts, treeId, message)
    // From here on only an answer is refused, if another one was faster: a caller that tries again would send a message twice.
    const answered = stored.kind === 'approval' ? await storeAnswer(store, treeId, stored) : undefined
    if (stored.kind !== 'approval') await this.#addOnce(treeId, clientId, stored)
    // That process may have released the tree meanwhile, without seeing the message.
    if (isElsewhere) isElsewhere = (await store.trees.driver(treeId)) !== undefined
    if (!isElsewhere && this.#held.has(treeId) && !this.drivers.has(treeId) && !this.#isClosed) await this.#tryResume(treeId)
    const receipt: Receipt = isElsewhere ? { clientId, driven: true, elsewhere: true } : { clientId, driven: this.drivers.has(treeId) }
    const first = stored.kind === 'approval' && answered && (await this.#firstAnswer(treeId, stored, answered))
    return first ? { ...receipt, first } : receipt
  }

  async #addOnce(treeId: TreeId, clientId: ClientId, message: InboxMessage): Promise<void> {
    const added = await this.parts.options.store.inbox.add(treeId, clientId, message)
    if (added.repeated && !isSameMessage(added.message, message)) throw clientIdTaken(clientId, 'another message')
  }

  /** If the tree is driven here, the answer is read before the caller hears that it is accepted. */
  async #firstAnswer(treeId: TreeId, answer: Answer, stored: StoredAnswer): Promise<GivenAnswer | undefined> {
    if ('first' in stored) return stored.first
    const driver = await this.drivers.find(treeId)
    await driver?.readInbox()
    return driver && effectOf(this.parts.options.store, treeId, { ...answer, ...stored })
  }

  /** A message that would begin a turn which its owner cannot pay. One that was stored before is not refused. */
  async #requireBudget(treeId: TreeId, clientId: ClientId, message: Beginning): Promise<void> {
    const { trees, inbox } = this.parts.options.store
    const entry = this.parts.accounts && (await trees.get(treeId))
    if (entry?.owner === undefined || entry.status === 'running' || entry.status === 'suspended') return
    const begun = async () => begunTurn((await this.parts.trees.stateOf(treeId)).root, message)
    try {
      await this.parts.accounts?.requireBudget(entry.owner, begun, this.#leaving)
    } catch (error) {
      if (!(await inbox.read(treeId, 0)).some((row) => row.clientId === clientId)) throw error
    }
  }

  /** Settings that cannot be used are refused before anything is stored. */
  async #checkSettings(treeId: TreeId, changes: AgentChanges, isElsewhere: boolean): Promise<void> {
    if (isElsewhere)
      throw new TroupeError('usage', `Session ${treeId} is driven by another process, which keeps its settings.`, {
        remedy: 'Send the message without settings, or send it there.',
      })
    const { root } = await this.parts.trees.stateOf(treeId)
    const agent = withChanges(this.parts.agents.get(root.agent.name) ?? root.agent, changes)
    await this.parts.models.resolve(agent)
    this.parts.models.checkPrices(agent, agent.limits.maxCostUsd !== undefined)
    await this.#checkClientTools(treeId, changes)
  }

  /** They come with settings of the next turn, and with results. */
  async #checkClientTools(treeId: TreeId, changes: AgentChanges): Promise<void> {
    if (!changes.clientTools?.length) return
    const { root } = await this.parts.trees.stateOf(treeId)
    const agent = this.parts.agents.get(root.agent.name) ?? root.agent
    requireClientTools(agent, await this.parts.toolsFor(treeId, agent), changes)
  }

  /** Releases an idle tree. Messages do not resume it until it is opened again. */
  async release(treeId: TreeId): Promise<void> {
    this.#held.delete(treeId)
    const driver = await this.drivers.find(treeId)
    await driver?.releaseWhenIdle()
    if (!this.drivers.has(treeId)) this.parts.sources?.forget(treeId)
  }

  /** From now on a message resumes the tree here. */
  hold(treeId: TreeId): void {
    this.#held.add(treeId)
  }

  /** Ends a running turn, then removes the tree from the store. */
  async delete(treeId: TreeId): Promise<void> {
    this.#deleting.add(treeId)
    try {
      await this.#end(treeId)
      const { deleteTree } = await import('../tree/delete-tree.ts')
      const deletion = await deleteTree(this.parts.options.store, treeId)
      if (deletion.ok) this.#forget(treeId)
      else throw deletion.refusal === 'driven' ? drivenTree(treeId, deletion.driver) : unknownTree(treeId)
    } finally {
      this.#deleting.delete(treeId)
    }
  }

  /** Resolves when the tree is not driven here. Its queued inputs start no further turn. */
  async #end(treeId: TreeId): Promise<void> {
    this.#startInterrupts.get(treeId)?.fire('interrupted')
    const driver = await this.drivers.find(treeId)
    if (!driver) return
    driver.retire()
    await this.#addToInbox(treeId, { kind: 'cancel', mode: 'interrupt', by: 'delete' })
    await driver.settled
    await this.drivers.continuesAfter(driver)
  }

  #forget(treeId: TreeId): void {
    this.#held.delete(treeId)
    this.#pinned.delete(treeId)
    const { overlays, sources, trees } = this.parts
    overlays.forget(treeId)
    sources?.forget(treeId)
    trees.forget(treeId)
    this.pages.forget(treeId)
  }

  /** Resumes a tree that has a message. If another process drives it or it cannot be resumed, the message waits in the inbox. */
  async #tryResume(treeId: TreeId): Promise<void> {
    await this.#resume(treeId, { whenIdle: 'settle', feed: new Feed() }).catch(() => {})
  }

  #resume(treeId: TreeId, how: ResumeOptions): Promise<TreeDriver> {
    if (this.#deleting.has(treeId)) return Promise.reject(unknownTree(treeId))
    this.parts.overlays.resume(treeId)
    const resume = (): Promise<TreeDriver> =>
      TreeDriver.resume(this.parts, treeId, { ...how, isPinned: this.#pinned.has(treeId), closing: this.#leaving })
    return this.drivers.add(treeId, this.#newest.prepare()?.then(resume) ?? resume())
  }

  #setIdle(treeId: TreeId): void {
    this.parts.overlays.setIdle(treeId)
    this.parts.sources?.setIdle(treeId)
  }

  /** A message may come too late for a driver. */
  async #resumeIfUnread(driver: TreeDriver): Promise<boolean> {
    if (this.#isClosed || this.#deleting.has(driver.treeId)) return false
    this.#wakeUps.set(driver.treeId, driver.wakesAt)
    if (!(await driver.hasUnreadMessages())) return false
    if (!this.drivers.has(driver.treeId)) await this.#tryResume(driver.treeId)
    return this.drivers.has(driver.treeId)
  }

  /** Another process may have continued it. */
  async #wake(treeId: TreeId): Promise<void> {
    if (this.#isClosed || this.#deleting.has(treeId) || this.drivers.has(treeId)) return
    const entry = await this.parts.options.store.trees.get(treeId)
    if (entry?.status === 'suspended' && !this.#isClosed && !this.drivers.has(treeId)) await this.#tryResume(treeId)
  }

  #interruptOn(signal: AbortSignal | undefined, { treeId, result }: Pick<StartedTree, 'treeId' | 'result'>): void {
    if (!signal) return
    const interrupt = () => void this.deliver(treeId, { kind: 'cancel', mode: 'interrupt', by: 'signal' }).catch(() => {})
    signal.addEventListener('abort', interrupt, { once: true })
    void result.then(() => signal.removeEventListener('abort', interrupt))
  }

  #refuseWhenClosed(): void {
    if (this.#isClosed) throw new TroupeError('runtime_closed', 'The runtime is closed.', { remedy: 'Create a new one.' })
  }
}

const isInterrupt = (message: InboxMessage): boolean => message.kind === 'cancel' && message.mode === 'interrupt'

/** The result of a run that could not be started. Nothing of it was stored. */
function notStarted(begun: { treeId: TreeId; agent: AgentSpec; at: number }, stopped: StopCause): DriveResult {
  return { state: createSessionState(firstEvent(begun, { tools: [], promptChars: 0, policy: '' })), children: new Map(), stopped }
}

const interruptedBefore: StopCause = { status: 'interrupted', reason: 'interrupted', message: 'The run was interrupted before it started.' }
