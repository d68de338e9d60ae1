import {
  type AgentSpec,
  type InteractionEvent,
  type Journal,
  type Message,
  type SessionId,
  type TreeId,
  TroupeError,
} from '../../contracts/index.ts'
import { apply, createSessionState, type EndedTurn, type OpenTurn, type SessionState } from '../../core/index.ts'
import { Sequence } from '../../util/sequence.ts'

/** The state of all sessions of a tree, folded from its events. */
export interface TreeState {
  readonly root: SessionState
  /** The children of the last turn of the root. Once their call has ended, only what the outcome needs. */
  readonly children: ReadonlyMap<SessionId, SessionState>
  /** Children whose spending has been added to their parent. */
  readonly settled: ReadonlySet<SessionId>
  /** How many children of each agent the root has started, over all its turns. */
  readonly numbers: ReadonlyMap<string, number>
  readonly seq: number
  /** The last inbox row that was recorded. */
  readonly inboxCursor: number
}

const noChildren: ReadonlyMap<SessionId, SessionState> = new Map()
const noneSettled: ReadonlySet<SessionId> = new Set()
const noNumbers: ReadonlyMap<string, number> = new Map()

/** `number`: among the children that a call starts. */
export const childIdOf = (parent: SessionId, itemId: string, number = 1): SessionId =>
  `${parent}/${itemId}${number === 1 ? '' : `~${number}`}` as SessionId

/** `number`: among the requests of a call to models. They are never continued, and counted apart. */
export const sampleIdOf = (parent: SessionId, itemId: string, number: number): SessionId => `${parent}/${itemId}~s${number}` as SessionId

type Known = Pick<ReadonlySet<SessionId>, 'has'>

/** The ids of the children of a call. */
export function childIdsOf(parent: SessionId, itemId: string, known: Known): readonly SessionId[] {
  const ids: SessionId[] = []
  // One number may be missing: its child could not begin after all.
  for (let number = 1, missing = 0; missing < 2; number++) {
    const id = childIdOf(parent, itemId, number)
    if (known.has(id)) ids.push(id)
    else missing++
  }
  const samples = sampleCount(parent, itemId, known)
  for (let number = 1; number <= samples; number++) ids.push(sampleIdOf(parent, itemId, number))
  return ids
}

export function sampleCount(parent: SessionId, itemId: string, known: Known): number {
  let count = 0
  while (known.has(sampleIdOf(parent, itemId, count + 1))) count++
  return count
}

/** Whether a turn has this child among its spawned ones, which outlive their calls. */
export const isSpawnedIn = ({ spawned }: OpenTurn, childId: SessionId): boolean =>
  spawned.length > 0 && spawned.some((child) => child.childId === childId)

export const newTreeState = (root: SessionState): TreeState => ({
  root,
  children: noChildren,
  settled: noneSettled,
  numbers: noNumbers,
  seq: root.seq,
  inboxCursor: root.inboxCursor,
})

/** Called before an event is applied. `stateOf`: of a session before the event. */
export type Observer = (event: InteractionEvent, stateOf: (sessionId: SessionId) => SessionState | undefined) => void

/** Folds events into a new or an existing state. */
export function foldTree(events: readonly InteractionEvent[], from?: TreeState, observe?: Observer): TreeState {
  return new TreeFold(from, observe).add(events).state
}

const pageSize = 256

/** The state at the end of a journal; `undefined` without a journal. */
export async function foldJournal(
  journal: Pick<Journal, 'read'>,
  treeId: TreeId,
  { from, observe }: { readonly from?: TreeState | undefined; readonly observe?: Observer } = {},
): Promise<TreeState | undefined> {
  const fold = new TreeFold(from, observe)
  for (;;) {
    const page = await journal.read(treeId, fold.seq, pageSize)
    fold.add(page)
    if (page.length < pageSize) return fold.seq === 0 ? undefined : fold.state
  }
}

class TreeFold {
  #root: SessionState | undefined
  #seq: number
  #inboxCursor: number
  readonly #childStates: ChildStates

  readonly #observe: Observer | undefined
  readonly #stateOf = (sessionId: SessionId): SessionState | undefined =>
    this.#root?.sessionId === sessionId ? this.#root : this.#childStates.children.get(sessionId)

  constructor(from: TreeState | undefined, observe?: Observer) {
    this.#observe = observe
    this.#root = from?.root
    this.#seq = from?.seq ?? 0
    this.#inboxCursor = from?.inboxCursor ?? 0
    const { children, settled, numbers } = from ?? {}
    this.#childStates = { agents: new Map(), children: new Map(children), settled: new Set(settled), numbers: new Map(numbers) }
  }

