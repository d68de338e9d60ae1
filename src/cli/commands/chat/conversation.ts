import {
  type AgentDescription,
  type ApprovalDecision,
  type ApprovalId,
  type ClientId,
  type InteractionEvent,
  OpenRequests,
  type SessionEntry,
  type SessionId,
  type StreamEvent,
  TroupeError,
} from '../../../contracts/index.ts'
import { orchestratorName } from '../../../policy/orchestrator-name.ts'
import { knownNames } from '../../../util/nearest-names.ts'
import {
  applyEvent,
  emptyTree,
  type RunTree,
  showInterrupting,
  speakerAfter,
  type TurnNode,
  terminalApproverName,
} from '../../../view/index.ts'
import type { ShownRequest } from '../asking/question-lines.ts'
import type { ChatService } from './chat-service.ts'

// The session that a person talks to, as every kind of chat shows it.
//
// 1. One session is followed at a time. Another one takes its place completely.
// 2. Every event is applied before a listener gets it.
// 3. A message while a turn runs steers it. Without a session, it starts one.

export interface ConversationListener {
  event(event: StreamEvent): void
  /** The earlier events of a session that was opened. */
  past(events: readonly InteractionEvent[]): void
  /** The session can no longer be followed. */
  failed(error: unknown): void
  /** The connection to the server was lost, or is back. */
  connection(): void
}

export class Conversation {
  readonly service: ChatService
  readonly #listener: ConversationListener
  agent: AgentDescription
  /** Chosen by the person, for the next turns. */
  model: string | undefined
  sessionId: SessionId | undefined
  tree: RunTree = emptyTree()
  /** The agent that talks to the person. */
  speaker = 'root'
  readonly #requests = new Map<ApprovalId, ShownRequest>()
  #open = new OpenRequests()
  #events: AsyncIterator<StreamEvent> | undefined
  /** Messages that no step has read. */
  readonly #unread = new Set<ClientId>()
  /** The server does not answer. What is shown may be outdated. */
  isCutOff = false
  /** A message was sent, and its turn has not begun. */
  #isSent = false
  #resting: PromiseWithResolvers<void> | undefined

  constructor(service: ChatService, agent: AgentDescription, listener: ConversationListener) {
    this.service = service
    this.agent = agent
    this.#listener = listener
    service.watchConnection?.((isLost) => {
      this.isCutOff = isLost
      listener.connection()
    })
  }

  get turn(): TurnNode | undefined {
    return this.tree.roots[0]?.turns.at(-1)
  }

  /** A turn runs or is suspended, or is about to begin. */
  get isBusy(): boolean {
    const status = this.turn?.status
    return this.#isSent || status === 'running' || status === 'suspended'
  }

  /** Open requests to the person, oldest first. */
  get requests(): readonly ShownRequest[] {
    return [...this.#requests.values()]
  }

  /** Messages that an interrupt held: they are sent with the next one. */
  get held(): number {
    return this.tree.roots[0]?.holdsMessages ? this.#unread.size : 0
  }

  async say(text: string): Promise<void> {
    const { sessions } = this.service
    const models = this.model === undefined ? {} : { models: [this.model] }
    const isBusy = this.isBusy
    this.#isSent = true
    try {
      if (this.sessionId === undefined) this.#follow(await sessions.start(text, { agent: this.agent.name, ...models }), 0)
      // Settings apply to further turns only.
      else await this.#send(this.sessionId, text, isBusy ? { mode: 'steer' } : { mode: 'queue', ...models })
    } catch (error) {
      this.#isSent = false
      throw error
    }
  }

  async #send(id: SessionId, text: string, options: Parameters<ChatService['sessions']['send']>[2]): Promise<void> {
    const receipt = await this.service.sessions.send(id, text, options)
    if (receipt.driven) return
    const { reason = 'No process runs the session.', command } = receipt.continue ?? {}
    throw new TroupeError('session_driven', `The message is stored, but nothing happens yet. ${reason}`, {
      ...(command !== undefined && { remedy: `Continue the session: ${command}` }),
    })
  }

  async answer(id: ApprovalId, decision: ApprovalDecision): Promise<void> {
    if (this.sessionId === undefined) return
    await this.service.sessions.approve(this.sessionId, { approvalId: id, decision, by: terminalApproverName })
  }

