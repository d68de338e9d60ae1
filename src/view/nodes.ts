// A run as people see it: agent → turn → step → attempt or call → child. Nodes are changed in place, so that a delta costs
// the same however long the run is. Texts are raw: a renderer makes them safe for its medium.
import type {
  AgentSpec,
  ApprovalDecision,
  ApprovalRequest,
  BlobId,
  CallItemType,
  Cost,
  Diagnostic,
  HandoffReason,
  InputMode,
  InputPart,
  InteractionEvent,
  ItemStatus,
  JsonObject,
  Lane,
  Message,
  ModelFailure,
  OutputPart,
  Plan,
  Report,
  SessionId,
  TextItemType,
  ToolFailure,
  TurnEnding,
  TurnReason,
  TurnTotals,
  Usage,
} from '../contracts/index.ts'
import type { CallPermit, FileChange } from './call-result.ts'

/**
 * `SESSION` for an agent, `SESSION/TURN`, `SESSION/STEP` and `SESSION/ITEM` for what it did. Unique in a tree, the same on
 * every replay.
 */
export type NodeId = string

/** A period of wall time. */
export interface Span {
  readonly from: number
  readonly to: number
}

export interface QueuePlace {
  readonly queue: string
  readonly since: number
}

export interface AttemptNode {
  readonly number: number
  readonly model: string
  /** `provider/name`, as the model calls itself. */
  readonly modelId: string
  span: Span
  /** Estimated input tokens of the request. */
  readonly expected: number
  /** Characters received so far. */
  characters: number
  latencyMs?: number
  /** Of a reply that was streamed. */
  firstTokenMs?: number
  usage?: Usage
  cost?: Cost
  failure?: ModelFailure
  /** Earliest time of the next attempt. */
  nextAt?: number
}

export interface CallNode {
  readonly id: NodeId
  readonly type: CallItemType
  readonly tool: string
  /** Name for people: the tool name of an agent, without the prefix that makes it a tool. */
  name: string
  /** Subject of the call in one line: a command, a path, an address, the task of an agent. May be empty. */
  readonly about: string
  /** Reason that the model gave. May be empty. */
  readonly reason: string
  readonly lane: Lane
  /** Position within its step. */
  readonly place: number
  readonly isAgent: boolean
  /** When it was ready to run. */
  readonly readyAt: number
  /** Requests for approval and questions about it, open and answered. */
  readonly asked: RequestNode[]
  /** When the call ran; for an agent, when that agent ran. */
  span: Span
  latencyMs?: number
  bytesIn?: number
  bytesOut?: number
  status: ItemStatus | 'running' | 'waiting'
  error?: ToolFailure
  /** The queue that the call waits in. */
  inQueue?: QueuePlace
  /** The latest progress message. */
  progress?: string
  /** The end of the output so far. */
  output?: string
  readonly permit?: CallPermit
  sandbox: CallSandbox
  /** It has started, and waits for the answer of a person. */
  isAsking?: boolean
  /** It runs in the client, which has not returned a result. */
  isInClient?: boolean
  changes?: readonly FileChange[]
  exitCode?: number
  /** Parts of its output, if some are not text. */
  parts?: readonly OutputPart[]
  readonly hooks: readonly HookNode[]
  /** The agent that this call started last, and those before it. */
  child?: AgentNode
  earlier?: readonly AgentNode[]
  /** The child outlives the call, and may have several turns. */
  isSpawned?: boolean
  /** The child talks to the person. */
  speaks?: boolean
  /** Why it no longer does. */
  handoffEnd?: HandoffReason
  /** Arguments and result, in a tree that keeps content. */
  readonly input?: JsonObject
  content?: string
  /** The stored full text of an oversized result. */
  stored?: { readonly handle: BlobId; readonly bytes: number }
}

/** `asking`: waits for approval to run outside the sandbox; `allowed`: approved; `outside`: runs or ran there. */
export type CallSandbox = { readonly kind: 'inside' | 'asking' } | { readonly kind: 'allowed' | 'outside'; readonly by: string }

/** Text that is being streamed. */
interface StreamedText {
  readonly kind: 'text' | 'reasoning'
  text: string
}

interface Compaction {
  readonly tokensBefore: number
  readonly tokensAfter: number
}

export interface HookNode {
  readonly hook: string
  readonly verdict: InteractionEvent<'interaction.hook.completed'>['verdict']
  readonly message: string
}

/** An answer that violates the output schema, with the beginning of its text. */
export interface RejectedAnswer {
  readonly problems: readonly string[]
  readonly text: string
}

export type NoteNode = Diagnostic | Compaction | HookNode

/** A request for approval, open or answered. */
export type RequestNode = Pick<ApprovalRequest, 'itemId' | 'summary' | 'reason' | 'scope' | 'lane'> & {
  readonly at: number
  answer?: { readonly at: number; readonly by: string; readonly decision: ApprovalDecision }
  /** In a tree that keeps content. */
  readonly request?: ApprovalRequest
}

export interface TextNode {
  readonly id: NodeId
  readonly type: TextItemType
  text: string
  /** It is being streamed. */
  isOpen: boolean
}

export interface StepNode {
  readonly id: NodeId
  readonly number: number
  readonly attempts: AttemptNode[]
  readonly calls: CallNode[]
  /** Calls that have not ended. */
  readonly open: Set<CallNode>
  /** Open requests for approval, by id. */
  readonly requests: Map<string, RequestNode>
  readonly notes: NoteNode[]
  streamed?: StreamedText
  /** Text beside the calls. */
  words?: string
  rejected?: RejectedAnswer
  /** Why it was forced to be the last step. */
  last?: TurnReason
  /** Texts in full, in a tree that keeps content. */
  readonly texts: TextNode[]
  /** Ids of the steering messages that entered its request. */
  absorbed: readonly string[]
}

