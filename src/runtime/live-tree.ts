import type { AgentSpec, ClientId, Diagnostic, InputPart, InteractionEvent, Outcome, SessionId, TreeId } from '../contracts/index.ts'
import { TroupeError } from '../contracts/index.ts'
import { created, drive, Ledger, type SessionState } from '../core/index.ts'
import { performer, type Stage, type ToolRegistry } from '../steps/index.ts'
import { keepShape } from '../util/keep-shape.ts'
import { Feed } from './feed.ts'
import { Mailbox } from './mailbox.ts'
import { type Halt, outcomeOf } from './outcome.ts'
import { type AgentShape, unknownTree, type Workshop } from './workshop.ts'

/**
 * A tree that this process drives.
 *
 * 1. It owns the tree from its start until `settled`, and writes nothing after.
 * 2. One drive at a time; whatever arrives while it ends is driven too before it is settled.
 * 3. `settled` never rejects.
 */
export class LiveTree {
  readonly treeId: TreeId
  readonly feed: Feed
  readonly settled: Promise<Outcome>
  readonly #stage: Stage
  readonly #mailbox: Mailbox
  #retired = false
  #leftOver = false

  private constructor(stage: Stage, feed: Feed, run: Drive) {
    this.treeId = stage.state.treeId
    this.feed = feed
    this.#stage = stage
    this.#mailbox = new Mailbox(stage, run.workshop.options.store.inbox)
    this.settled = this.#run(run)
    keepShape('tree', this)
  }

  /** A new tree with its first input. */
  static async start(
    workshop: Workshop,
    begin: { treeId: TreeId; agent: AgentSpec; parts: readonly InputPart[]; feed: Feed },
  ): Promise<LiveTree> {
    const { treeId, agent, feed } = begin
    const { registry, epoch, seq } = await prepare(workshop, treeId, agent)
    if (seq !== 0) throw new TroupeError('internal', `Tree ${treeId} is not new.`)
    const ledger = ledgerOf(workshop, feed, { treeId, epoch, seq })
    const first = firstEvent({ treeId, agent, at: workshop.options.clock.now() }, workshop.shape(agent, registry))
    ledger.record(first)
    const stage = workshop.stage({ ledger, state: created(first) }, registry)
    if (workshop.options.config.agents.length > 1) {
      stage.note({ type: 'interaction.subagent.selected', agent: agent.name, reason: 'explicit', scores: {} })
    }
    stage.note({ type: 'interaction.input.accepted', clientId: `${treeId}.input` as ClientId, parts: begin.parts, mode: 'queue' })
    return new LiveTree(stage, feed, { workshop, epoch, patient: false })
  }

  /** An existing tree, as its journal tells it. `patient`: wait for something to do where there is nothing. */
  static async resume(workshop: Workshop, treeId: TreeId, patient: boolean): Promise<LiveTree> {
    const { store } = workshop.options
    const entry = await store.trees.get(treeId)
    if (!entry) throw unknownTree(treeId)
    const { agent } = await workshop.stateOf(treeId, entry.seq)
    const { registry, epoch, seq } = await prepare(workshop, treeId, agent)
    try {
      // Until the claim, the owner before may have written more.
      const state = await workshop.stateOf(treeId, seq)
      const feed = new Feed()
      const stage = workshop.stage({ ledger: ledgerOf(workshop, feed, { treeId, epoch, seq: state.seq }), state }, registry)
      if (state.turn.kind === 'open')
        stage.note({ type: 'interaction.session.resumed', epoch, diagnostics: differences(workshop, state, registry) })
      return new LiveTree(stage, feed, { workshop, epoch, patient })
    } catch (error) {
      await store.journal.release(treeId, epoch)
      throw error
    }
  }

  /** Resolves when everything recorded so far is in the journal. */
  async durable(): Promise<void> {
    await this.#stage.flush()
  }

