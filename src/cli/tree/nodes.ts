/*
 * What is known of a run: agent → turn → step → attempt or call → child. Nodes are changed in place, so that a token costs
 * next to nothing, however much came before it.
 */
import type {
  ApprovalRequest,
  Cost,
  Diagnostic,
  InteractionEvent,
  ItemStatus,
  Lane,
  ModelFailure,
  Plan,
  SessionId,
  ToolFailure,
  TurnReason,
  TurnTotals,
  Usage,
} from '../../contracts/index.ts'
import type { CallPermit, FileChange } from './call-view.ts'

/** A stretch of wall time. */
export interface Span {
  readonly from: number
  readonly to: number
}

/** Where somebody stands in line, and since when. */
export interface QueuePlace {
  readonly queue: string
  readonly since: number
}

export interface AttemptNode {
  readonly number: number
  readonly model: string
  span: Span
  /** Tokens that the request is thought to have. */
  readonly expected: number
  /** Characters that have come in. */
  characters: number
  latencyMs?: number
  usage?: Usage
  cost?: Cost
  failure?: ModelFailure
  /** When the next attempt may come, if there is to be one. */
  nextAt?: number
}

export interface CallNode {
  readonly tool: string
  /** What people know it by: an agent by its tool name, without the prefix that makes it a tool. */
  name: string
  /** What it is about: a command line, a path, an address, the task of an agent. Empty where it cannot be told. */
  readonly about: string
  /** Why it is made, in the words of the model; empty where it gave none. */
  readonly reason: string
  readonly lane: Lane
  /** Which call of its step it is. */
  readonly place: number
  /** It asks another agent. */
  readonly isAgent: boolean
  /** When it ran; of a call that asks an agent, when that agent did. */
  span: Span
  /** How long whoever made the call had to wait for it. */
  latencyMs?: number
  status: ItemStatus | 'running' | 'waiting'
  error?: ToolFailure
  /** It waits for a named queue. */
  inLine?: QueuePlace
  /** What it last said of how far it is. */
  progress?: string
  /** The end of what it has printed so far. */
  output?: string
  /** Who let it run, where that had to be asked; or what somebody answered to its question. */
  readonly permit?: CallPermit
  walls: CallWalls
  /** What it has done to files. */
  changes?: readonly FileChange[]
  exitCode?: number
  /** What hooks did to it. */
  readonly hooks: readonly HookNode[]
  /** The agent that it started; while there is none, a call that asks an agent stands in line. */
  child?: AgentNode
}

/** `asking` waits to be let out of the sandbox, `allowed` may leave it, `outside` has left it; by whose word. */
export type CallWalls = { readonly kind: 'usual' | 'asking' } | { readonly kind: 'allowed' | 'outside'; readonly by: string }

/** What the model is saying. */
export interface Said {
  readonly kind: 'text' | 'reasoning'
  text: string
}

/** The history became shorter: so many tokens before, so many after. */
export interface Compaction {
  readonly tokensBefore: number
  readonly tokensAfter: number
}

/** What a hook did. */
export interface HookNode {
  readonly hook: string
  readonly verdict: InteractionEvent<'interaction.hook.completed'>['verdict']
  readonly message: string
}

/** An answer that is not what was asked for: what is wrong with it, and its beginning. */
export interface Refused {
  readonly problems: readonly string[]
  readonly text: string
}

export type NoteNode = Diagnostic | Compaction | HookNode

/** What somebody is asked for, or was. */
export type RequestNode = Pick<ApprovalRequest, 'itemId' | 'summary' | 'reason' | 'scope' | 'lane'>

export interface StepNode {
  readonly number: number
  readonly attempts: AttemptNode[]
  readonly calls: CallNode[]
  /** Those of them that are not over. */
  readonly open: Set<CallNode>
  /** What needs an approval or an answer, by approval. */
  readonly requests: Map<string, RequestNode>
  readonly notes: NoteNode[]
  /** What is being said. */
  said?: Said
  /** What was said beside the calls. */
  words?: string
  refused?: Refused
  /** Why it was forced to be the last one. */
  last?: TurnReason
}

export interface TurnNode {
  status: 'running' | 'completed' | 'partial' | 'failed' | 'interrupted' | 'suspended'
  reason?: TurnReason
  /** Of one that is suspended: what for, and whether somebody below goes on meanwhile. */
  waits?: { readonly needs: 'approval' | 'answer'; readonly isAwake: boolean }
  /** It waits for a named queue, to ask its model. */
  inLine?: QueuePlace
  span: Span
  readonly steps: StepNode[]
  /** Columns of the longest name of a tool that was called. */
  widestTool: number
  totals?: TurnTotals
  /** What the agent means to do. */
  plan?: Plan
  /** Somebody has asked for an early end. */
  cancelling?: 'stop' | 'interrupt'
}

export interface AgentNode {
  readonly path: string
  /** Its tool name: the one that people see everywhere. */
  name: string
  /** What its lines begin with: `child:scout`, `child:lead/scout#2`. A root needs none. */
  readonly label: string
  maxSteps: number
  maxRetries: number
  parallelCalls: number
  /** What was told before the first step. */
  readonly notes: NoteNode[]
  readonly turns: TurnNode[]
}

export interface RunTree {
  /** Agents that no other has started. */
  readonly roots: AgentNode[]
  /** So that no event has to search. */
  readonly sessions: Map<SessionId, SessionNodes>
}

/** What a session has brought into the tree; steps, calls and requests are those of its last turn, by id. */
export interface SessionNodes {
  readonly agent: AgentNode
  /** Whoever has started it. */
  readonly above: SessionNodes | undefined
  readonly steps: Map<string, StepNode>
  readonly calls: Map<string, CallNode>
  /** Those that were answered, too. */
  readonly requests: Map<string, RequestNode>
  /** By call. */
  readonly hooks: Map<string, HookNode[]>
}

export const lastTurn = ({ agent }: SessionNodes): TurnNode | undefined => agent.turns.at(-1)
export const lastStep = (session: SessionNodes): StepNode | undefined => lastTurn(session)?.steps.at(-1)

/** Whether a turn goes on: by itself, or by somebody below it who does. */
export const isGoingOn = ({ status, waits }: TurnNode): boolean =>
  status === 'running' || (status === 'suspended' && waits?.isAwake === true)