  get seq(): number {
    return this.#seq
  }

  get state(): TreeState {
    if (!this.#root) throw new TroupeError('store_invalid', 'The journal is empty.')
    const { children, settled, numbers } = this.#childStates
    return { root: this.#root, children, settled, numbers, seq: this.#seq, inboxCursor: this.#inboxCursor }
  }

  add(events: readonly InteractionEvent[]): this {
    const childStates = this.#childStates
    let root = this.#root
    for (const event of events) {
      this.#observe?.(event, this.#stateOf)
      this.#seq = event.seq
      if (event.inbox !== undefined) this.#inboxCursor = Math.max(this.#inboxCursor, event.inbox)
      if (!root) root = first(event)
      else if (event.sessionId === root.sessionId) root = apply(root, event)
      else foldChild(childStates, event)
      this.#root = root
      trackChildren(childStates, event, root)
    }
    return this
  }
}

interface ChildStates {
  /** By their JSON, so that thousands of children share one agent. */
  readonly agents: Map<string, AgentSpec>
  readonly children: Map<SessionId, SessionState>
  readonly settled: Set<SessionId>
  readonly numbers: Map<string, number>
}

function foldChild({ children, agents }: ChildStates, event: InteractionEvent): void {
  if (event.type === 'interaction.session.created')
    children.set(event.sessionId, createSessionState({ ...event, agent: shared(agents, event.agent) }))
  else children.set(event.sessionId, apply(known(children, event), event))
}

function shared(agents: Map<string, AgentSpec>, agent: AgentSpec): AgentSpec {
  const text = JSON.stringify(agent)
  const known = agents.get(text)
  if (!known) agents.set(text, agent)
  return known ?? agent
}

/** Applies an event of one session to the others. */
function trackChildren({ children, settled, numbers }: ChildStates, event: InteractionEvent, root: SessionState): void {
  const rootId = root.sessionId
  switch (event.type) {
    case 'interaction.session.created':
      if (event.parent?.sessionId === rootId) numbers.set(event.agent.name, (numbers.get(event.agent.name) ?? 0) + 1)
      return
    case 'interaction.subagent.completed':
    case 'interaction.subagent.failed':
      settled.add(event.childId)
      return
    case 'interaction.item.completed': {
      if (event.itemId === undefined || children.size === 0) return
      const turn = (event.sessionId === rootId ? root : children.get(event.sessionId))?.turn
      for (const childId of childIdsOf(event.sessionId, event.itemId, children)) {
        const child = children.get(childId)
        if (child && !(turn?.kind === 'open' && isSpawnedIn(turn, childId))) children.set(childId, summaryOnly(child))
      }
      return
    }
    case 'interaction.subagent.started':
      if (event.turn !== undefined) settled.delete(event.childId)
      return
    case 'interaction.subagent.closed': {
      const child = children.get(event.childId)
      if (child) children.set(event.childId, summaryOnly(child))
      return
    }
    case 'interaction.turn.started':
      if (event.sessionId !== rootId) return
      settled.clear()
      for (const [childId, { turn }] of children) if (turn.kind !== 'open') children.delete(childId)
  }
}

function first(event: InteractionEvent): SessionState {
  if (event.type === 'interaction.session.created' && !event.parent) return createSessionState(event)
  throw new TroupeError('store_invalid', `A journal begins with interaction.session.created, found event ${event.seq} (${event.type}).`)
}

function known(children: ReadonlyMap<SessionId, SessionState>, event: InteractionEvent): SessionState {
  const state = children.get(event.sessionId)
  if (!state)
    throw new TroupeError(
      'store_invalid',
      `Event ${event.seq} (${event.type}) belongs to session ${event.sessionId}, which was never created.`,
    )
  return state
}

/** The parts of an ended child that the outcome of the turn needs. */
export function summaryOnly(state: SessionState): SessionState {
  const { turn } = state
  return { ...state, ...nothing, turn: turn.kind === 'ended' && turn.report ? withoutReport(turn) : turn }
}

const nothing = { history: Sequence.empty<Message>(), inputs: [], grants: [], tools: [], prices: {} }

/** Field by field: for an object rest the engine takes a slow path, and every child comes by here. */
function withoutReport(turn: EndedTurn): EndedTurn {
  const { kind, id, ending, totals, paidUsd, children, idleMs, inputs, accounting, diagnostics } = turn
  return { kind, id, ending, totals, paidUsd, children, idleMs, inputs, accounting, diagnostics }
}