/** How long a turn has waited, from its own events. See `waiting.ts`. */
interface Waiting {
  /** Waits that are over. */
  ms: number
  /** Since when it waits. */
  since?: number
  /** Time of its last event. */
  at: number
  /** The children that work for it, with the time that it had waited when they began. */
  readonly children: Map<AgentNode, { readonly waited: number; readonly isSpawned: boolean }>
}

export interface TurnNode {
  readonly id: NodeId
  /** Counts the turns of its agent, from 1. */
  readonly number: number
  status: 'running' | 'completed' | 'partial' | 'failed' | 'interrupted' | 'suspended'
  reason?: TurnReason
  /** Present in a suspended turn: what it waits for, and whether a child runs meanwhile. */
  waits?: { readonly needs: 'approval' | 'answer'; readonly isChildRunning: boolean }
  /** The queue that its next model request waits in. */
  inQueue?: QueuePlace
  span: Span
  readonly waiting: Waiting
  readonly steps: StepNode[]
  /** Names of the tools called so far. */
  readonly toolNames: Set<string>
  totals?: TurnTotals
  plan?: Plan
  cancelling?: 'stop' | 'interrupt'
  /** Ids of the messages that began it. */
  readonly inputs: readonly string[]
  ending?: TurnEnding
  /** The answer of a child; of a root in a tree that keeps content. */
  report?: Report
}

/** A message that was accepted. */
export interface MessageNode {
  readonly id: string
  readonly seq: number
  readonly at: number
  readonly mode: InputMode
  readonly parts: readonly InputPart[]
}

export interface AgentNode {
  readonly id: NodeId
  readonly path: string
  /** Its tool name, the one that people see everywhere. */
  name: string
  /** Prefix of its lines: `child:scout`, `child:lead/scout#2`. Empty for a root. */
  readonly label: string
  maxSteps: number
  maxRetries: number
  parallelCalls: number
  /** Notes from before the first step. */
  readonly notes: NoteNode[]
  readonly turns: TurnNode[]
  /** What its parent asked a child for, in full. */
  task?: string
  /** How many calls failed, its own and those of the agents below it. A child that failed is one of them, in its parent. */
  failed: number
  /** Its configuration, messages to it, and earlier messages that a client brought along, in a tree that keeps content. */
  spec?: AgentSpec
  readonly messages: MessageNode[]
  readonly history: Message[]
  /** An interrupt holds the messages that no step has read. */
  holdsMessages?: true
  /** The session that it is a copy of. */
  forkedFrom?: SessionId
}

export interface RunTree {
  /** Whether arguments, results, texts and messages are kept in full. */
  readonly keepsContent: boolean
  /** Agents without a parent. */
  readonly roots: AgentNode[]
  readonly sessions: Map<SessionId, SessionNodes>
  /** Nodes that the latest event changed. */
  readonly changed: Set<NodeId>
}

/** The nodes of a session; steps, calls and requests are those of its latest turn, by id. */
export interface SessionNodes {
  readonly tree: RunTree
  readonly agent: AgentNode
  readonly parent: SessionNodes | undefined
  readonly steps: Map<string, StepNode>
  readonly calls: Map<string, CallNode>
  /** Open and answered. */
  readonly requests: Map<string, RequestNode>
  /** By call. */
  readonly hooks: Map<string, HookNode[]>
}

/** Counts a failed call in its agent, and in those above it. */
export function countFailure(session: SessionNodes): void {
  for (let at: SessionNodes | undefined = session; at; at = at.parent) {
    at.agent.failed++
    markChanged(at, at.agent)
  }
}

/** `step 2`; in a further turn of a child `turn 2 · step 1`, because all turns of a child are shown below one call. */
export const stepName = ({ label }: AgentNode, turn: TurnNode | undefined, step: number | string): string =>
  label === '' || !turn || turn.number === 1 ? `step ${step}` : `turn ${turn.number} · step ${step}`

export const lastTurn = ({ agent }: SessionNodes): TurnNode | undefined => agent.turns.at(-1)
export const lastStep = (session: SessionNodes): StepNode | undefined => lastTurn(session)?.steps.at(-1)

export const markChanged = ({ tree }: SessionNodes, node: { readonly id: NodeId } | undefined): void => {
  if (node) tree.changed.add(node.id)
}

/** Whether a turn or one of its children makes progress. */
export const isRunning = ({ status, waits }: TurnNode): boolean =>
  status === 'running' || (status === 'suspended' && waits?.isChildRunning === true)

/** `waiting`: in a queue, for its child to start, for an answer, for the client, or for approval to leave the sandbox. */
export const shownStatus = ({ status, isAgent, child, sandbox, inQueue, isAsking, isInClient }: CallNode): CallNode['status'] =>
  status === 'running' && (sandbox.kind === 'asking' || isAsking || isInClient || inQueue || (isAgent && !child)) ? 'waiting' : status

/** A turn that waits for its client waits for no person. */
export const shownTurnStatus = ({ status, reason }: TurnNode): TurnNode['status'] | 'waiting' =>
  status === 'suspended' && reason === 'client' ? 'waiting' : status

/** The agents that a call has started, in their order. */
export const childrenOf = ({ child, earlier = [] }: CallNode): readonly AgentNode[] => (child ? [...earlier, child] : [])

/** How many operations failed below a call of an agent. */
export const failedInside = (call: CallNode): number => childrenOf(call).reduce((sum, { failed }) => sum + failed, 0)