  /** No longer waits for something to do; false where it is at work. */
  retire(): boolean {
    this.#retired = true
    this.#stage.wake()
    return next(this.#stage) === 'idle'
  }

  /** After `settled`: something arrived too late for this drive. */
  get leftOver(): boolean {
    return this.#leftOver
  }

  async #run({ workshop, epoch, patient }: Drive): Promise<Outcome> {
    const stage = this.#stage
    const { inbox } = workshop.options.store
    // A failing store ends the drive, which reports it.
    const unwatch = inbox.watch(this.treeId, () => void this.#mailbox.drain().catch(() => {}))
    let halt: Halt | undefined
    try {
      if (stage.state.turns > 0) await this.#mailbox.drain()
      while (patient && !this.#retired && next(stage) === 'idle') await stage.woken()
      do {
        halt = (await drive(stage, performer(stage))) === 'suspended' ? waiting : undefined
        await this.#mailbox.draining
      } while (next(stage) !== (halt ? 'wait' : 'idle'))
    } catch (error) {
      halt = haltOf(error)
    }
    unwatch()
    await this.#release(workshop, epoch)
    workshop.remember(stage.state)
    this.feed.close()
    return outcomeOf(stage.state, halt)
  }

  /** The inbox is read once more after the tree is free: whoever found it taken relies on this process to notice. */
  async #release({ options: { store } }: Workshop, epoch: number): Promise<void> {
    try {
      await store.journal.release(this.treeId, epoch)
      const rows = await store.inbox.read(this.treeId, this.#stage.state.inboxCursor)
      this.#leftOver = rows.length > 0
    } catch {
      // Whoever comes next finds this owner gone.
    }
  }
}

interface Drive {
  readonly workshop: Workshop
  readonly epoch: number
  readonly patient: boolean
}

const next = (stage: Stage): string => stage.recipe.decide(stage.state).kind

const waiting: Halt = {
  status: 'suspended',
  reason: 'approval',
  message: 'The turn waits for an approval.',
  remedy: 'Approve or deny it; the turn goes on where it stands.',
}

/** How a journal begins. */
export function firstEvent(
  { treeId, agent, at }: { treeId: TreeId; agent: AgentSpec; at: number },
  shape: AgentShape,
): InteractionEvent<'interaction.session.created'> {
  const trace = { originId: treeId, callPath: agent.name, turnPath: '' }
  return {
    type: 'interaction.session.created',
    seq: 0,
    treeId,
    sessionId: treeId as string as SessionId,
    agentPath: 'root',
    at,
    agent,
    trace,
    ...shape,
  }
}

export function haltOf(error: unknown): Halt {
  if (error instanceof TroupeError) {
    const reason =
      error.code === 'store_failed' || error.code === 'tree_moved' || error.code === 'store_invalid' || error.code === 'tree_owned'
        ? 'store'
        : error.code === 'internal'
          ? 'internal'
          : 'config'
    return { status: 'failed', reason, message: error.message, ...(error.remedy !== undefined && { remedy: error.remedy }) }
  }
  return {
    status: 'failed',
    reason: 'internal',
    message: error instanceof Error ? error.message : String(error),
    remedy: 'Open the tree again to go on.',
  }
}

/** Everything that may be missing is looked for before the tree is claimed. */
async function prepare(
  workshop: Workshop,
  treeId: TreeId,
  agent: AgentSpec,
): Promise<{ registry: ToolRegistry; epoch: number; seq: number }> {
  const registry = await workshop.registry()
  await workshop.models(agent)
  const claim = await workshop.options.store.journal.claim(treeId, workshop.owner)
  if (!claim.ok)
    throw new TroupeError('tree_owned', `Tree ${treeId} is driven by ${claim.owner}.`, {
      remedy: 'Wait until it is done, or end that process.',
    })
  return { registry, epoch: claim.epoch, seq: claim.seq }
}

function ledgerOf(workshop: Workshop, feed: Feed, at: { treeId: TreeId; epoch: number; seq: number }): Ledger {
  const { store, clock } = workshop.options
  return new Ledger({ journal: store.journal, ...at, now: () => clock.now(), publish: (event) => feed.publish(event) })
}

/** The journal's definition stays in force; what has changed around it is told. */
function differences(workshop: Workshop, state: SessionState, registry: ToolRegistry): readonly Diagnostic[] {
  const now = workshop.options.config.agents.find((agent) => agent.name === state.agent.name)
  const missing = state.tools.filter((name) => !registry.find(name))
  const found: Diagnostic[] = missing.map((name) => ({
    code: 'tool_missing',
    severity: 'warning',
    message: `The tool "${name}" of this session is no longer there.`,
    remedy: 'Calls of it fail; bring it back to go on as before.',
  }))
  if (!now || JSON.stringify(now) !== JSON.stringify(state.agent)) {
    found.push({
      code: 'agent_changed',
      severity: 'info',
      message: `The agent "${state.agent.name}" has changed since this session began; the session keeps the old definition.`,
    })
  }
  return found
}