  async interrupt(): Promise<void> {
    if (this.sessionId === undefined) return
    showInterrupting(this.tree)
    await this.service.sessions.cancel(this.sessionId, 'interrupt', terminalApproverName)
  }

  /** Resolves when the turn has ended or is suspended. */
  untilRest(): Promise<void> {
    if (!this.isBusy) return Promise.resolve()
    this.#resting ??= Promise.withResolvers()
    return this.#resting.promise
  }

  /** Continues a stored session. */
  async open(id: string): Promise<void> {
    const { sessionId, agent, seq } = await this.service.open(id)
    const known = this.service.sessions.agents().find((each) => isOf({ agent }, each))
    this.fresh()
    if (known) this.agent = known
    this.#follow(sessionId, seq)
  }

  /** The next message starts a new session. */
  fresh(agent = this.agent): void {
    void this.#events?.return?.()
    this.#events = undefined
    this.agent = agent
    this.sessionId = undefined
    this.tree = emptyTree()
    this.speaker = 'root'
    this.#open = new OpenRequests()
    this.#requests.clear()
    this.#unread.clear()
    this.#isSent = false
  }

  close(): Promise<void> {
    void this.#events?.return?.()
    return this.service.close()
  }

  #follow(id: SessionId, past: number): void {
    this.sessionId = id
    const events = this.service.sessions.events(id, { until: 'closed' })[Symbol.asyncIterator]()
    this.#events = events
    void this.#read(events, past).catch((error: unknown) => {
      if (this.#events !== events) return
      this.#isSent = false
      this.#resting?.resolve()
      this.#listener.failed(error)
    })
  }

  async #read(events: AsyncIterator<StreamEvent>, past: number): Promise<void> {
    const earlier: InteractionEvent[] = []
    for (;;) {
      const { done, value } = await events.next()
      if (done || this.#events !== events) return
      this.#apply(value)
      if (!('seq' in value) || value.seq > past) this.#listener.event(value)
      else earlier.push(value)
      if ('seq' in value && value.seq === past) this.#listener.past(earlier)
    }
  }

  #apply(event: StreamEvent): void {
    const { session } = applyEvent(this.tree, event)
    this.speaker = speakerAfter(event, this.speaker)
    if (!('seq' in event)) return
    this.#open.note(event)
    if (event.type === 'interaction.approval.requested' && event.request.scope !== 'client')
      this.#requests.set(event.request.id, { request: event.request, label: session.agent.label.replace(/^child:/, '') })
    for (const id of this.#requests.keys()) if (!this.#open.has(id)) this.#requests.delete(id)
    if (event.agentPath !== 'root') return
    if (event.type === 'interaction.input.accepted') this.#unread.add(event.clientId)
    else if (event.type === 'interaction.turn.started') for (const id of event.inputs) this.#unread.delete(id)
    else if (event.type === 'interaction.step.started') for (const id of event.absorbs) this.#unread.delete(id)
    if (!event.type.startsWith('interaction.turn.')) return
    this.#isSent = false
    if (event.type === 'interaction.turn.started') return
    this.#resting?.resolve()
    this.#resting = undefined
  }
}

/** Whether a session has that agent. */
export const isOf = (
  session: Pick<SessionEntry, 'agent'>,
  { name, displayName }: Pick<AgentDescription, 'name' | 'displayName'>,
): boolean => session.agent === name || session.agent === displayName

/** The agent that was asked for. Without a name, the only one or the orchestrator. `undefined`: a person has to choose. */
export function agentNamed(name: string | undefined, agents: readonly AgentDescription[]): AgentDescription | undefined {
  if (name === undefined) return agents.length === 1 ? agents[0] : agents.find((agent) => agent.name === orchestratorName)
  const found = agents.find((agent) => agent.name === name || agent.displayName === name)
  if (found) return found
  throw new TroupeError('agent_unknown', `There is no agent ${name}.`, {
    remedy: knownNames(
      name,
      agents.map((agent) => agent.name),
      'agent',
    ),
  })
}

/** Agents have no dots or slashes in their names. */
export const namesFile = (given: string | undefined): given is string => given !== undefined && /[./]/.test(given)
